//! Creation: what is in flight between chunks and packs, and in which order it leaves.
//!
//! [`Packing`] is a machine without threads. Chunks are put into it in the order in which their objects shall lie in packs;
//! it gives out [`SealJob`]s, which whoever has the time does, in any order, and takes the results back; then [`PackJob`]s
//! likewise. What lies where depends on the order of putting alone, never on who did what when.

mod pack;
mod packing;
mod seal;

pub use pack::{DEFAULT_PACK_BYTES, PackJob, PackLimits, StoredPack};
pub use packing::Packing;
pub(crate) use seal::seal_one;
pub use seal::{Refused, SealJob, Sealed};
