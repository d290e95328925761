//! Symbolic links, named pipes and devices: made and given their attributes at once.

use super::attributes::Object;
use super::hardlink::{Identity, Linked};
use super::problem::{Cause, Problem};
use super::target::Place;
use super::{Begun, Made, Restorer};
use portaborg_core::item::{FileType, Item};
use rustix::fs::symlinkat;
use rustix::io::Errno;

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
                self.make(item, &place, "mknod", || make_node(&place, file_type, device))?
            }
            _ => self.make(item, &place, "mkfifo", || make_node(&place, file_type, 0))?,
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

#[cfg(target_os = "linux")]
fn make_node(place: &Place<'_>, file_type: FileType, device: u64) -> Result<(), Errno> {
    use rustix::fs::{FileType as NodeType, Mode, mknodat};
    let node_type = match file_type {
        FileType::CharDevice => NodeType::CharacterDevice,
        FileType::BlockDevice => NodeType::BlockDevice,
        _ => NodeType::Fifo,
    };
    // The system would cut a longer number off and make another device.
    let device = u32::try_from(device).map_err(|_| Errno::INVAL)?;
    mknodat(&place.parent, place.name, node_type, Mode::RUSR | Mode::WUSR, device.into())
}

/// There is no call for it that is relative to a directory.
#[cfg(not(target_os = "linux"))]
fn make_node(_place: &Place<'_>, _file_type: FileType, _device: u64) -> Result<(), Errno> {
    Err(Errno::OPNOTSUPP)
}
