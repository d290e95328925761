//! Facts of the format: sizes, magics and versions. Changing one breaks repositories.

/// The release whose format, options and outputs this crate follows; front ends choose their syntax by it.
pub const BORG_VERSION: &str = "2.0.0b25";

/// Major, minor and patch number of [`BORG_VERSION`].
pub const BORG_RELEASE: [u8; 3] = [2, 0, 0];

/// The repository version that this crate reads (repository layer, section 2.1).
pub const REPOSITORY_VERSION: u32 = 5;

/// Largest plaintext of one chunk, and largest stored object, in bytes.
pub const MAX_DATA_SIZE: usize = 20_971_479;

/// Chunk ids in one item-pointer object: `MAX_DATA_SIZE / 40`.
pub const IDS_PER_CHUNK: usize = 524_286;

/// Largest Argon2 memory cost that a key may ask for, in KiB: 1 GiB natively, 256 MiB in WebAssembly's small address space.
pub const ARGON2_MAX_MEMORY_KIB: u32 = if cfg!(target_family = "wasm") { 256 * 1024 } else { 1024 * 1024 };

/// Largest Argon2 time cost (passes over the memory) that a key may ask for.
pub const ARGON2_MAX_TIME: u32 = 16;

/// Largest Argon2 parallelism (lanes) that a key may ask for.
pub const ARGON2_MAX_LANES: u32 = 16;
