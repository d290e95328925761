//! Which archives of a repository are meant (data layer, section 15).

mod archive_pattern;
mod candidate;
mod date;
mod error;
mod selection;
mod sort;
mod timespan;

pub use archive_pattern::ArchivePattern;
pub use candidate::Candidate;
pub use date::{DateError, DateRange, Zones};
pub use error::SelectError;
pub use selection::{Selection, select_one};
pub use sort::{InvalidSortKey, SortKey};
pub use timespan::{InvalidTimeSpan, TimeSpan};
