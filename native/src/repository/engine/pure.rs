//! The compressors where no C is compiled.

pub use portaborg_core::codec::PureRust as Native;
