//! How the files cache is used.

use super::entry::FileState;
use core::str::FromStr;

/// What of a file must be the same, and whether the cache is used at all (command line, section 1.2, `--files-cache`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(&'static str);

/// A text that is no mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ModeError {
    /// It has a word that means nothing.
    #[error("cache mode must be a comma-separated list of: ctime,disabled,inode,mtime,rechunk,size")]
    Word,
    /// The words make no sense together.
    #[error("cache mode short must be one of: cis,ims,cs,ms,cr,mr,d,s")]
    Combination,
}

impl Mode {
    /// Whether files that are the same are not read again.
    pub fn is_looked_up(self) -> bool {
        self.is_kept() && !self.has('r')
    }

    /// Whether what is archived is remembered.
    pub fn is_kept(self) -> bool {
        !self.has('d')
    }

    /// Whether a file that looked like `then` and looks like `now` is taken for unchanged.
    pub fn is_same(self, then: &FileState, now: &FileState) -> bool {
        (!self.has('s') || then.size == now.size)
            && (!self.has('i') || then.inode == now.inode)
            && (!self.has('c') || then.ctime == now.ctime)
            && (!self.has('m') || then.mtime == now.mtime)
    }

    fn has(self, letter: char) -> bool {
        self.0.contains(letter)
    }
}

impl Default for Mode {
    /// `ctime,size,inode`.
    fn default() -> Self {
        Mode(MODES[0])
    }
}

/// Words with commas between them in any order, or their letters as Borg sorts them.
impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        if let Some(mode) = MODES.into_iter().find(|mode| *mode == text) {
            return Ok(Mode(mode));
        }
        let mut used = [false; WORDS.len()];
        for word in text.trim().split(',') {
            let at = WORDS.iter().position(|(known, _)| *known == word).ok_or(ModeError::Word)?;
            used[at] = true;
        }
        let is_used = |letter| WORDS.iter().zip(used).any(|((_, own), used)| *own == letter && used);
        let count = used.into_iter().filter(|used| *used).count();
        let mode = MODES.into_iter().find(|mode| mode.len() == count && mode.chars().all(is_used));
        mode.map(Mode).ok_or(ModeError::Combination)
    }
}

const WORDS: [(&str, char); 6] =
    [("ctime", 'c'), ("mtime", 'm'), ("size", 's'), ("inode", 'i'), ("rechunk", 'r'), ("disabled", 'd')];
/// The combinations that there are.
const MODES: [&str; 8] = ["cis", "ims", "cs", "ms", "cr", "mr", "d", "s"];
