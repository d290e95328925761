//! What would be archived, without reading any of it.

use super::collect::is_special;
use super::object::Object;
use super::problem::Fault;
use super::status::Status;
use super::walk::Visitor;
use portaborg_core::item::FileType;
use std::os::fd::BorrowedFd;

/// Counts files and their sizes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DryRun {
    /// Whether named pipes and devices would be read as files.
    pub read_special: bool,
    /// Files whose content would be archived.
    pub files: u64,
    /// Their sizes together, in bytes. That of a special file is not known.
    pub size: u64,
}

impl Visitor for DryRun {
    fn directory(&mut self, _object: &Object<'_>, _directory: BorrowedFd<'_>) -> Result<Option<Status>, Fault> {
        Ok(Some(Status::Included))
    }

    fn object(&mut self, object: &Object<'_>) -> Result<Option<Status>, Fault> {
        match object.file_type() {
            FileType::Regular => {
                self.files += 1;
                self.size = self.size.saturating_add(u64::try_from(object.stat.st_size).unwrap_or(0));
            }
            FileType::Symlink if self.read_special => {
                self.files += u64::from(object.look(true).is_ok_and(|stat| is_special(&stat)));
            }
            _ => self.files += u64::from(self.read_special && is_special(&object.stat)),
        }
        Ok(Some(Status::Included))
    }
}
