//! Formats over items: `list`, `find` (command line, sections 3.6 and 4.1).

use super::digest::Digest;
use super::fingerprint::Conditions;
use super::fixed_key;
use crate::output::display::terminal::Target;
use crate::output::display::{mode, time};
use crate::output::json::write_text;
use base64::Engine as _;
use jiff::tz::TimeZone;
use portaborg_core::bytes::{Hex, lossy};
use portaborg_core::id::ArchiveId;
use portaborg_core::item::{FileType, Item};
use portaborg_core::text::{RenderError, Template, TemplateError, Value, isoformat};
use portaborg_core::time::Timestamp;
use std::borrow::Cow;

/// A compiled format over items. A key costs nothing unless the format uses it.
pub struct ItemFormat {
    template: Template<Key>,
    digests: Vec<Digest>,
    /// The members of a JSON line, sorted by name.
    members: Vec<(&'static str, Key)>,
}

/// What is the same for all items of an archive.
pub struct ItemContext<'a> {
    /// The archive's name.
    pub archive_name: &'a [u8],
    /// The archive's id.
    pub archive_id: ArchiveId,
    /// For `{fingerprint}`.
    pub conditions: Conditions,
    /// The zone in which times are shown.
    pub zone: &'a TimeZone,
    /// Where the text goes; names are escaped for a terminal. JSON is the same everywhere.
    pub target: Target,
}

/// Digests that were computed over an item's content; see [`ItemFormat::missing_digests`].
pub type Contents<'a> = &'a [(Digest, Vec<u8>)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Fixed(&'static str),
    Type,
    Mode,
    Uid,
    Gid,
    User,
    Group,
    Path,
    Target,
    Extra,
    Hlid,
    Inode,
    Flags,
    Size,
    NumChunks,
    Mtime,
    Ctime,
    Atime,
    IsoMtime,
    IsoCtime,
    IsoAtime,
    Fingerprint,
    ArchiveId,
    ArchiveName,
    Digest(Digest),
}

/// The keys by name, except for digests; the first eleven are in every JSON line.
const KEYS: [(&str, Key); 23] = [
    ("path", Key::Path),
    ("target", Key::Target),
    ("hlid", Key::Hlid),
    ("type", Key::Type),
    ("mode", Key::Mode),
    ("uid", Key::Uid),
    ("gid", Key::Gid),
    ("user", Key::User),
    ("group", Key::Group),
    ("flags", Key::Flags),
    ("inode", Key::Inode),
    ("size", Key::Size),
    ("num_chunks", Key::NumChunks),
    ("mtime", Key::Mtime),
    ("ctime", Key::Ctime),
    ("atime", Key::Atime),
    ("isomtime", Key::IsoMtime),
    ("isoctime", Key::IsoCtime),
    ("isoatime", Key::IsoAtime),
    ("fingerprint", Key::Fingerprint),
    ("archiveid", Key::ArchiveId),
    ("archivename", Key::ArchiveName),
    ("extra", Key::Extra),
];
const ALWAYS: usize = 11;

impl ItemFormat {
    /// Compiles a format.
    pub fn compile(text: &str) -> Result<ItemFormat, TemplateError> {
        let template = Template::compile(text, |name| {
            let key = KEYS.iter().find(|(key, _)| *key == name).map(|(_, key)| *key);
            key.or_else(|| Digest::from_name(name).map(Key::Digest)).or_else(|| fixed_key(name).map(Key::Fixed))
        })?;
        let used = template.keys();
        let mut digests = Vec::new();
        let mut members = KEYS[..ALWAYS].to_vec();
        members.extend(KEYS[ALWAYS..].iter().filter(|(_, key)| *key != Key::Extra && used.contains(key)));
        for digest in Digest::ALL.iter().copied().filter(|digest| used.contains(&Key::Digest(*digest))) {
            digests.push(digest);
            members.push((digest.name(), Key::Digest(digest)));
        }
        members.sort_unstable_by_key(|(name, _)| *name);
        Ok(ItemFormat { template, digests, members })
    }

    /// The digests for which the item's content has to be read, because they were not stored with it. Whoever has them
    /// passes them to [`Self::render`]; without them they are shown as an empty text.
    pub fn missing_digests(&self, item: &Item) -> Vec<Digest> {
        if item.chunks.is_none() {
            return Vec::new();
        }
        self.digests.iter().copied().filter(|digest| stored_digest(item, *digest).is_none()).collect()
    }

    /// Appends the text for an item.
    pub fn render(
        &self,
        item: &Item,
        context: &ItemContext<'_>,
        contents: Contents<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        self.template.render(&mut |key| context.value(key, item, contents), out)
    }

    /// Appends the JSON line for an item, with its newline: the members that are always there, and those of the format.
    pub fn render_json(&self, item: &Item, context: &ItemContext<'_>, contents: Contents<'_>, out: &mut Vec<u8>) {
        let piped = ItemContext { target: Target::Pipe, ..*context };
        for (place, (name, key)) in self.members.iter().enumerate() {
            out.extend_from_slice(if place == 0 { b"{\"" } else { b", \"" });
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\": ");
            match piped.value(*key, item, contents) {
                Value::None => out.extend_from_slice(b"null"),
                Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
                Value::Text(text) => write_text(&text, out),
                Value::Time { time, .. } => write_text(&isoformat(&time), out),
            }
            if let Some(raw) = raw(*key, item).filter(|raw| std::str::from_utf8(raw).is_err()) {
                out.extend_from_slice(b", \"");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"_b64\": ");
                write_text(&base64::engine::general_purpose::STANDARD.encode(raw), out);
            }
        }
        out.extend_from_slice(b"}\n");
    }
}

