//! What became of an object, as a letter (command line, section 4.4).

/// What `--list` says of an object, and statistics count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// A regular file that the files cache does not know.
    Added,
    /// A regular file that is not as the files cache has it.
    Modified,
    /// A regular file that is as the files cache has it, and was not read.
    Unchanged,
    /// A regular file that changed each time it was read.
    Changed,
    /// An object that could not be archived, or not completely.
    Error,
    /// A directory.
    Directory,
    /// Another name of an object that is archived already, or an object with several names that is no regular file.
    HardLink,
    /// A symbolic link.
    Symlink,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// A named pipe.
    Fifo,
    /// What standard input or a command gave.
    Pipe,
    /// What would be archived, in a dry run.
    Included,
    /// What a pattern, a tag or an attribute excludes.
    Excluded,
    /// A level that is stripped from the paths, or a file whose content is elsewhere.
    Skipped,
}

impl Status {
    /// Borg's letter.
    pub fn letter(self) -> char {
        match self {
            Status::Added => 'A',
            Status::Modified => 'M',
            Status::Unchanged => 'U',
            Status::Changed => 'C',
            Status::Error => 'E',
            Status::Directory => 'd',
            Status::HardLink => 'h',
            Status::Symlink => 's',
            Status::CharDevice => 'c',
            Status::BlockDevice => 'b',
            Status::Fifo => 'f',
            Status::Pipe => 'i',
            Status::Included => '+',
            Status::Excluded => '-',
            Status::Skipped => 'x',
        }
    }
}
