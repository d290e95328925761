//! Facts of speed: changing one breaks nothing. Sizes are compared with these numbers here and nowhere else.

/// Numbers that decide how work is done, never what comes out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// How much of a pack is read at once, in bytes, where its objects are wanted one after another.
    ///
    /// Restoring 50,000 files of 1.5 KB takes 170 reads so, instead of one for each file.
    pub read_ahead_bytes: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning { read_ahead_bytes: 1 << 20 }
    }
}

impl Tuning {
    /// How many bytes to read for an object of `object_bytes`. `follows` tells whether the last one lay before it in the same
    /// pack: then what comes after it will be wanted next.
    pub fn read_bytes(&self, object_bytes: usize, follows: bool) -> usize {
        if follows { object_bytes.max(self.read_ahead_bytes) } else { object_bytes }
    }
}
