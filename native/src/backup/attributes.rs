//! Attributes of objects, as items store them (data layer, sections 8 and 8.2).

use super::problem::Cause;
use super::sink::Observer;
use crate::filesystem::names::Names;
use crate::filesystem::os_error::PythonError;
use crate::filesystem::stat::{Inode, atime, birthtime, ctime, file_type, mode, mtime};
use crate::filesystem::{acl, flags};
use crate::system::stat::owner;
use crate::system::xattr::Node;
use portaborg_core::bytes::lossy;
use portaborg_core::item::{FileType, Item, Pairs};
use rustix::fs::Stat;
use rustix::io::Errno;

/// Which attributes are stored (command line, section 1.2, `create`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Owners and access control lists by number only.
    pub numeric_ids: bool,
    /// The time of the last access.
    pub atime: bool,
    /// The time of the last change of the inode.
    pub ctime: bool,
    /// The time of creation, where the system tells it.
    pub birthtime: bool,
    /// File flags.
    pub flags: bool,
    /// Access control lists.
    pub acls: bool,
    /// Extended attributes.
    pub xattrs: bool,
}

/// Reads attributes.
pub struct Attributes<'a> {
    selection: &'a Selection,
    observer: &'a dyn Observer,
    names: Names,
}

impl Default for Selection {
    /// Everything but the time of access.
    fn default() -> Self {
        Selection {
            numeric_ids: false,
            atime: false,
            ctime: true,
            birthtime: true,
            flags: true,
            acls: true,
            xattrs: true,
        }
    }
}

impl<'a> Attributes<'a> {
    /// Reads what is selected; `observer` is told of extended attributes that can't be read.
    pub fn new(selection: &'a Selection, observer: &'a dyn Observer) -> Self {
        Attributes { selection, observer, names: Names::default() }
    }

    /// The local users and groups.
    pub fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Sets all attributes of the object that `stat` is of and that `node` leads to.
    pub fn set(&mut self, item: &mut Item, stat: &Stat, node: &Node<'_>) -> Result<(), Cause> {
        self.set_simple(item, stat);
        if self.selection.flags {
            item.bsdflags = Some(node.open().map_or(0, |file| flags::get(file, stat)));
        }
        let mut may_have_acls = true;
        if self.selection.xattrs {
            let list = self.list(node).map_err(Cause::os("extended stat (xattrs)"))?;
            // Most objects have no lists, and those that have name them: it need not be asked for each.
            may_have_acls = list.as_ref().is_none_or(|list| names_of(list).any(is_acl));
            item.xattrs = Some(list.map_or_else(Pairs::new, |list| self.xattrs(node, &list)));
        }
        let takes_acls = cfg!(target_os = "linux") && file_type(stat) != FileType::Symlink;
        if self.selection.acls && takes_acls && may_have_acls {
            match self.set_acls(item, stat, node) {
                Ok(()) | Err(Errno::OPNOTSUPP) => {}
                Err(errno) => return Err(Cause::os("extended stat (ACLs)")(errno)),
            }
        }
        Ok(())
    }

    fn set_simple(&mut self, item: &mut Item, stat: &Stat) {
        let selection = self.selection;
        item.mode = Some(mode(stat));
        item.mtime = mtime(stat).storable();
        item.atime = selection.atime.then(|| atime(stat).storable());
        item.ctime = selection.ctime.then(|| ctime(stat).storable());
        item.birthtime = birthtime(stat).filter(|_| selection.birthtime).map(|time| time.storable());
        if let Some((uid, gid)) = owner(stat) {
            item.uid = Some(uid.into());
            item.gid = Some(gid.into());
            if !selection.numeric_ids {
                item.user = self.names.user_name(uid).map(Into::into);
                item.group = self.names.group_name(gid).map(Into::into);
            }
        }
        item.inode = Some(Inode::of(stat).number).filter(|&number| number > 0);
    }

    /// The names of extended attributes; `None` where they can't be listed.
    fn list(&self, node: &Node<'_>) -> Result<Option<Vec<u8>>, Errno> {
        match node.list_xattrs() {
            Err(Errno::OPNOTSUPP | Errno::PERM) => Ok(None),
            list => list.map(Some),
        }
    }

    /// Sorted by name; without what is stored as an access control list.
    fn xattrs(&self, node: &Node<'_>, list: &[u8]) -> Pairs {
        let mut pairs = Pairs::new();
        for name in names_of(list).filter(|name| !is_acl(name)) {
            match node.xattr(name) {
                Ok(Some(value)) => pairs.push((name.into(), value)),
                Ok(None) => {} // it was removed meanwhile
                Err(errno) => {
                    let text = format!("When getting extended attribute {}: {}", lossy(name).0, PythonError(errno));
                    self.observer.note(&text);
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    fn set_acls(&mut self, item: &mut Item, stat: &Stat, node: &Node<'_>) -> Result<(), Errno> {
        let is_directory = file_type(stat) == FileType::Directory;
        let access = node.xattr(acl::ACCESS.as_bytes())?;
        let default = if is_directory { node.xattr(acl::DEFAULT.as_bytes())? } else { None };
        if !acl::is_extended(access.as_deref(), default.as_deref()) {
            return Ok(());
        }
        let mut text = |value: &[u8]| {
            acl::from_xattr(value, self.selection.numeric_ids, &mut self.names).map_err(|acl::InvalidAcl| Errno::INVAL)
        };
        // As in Borg, one list brings the other with it: an access list that is but the mode, an empty default list.
        item.acl.access = Some(access.map_or_else(|| Ok(acl::from_mode(mode(stat))), |value| text(&value))?);
        if is_directory {
            item.acl.default = Some(text(default.as_deref().unwrap_or(acl::EMPTY))?);
        }
        Ok(())
    }
}

fn names_of(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == 0).filter(|name| !name.is_empty())
}

fn is_acl(name: &[u8]) -> bool {
    cfg!(target_os = "linux") && name.starts_with(b"system.posix_acl_")
}

/// Whether the object's own attributes say that it does not belong into archives (data layer, section 10.1).
pub fn is_excluded(item: &Item) -> bool {
    let says = |(name, value): &(Vec<u8>, Vec<u8>)| match &**name {
        b"com.apple.metadata:com_apple_backup_excludeItem" => true,
        b"user.xdg.robots.backup" => value == b"false",
        _ => false,
    };
    item.xattrs.iter().flatten().any(says) || item.bsdflags.is_some_and(|bits| bits & flags::UF_NODUMP != 0)
}
