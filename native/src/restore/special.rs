//! Symbolic links, named pipes and devices: made and given their attributes at once.

use super::attributes::Object;
use super::hardlink::{Identity, Linked};
use super::problem::{Cause, Problem};
use super::{Begun, Made, Restorer};
use crate::system::attributes::make_node;
use portaborg_core::item::{FileType, Item};
use rustix::fs::symlinkat;
use std::os::fd::AsFd;

impl Restorer {
    pub fn make_special(&mut self, item: &Item, file_type: FileType, path: &[u8]) -> Result<Begun, Problem> {
        let missing = |what| Problem { path: item.path.clone(), cause: Cause::Missing(what) };
        let place = self.place(item, path)?;
        match self.link(item, &place)? {
            Linked::No => {}
            Linked::Yes => return Ok(Begun::Done),
            Linked::Unchanged => return Ok(Begun::Unchanged),
        }
        let made = match file_type {
            FileType::Symlink => {
                let text = item.target.as_deref().ok_or_else(|| missing("link target"))?;
                self.make(item, &place, "symlink", || symlinkat(text, &place.parent, place.name))?
            }
            FileType::CharDevice | FileType::BlockDevice => {
                let device = item.rdev.ok_or_else(|| missing("device number"))?;
                self.make(item, &place, "mknod", || make_node(place.parent.as_fd(), place.name, file_type, device))?
            }
            _ => self.make(item, &place, "mkfifo", || make_node(place.parent.as_fd(), place.name, file_type, 0))?,
        };
        if let Made::Unchanged = made {
            return Ok(Begun::Unchanged);
        }
        let attributes = self.attributes(item);
        let object = match file_type {
            FileType::Symlink => Object::Symlink(&place),
            _ => Object::Special(&place),
        };
        for cause in attributes.apply(&object) {
            self.report(&item.path, cause);
        }
        if item.hlid.is_some()
            && let Ok(identity) = Identity::at(&place)
        {
            self.links.remember(item, path, identity);
        }
        Ok(Begun::Done)
    }
}
