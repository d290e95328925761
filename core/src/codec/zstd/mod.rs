//! Zstandard: frames of RFC 8878 (data layer, sections 6.2 and 6.4).
//!
//! Borg writes one frame with a content size and without checksum or dictionary; several frames, skippable frames and
//! frames without a content size are read too.

mod frame;
pub(super) mod reference;
#[cfg(feature = "zrip")]
pub(super) mod zrip;