impl ItemContext<'_> {
    fn value<'v>(&'v self, key: Key, item: &'v Item, contents: Contents<'_>) -> Value<'v> {
        let name = |raw: &'v [u8]| Value::Text(self.target.cow(lossy(raw).0));
        let time = |time: Option<Timestamp>| {
            // The epoch counts as absent.
            let time = time.filter(|time| *time != Timestamp::default()).unwrap_or(item.mtime);
            time::bounded(time)
        };
        match key {
            Key::Fixed(text) => text.into(),
            Key::Type => mode_text(item)[..1].to_owned().into(),
            Key::Mode => mode_text(item).into(),
            Key::Uid => item.uid.into(),
            Key::Gid => item.gid.into(),
            Key::User => item.user.as_deref().map_or_else(|| number_text(item.uid), name),
            Key::Group => item.group.as_deref().map_or_else(|| number_text(item.gid), name),
            Key::Path => name(&item.path),
            Key::Target => name(item.target.as_deref().unwrap_or_default()),
            Key::Extra => match item.target.as_deref() {
                None | Some([]) => "".into(),
                Some(target) => format!(" -> {}", self.target.cow(lossy(target).0)).into(),
            },
            Key::Hlid => Hex(item.hlid.as_deref().unwrap_or_default()).to_string().into(),
            Key::Inode => item.inode.into(),
            Key::Flags => item.bsdflags.into(),
            Key::Size => Value::Int(size(item).into()),
            Key::NumChunks => Value::Int(item.chunks.as_ref().map_or(0, Vec::len) as i128),
            Key::Mtime => time::value(time(None), self.zone),
            Key::Ctime => time::value(time(item.ctime), self.zone),
            Key::Atime => time::value(time(item.atime), self.zone),
            Key::IsoMtime => time::iso(time(None), self.zone).into(),
            Key::IsoCtime => time::iso(time(item.ctime), self.zone).into(),
            Key::IsoAtime => time::iso(time(item.atime), self.zone).into(),
            Key::Fingerprint => match &item.chunks {
                None => "".into(),
                Some(chunks) => self.conditions.fingerprint(chunks).into(),
            },
            Key::ArchiveId => self.archive_id.to_string().into(),
            Key::ArchiveName => name(self.archive_name),
            Key::Digest(digest) => match digest_of(item, digest, contents) {
                None => "".into(),
                Some(digest) => Hex(digest).to_string().into(),
            },
        }
    }
}

/// The size that Borg shows: as stored, else the length of a link's text in characters, else the sum of the chunks.
pub fn size(item: &Item) -> u64 {
    match (item.size, item.file_type(), &item.target) {
        (Some(size), _, _) => size,
        (None, Some(FileType::Symlink), target) => {
            lossy(target.as_deref().unwrap_or_default()).0.chars().count() as u64
        }
        _ => item.content_size(),
    }
}

fn mode_text(item: &Item) -> String {
    mode::display(item.mode.unwrap_or(0)).into_iter().map(char::from).collect()
}

/// A missing name is shown as the number, and that as `None` if it is missing too.
fn number_text(number: Option<i64>) -> Value<'static> {
    Value::Text(number.map_or(Cow::Borrowed("None"), |number| number.to_string().into()))
}

fn raw(key: Key, item: &Item) -> Option<&[u8]> {
    match key {
        Key::Path => Some(&item.path),
        Key::Target => item.target.as_deref(),
        Key::User => item.user.as_deref(),
        Key::Group => item.group.as_deref(),
        _ => None,
    }
}

fn stored_digest(item: &Item, digest: Digest) -> Option<&[u8]> {
    let stored = item.digests.as_deref().unwrap_or_default();
    stored.iter().find(|(name, _)| name == digest.name().as_bytes()).map(|(_, value)| &value[..])
}

