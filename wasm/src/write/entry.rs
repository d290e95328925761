//! Entries: what a caller says of a file, of which an item is made (data layer, section 8).

use crate::failure::{Failure, Fault};
use portaborg_core::bytes::lossy;
use portaborg_core::item::{Acl, Item, UnsafePath, make_path_safe};
use portaborg_core::time::Timestamp;
use serde::Deserialize;

/// An entry without its content, as the package sends it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    path: Text,
    #[serde(rename = "type")]
    kind: Option<String>,
    mode: Option<u32>,
    uid: Option<i64>,
    gid: Option<i64>,
    user: Option<Text>,
    group: Option<Text>,
    mtime_ns: Option<String>,
    atime_ns: Option<String>,
    ctime_ns: Option<String>,
    birthtime_ns: Option<String>,
    inode: Option<String>,
    rdev: Option<String>,
    target: Option<Text>,
    hlid: Option<Vec<u8>>,
    flags: Option<u32>,
    xattrs: Option<Vec<(Text, Text)>>,
    #[serde(default)]
    acl: Lists,
}

#[derive(Deserialize, Default)]
struct Lists {
    access: Option<Text>,
    default: Option<Text>,
    nfs4: Option<Text>,
    extended: Option<Text>,
}

/// A text, or the bytes of one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Text(String),
    Bytes(Vec<u8>),
}

impl Text {
    fn into_bytes(self) -> Vec<u8> {
        match self {
            Text::Text(text) => text.into_bytes(),
            Text::Bytes(bytes) => bytes,
        }
    }
}

impl Entry {
    /// Reads an entry.
    pub fn parse(text: &str) -> Result<Entry, Failure> {
        serde_json::from_str(text).map_err(|error| {
            Failure::new(Fault::Misuse, "CommandError", "entry", format_args!("This is no valid entry: {error}."))
        })
    }

    /// The item, without chunks, and whether it has content. What has no time has the time `now`.
    pub fn into_item(self, now: Timestamp) -> Result<(Item, bool), Failure> {
        let raw = self.path.into_bytes();
        let shown = lossy(&raw).0.into_owned();
        let invalid = |what: &str| {
            let text = format!("{shown}: this is no valid value for {what}.");
            Failure::new(Fault::Misuse, "CommandError", &shown, text)
        };
        let path = make_path_safe(&raw).map_err(|UnsafePath| {
            let text = format!("{shown}: a path must not contain \"..\".");
            Failure::new(Fault::Misuse, "BackupPathTraversalError", &shown, text)
        })?;
        let format = match (self.kind.as_deref(), self.mode.map(|mode| mode & S_IFMT)) {
            (Some(kind), _) => KINDS.iter().find(|(name, ..)| *name == kind).map(|(_, format, _)| *format),
            (None, Some(format)) if format != 0 => Some(format),
            (None, _) => Some(S_IFREG),
        };
        let usual = KINDS.iter().find(|(_, known, _)| Some(*known) == format);
        let (_, format, permissions) = usual.ok_or_else(|| invalid("type"))?;
        let time = |text: Option<String>, what| match text {
            None => Ok(None),
            Some(text) => {
                text.parse().map(|nanos| Some(Timestamp::from_nanos(nanos).storable())).map_err(|_| invalid(what))
            }
        };
        let number = |text: Option<String>, what| match text {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| invalid(what)),
        };
        if *format == S_IFLNK && self.target.is_none() {
            return Err(invalid("target"));
        }
        let bytes = |text: Option<Text>| text.map(Text::into_bytes);
        let xattrs = self.xattrs.map(|pairs| {
            let mut pairs: Vec<_> =
                pairs.into_iter().map(|(name, value)| (name.into_bytes(), value.into_bytes())).collect();
            pairs.sort_unstable();
            pairs
        });
        let item = Item {
            path,
            mode: Some(format | self.mode.map_or(*permissions, |mode| mode & !S_IFMT)),
            uid: self.uid,
            gid: self.gid,
            user: bytes(self.user),
            group: bytes(self.group),
            mtime: time(self.mtime_ns, "mtimeNs")?.unwrap_or(now),
            atime: time(self.atime_ns, "atimeNs")?,
            ctime: time(self.ctime_ns, "ctimeNs")?,
            birthtime: time(self.birthtime_ns, "birthtimeNs")?,
            inode: number(self.inode, "inode")?,
            rdev: number(self.rdev, "rdev")?,
            target: bytes(self.target),
            hlid: self.hlid,
            bsdflags: self.flags,
            xattrs,
            acl: Acl {
                access: bytes(self.acl.access),
                default: bytes(self.acl.default),
                nfs4: bytes(self.acl.nfs4),
                extended: bytes(self.acl.extended),
            },
            ..Item::default()
        };
        Ok((item, *format == S_IFREG))
    }
}

/// The bits of a mode that tell what an object is, and two of their values.
const S_IFMT: u32 = 0o170_000;
const S_IFREG: u32 = 0o100_000;
const S_IFLNK: u32 = 0o120_000;

/// Names of types, their bits, and the permissions where none are given.
const KINDS: [(&str, u32, u32); 6] = [
    ("file", S_IFREG, 0o644),
    ("directory", 0o040_000, 0o755),
    ("symlink", S_IFLNK, 0o777),
    ("fifo", 0o010_000, 0o600),
    ("character device", 0o020_000, 0o600),
    ("block device", 0o060_000, 0o600),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> Result<(Item, bool), &'static str> {
        let now = Timestamp { secs: 7, nanos: 0 };
        Entry::parse(text).and_then(|entry| entry.into_item(now)).map_err(|failure| failure.code)
    }

    #[test]
    fn what_is_not_said_has_a_usual_value() {
        let (file, has_content) = item(r#"{ "path": "/a//b" }"#).unwrap();
        assert_eq!((&file.path[..], file.mode, file.mtime.secs, has_content), (&b"a/b"[..], Some(0o100_644), 7, true));
        let (folder, has_content) = item(r#"{ "path": [195], "type": "directory", "mtimeNs": "-5" }"#).unwrap();
        assert_eq!((&folder.path[..], folder.mode, folder.mtime.secs), (&[195][..], Some(0o040_755), 0));
        assert!(!has_content);
        let (link, _) = item(r#"{ "path": "l", "mode": 41471, "target": "b" }"#).unwrap();
        assert_eq!((link.mode, link.target), (Some(0o120_777), Some(b"b".to_vec())));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(item(r#"{ "path": "a/../b" }"#).unwrap_err(), "BackupPathTraversalError");
        for text in [
            "{}",
            r#"{ "path": "a", "type": "socket" }"#,
            r#"{ "path": "a", "type": "symlink" }"#,
            r#"{ "path": "a", "mtimeNs": "soon" }"#,
            r#"{ "path": "a", "mode": 49152 }"#,
        ] {
            assert_eq!(item(text).unwrap_err(), "CommandError", "{text}");
        }
    }
}