fn digest_of<'v>(item: &'v Item, digest: Digest, contents: Contents<'v>) -> Option<&'v [u8]> {
    item.chunks.as_ref()?;
    let computed = || contents.iter().find(|(name, _)| *name == digest).map(|(_, value)| &value[..]);
    stored_digest(item, digest).or_else(computed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portaborg_core::archive::ChunkerParam;
    use portaborg_core::item::ChunkEntry;
    use serde_json::Value as Json;

    fn unhex(text: &str) -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    }

    fn item(case: &Json) -> Item {
        let text = |key: &str| case[key].as_str();
        let time = |key| text(key).map(|nanos| Timestamp::from_nanos(nanos.parse().unwrap()));
        let chunk = |pair: &Json| ChunkEntry {
            id: pair[0].as_str().unwrap().parse().unwrap(),
            size: pair[1].as_u64().unwrap(),
        };
        let digest = |(name, hex): (&String, &Json)| (name.clone().into_bytes(), unhex(hex.as_str().unwrap()));
        Item {
            path: unhex(text("path").unwrap()),
            mode: case["mode"].as_u64().map(|mode| mode as u32),
            uid: case["uid"].as_i64(),
            gid: case["gid"].as_i64(),
            user: text("user").map(Into::into),
            group: text("group").map(Into::into),
            mtime: time("mtime_ns").unwrap(),
            atime: time("atime_ns"),
            ctime: time("ctime_ns"),
            inode: case["inode"].as_u64(),
            size: case["size"].as_u64(),
            bsdflags: case["bsdflags"].as_u64().map(|flags| flags as u32),
            hlid: text("hlid").map(unhex),
            target: text("target").map(unhex),
            chunks: case["chunks"].as_array().map(|chunks| chunks.iter().map(chunk).collect()),
            digests: case["digests"].as_object().map(|digests| digests.iter().map(digest).collect()),
            ..Item::default()
        }
    }

    /// Checks a case with the digests that the test can know: SHA-256 from the fixture, MD5 from the client's own line.
    fn check(case: &Json, format: &ItemFormat, json: &ItemFormat, flags: &ItemFormat) {
        let id_key = b"\xd4a!\x81\xd1a\xda\xa8\xa9\x85\xcf\x8dsw*UW\xe0\xedg\x1f\x81\x15\x8a<\xfd\xd6\xa9\x03\xebs\x86";
        let mut params = vec![ChunkerParam::Text("fastcdc".into())];
        params.extend([19, 23, 21, 2].map(ChunkerParam::Int));
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let context = ItemContext {
            archive_name: case["archive"].as_str().unwrap().as_bytes(),
            archive_id: case["archive_id"].as_str().unwrap().parse().unwrap(),
            conditions: Conditions::new(b'0', id_key, -1_156_938_098, Some(&params)),
            zone: &zone,
            target: Target::Pipe,
        };
        let item = item(case);
        let wanted = case["text"].as_str().unwrap();
        let mut contents = Vec::new();
        for digest in format.missing_digests(&item) {
            let hex = match digest {
                Digest::Sha256 => case["sha256"].as_str().unwrap(),
                _ => wanted.rsplit('|').next().unwrap(),
            };
            contents.push((digest, unhex(hex)));
        }
        let mut out = Vec::new();
        format.render(&item, &context, &contents, &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap().trim_end_matches('\0'), wanted);
        let mut out = Vec::new();
        json.render_json(&item, &context, &contents, &mut out);
        assert_eq!(String::from_utf8(out).unwrap().trim_end(), case["json"].as_str().unwrap());
        let mut out = Vec::new();
        flags.render(&item, &context, &[], &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), case["flags"].as_str().unwrap());
    }

    /// Items of the fixture `oddtree` and what borg 2.0.0b25 printed for them, in the zone Europe/Berlin.
    #[test]
    fn items_are_formatted_as_in_borg() {
        let data: Json = serde_json::from_str(include_str!("testdata/items.json")).unwrap();
        let compile = |key: &str| ItemFormat::compile(data[key].as_str().unwrap()).unwrap();
        let (format, json) = (compile("format"), compile("json_format"));
        let flags = ItemFormat::compile("{flags}").unwrap();
        let cases = data["items"].as_array().unwrap();
        assert!(cases.len() > 20);
        for case in cases {
            check(case, &format, &json, &flags);
        }
    }

    #[test]
    fn names_are_escaped_for_a_terminal_only() {
        let item = Item { path: b"a\x1b\xff".to_vec(), target: Some(b"b\n".to_vec()), ..Item::default() };
        let zone = TimeZone::UTC;
        let id = ArchiveId([0; 32]);
        let conditions = Conditions::new(b'0', b"", 0, None);
        let format = ItemFormat::compile("{path:<7}{extra}{NL}{user} {flags}").unwrap();
        for (target, wanted) in
            [(Target::Terminal, "a\\x1b?  -> b\\n\nNone None"), (Target::Pipe, "a\x1b?     -> b\n\nNone None")]
        {
            let context = ItemContext { archive_name: b"n", archive_id: id, conditions, zone: &zone, target };
            let mut out = Vec::new();
            format.render(&item, &context, &[], &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
    }

    #[test]
    fn digests_are_asked_for_only_where_they_are_missing() {
        let format = ItemFormat::compile("{md5}{path:{blake3}}").unwrap();
        let mut item = Item::default();
        assert_eq!(format.missing_digests(&item), []);
        item.chunks = Some(Vec::new());
        assert_eq!(format.missing_digests(&item), [Digest::Blake3, Digest::Md5]);
        item.digests = Some(vec![(b"md5".to_vec(), vec![1])]);
        assert_eq!(format.missing_digests(&item), [Digest::Blake3]);
        assert!(ItemFormat::compile("{path_b64}").is_err());
    }
}
