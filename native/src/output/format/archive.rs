//! Formats over archives: `repo-list`, `prune`, `check` (command line, sections 3.5 and 4.1).

use super::fixed_key;
use crate::output::display::terminal::Target;
use crate::output::display::time;
use crate::output::json::Object;
use jiff::tz::TimeZone;
use portaborg_core::archive::ArchiveMeta;
use portaborg_core::bytes::lossy;
use portaborg_core::id::ArchiveId;
use portaborg_core::text::{RenderError, Template, TemplateError, Value};
use portaborg_core::time::Timestamp;
use std::borrow::Cow;

/// A compiled format over archives.
pub struct ArchiveFormat {
    template: Template<Key>,
    used: Vec<Key>,
}

/// What a format can say of an archive.
#[derive(Debug, Clone, Copy)]
pub struct ArchiveRow<'a> {
    /// Its id.
    pub id: ArchiveId,
    /// Its name, or a placeholder if its metadata is missing.
    pub name: &'a [u8],
    /// The time that it stands for.
    pub time: Timestamp,
    /// Its metadata; without it the other attributes are empty.
    pub meta: Option<&'a ArchiveMeta>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Fixed(&'static str),
    Name,
    Archive,
    Id,
    Time,
    Comment,
    Tags,
    Start,
    End,
    CommandLine,
    Hostname,
    Username,
    Size,
    Nfiles,
}

/// The keys by name; the first four are in every JSON object.
const KEYS: [(&str, Key); 13] = [
    ("name", Key::Name),
    ("archive", Key::Archive),
    ("id", Key::Id),
    ("time", Key::Time),
    ("comment", Key::Comment),
    ("tags", Key::Tags),
    ("start", Key::Start),
    ("end", Key::End),
    ("command_line", Key::CommandLine),
    ("hostname", Key::Hostname),
    ("username", Key::Username),
    ("size", Key::Size),
    ("nfiles", Key::Nfiles),
];
const ALWAYS: usize = 4;

impl ArchiveFormat {
    /// Compiles a format.
    pub fn compile(text: &str) -> Result<ArchiveFormat, TemplateError> {
        let template = Template::compile(text, |name| {
            let key = KEYS.iter().find(|(key, _)| *key == name).map(|(_, key)| *key);
            key.or_else(|| fixed_key(name).map(Key::Fixed))
        })?;
        Ok(ArchiveFormat { used: template.keys(), template })
    }

    /// Whether it says more of an archive than its id, name and time.
    pub(crate) fn needs_meta(&self) -> bool {
        let is_known = |key: &Key| matches!(key, Key::Fixed(_) | Key::Name | Key::Archive | Key::Id | Key::Time);
        !self.used.iter().all(is_known)
    }

    /// Appends the text for an archive. Names are escaped if it goes to a terminal.
    pub fn render(
        &self,
        row: &ArchiveRow<'_>,
        zone: &TimeZone,
        target: Target,
        out: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        self.template.render(&mut |key| row.value(key, zone, target), out)
    }

    /// The members of the archive's JSON object: four that are always there, and those that the format uses.
    pub fn json(&self, row: &ArchiveRow<'_>, zone: &TimeZone) -> Object {
        let mut object = Object::new();
        for (place, (name, key)) in KEYS.iter().enumerate() {
            if place >= ALWAYS && !self.used.contains(key) {
                continue;
            }
            match key {
                Key::Hostname | Key::Username | Key::CommandLine => object.set_raw(name, row.raw(*key)),
                key => object.set(name, row.value(*key, zone, Target::Pipe)),
            }
        }
        object
    }
}

impl<'a> ArchiveRow<'a> {
    fn value(&self, key: Key, zone: &TimeZone, target: Target) -> Value<'a> {
        let shown = |time| time::value(time, zone);
        match key {
            Key::Fixed(text) => text.into(),
            Key::Id => self.id.to_string().into(),
            Key::Time => shown(self.time),
            Key::Start => shown(self.meta.map_or(self.time, |meta| meta.start.time)),
            Key::End => shown(self.meta.map_or(self.time, |meta| meta.end.time)),
            Key::Size => Value::Int(self.meta.map_or(0, |meta| meta.size.into())),
            Key::Nfiles => Value::Int(self.meta.map_or(0, |meta| meta.nfiles.into())),
            Key::Tags => {
                let tags = self.meta.map_or(&[][..], |meta| &meta.tags);
                let tags: Vec<_> = tags.iter().map(|tag| lossy(tag).0).collect();
                Value::Text(target.cow(Cow::Owned(tags.join(","))))
            }
            key => Value::Text(target.cow(lossy(self.raw(key)).0)),
        }
    }

    fn raw(&self, key: Key) -> &'a [u8] {
        match (key, self.meta) {
            (Key::Name | Key::Archive, _) => self.name,
            (Key::Comment, Some(meta)) => &meta.comment,
            (Key::Hostname, Some(meta)) => &meta.hostname,
            (Key::Username, Some(meta)) => &meta.username,
            (Key::CommandLine, Some(meta)) => &meta.command_line,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::json::{Indent, Json};
    use portaborg_core::archive::Stamp;

    fn meta() -> ArchiveMeta {
        let stamp = |text: &str| Stamp { text: text.into(), time: Timestamp::parse_iso(text).unwrap() };
        ArchiveMeta {
            name: b"odd".to_vec(),
            comment: b"first one".to_vec(),
            tags: vec![b"t1".to_vec(), b"t2".to_vec()],
            item_ptrs: Vec::new(),
            command_line: b"borg create odd .".to_vec(),
            cwd: None,
            hostname: b"fixture-host\xff".to_vec(),
            username: b"fixture".to_vec(),
            time: stamp("2026-11-30T13:14:43.110930+00:00"),
            start: stamp("2026-11-30T13:14:43.110930+00:00"),
            end: stamp("2026-11-30T13:14:45.202351+00:00"),
            chunker_params: None,
            size: 2_197_841,
            nfiles: 74,
            recreate_command_line: None,
            unknown: Vec::new(),
        }
    }

    fn row(meta: &ArchiveMeta) -> ArchiveRow<'_> {
        let id = "5f3a7c5262efcd84135186cd616cdc5e95e86c8b719497ea899d41b59b10d26f".parse().unwrap();
        ArchiveRow { id, name: &meta.name, time: meta.time.time, meta: Some(meta) }
    }

    /// The first line is what borg 2.0.0b25 printed for the fixture's archive.
    #[test]
    fn archives_are_formatted_as_in_borg() {
        let (meta, zone) = (meta(), TimeZone::get("Europe/Berlin").unwrap());
        for (text, wanted) in [
            (
                "{id:.8}  {time}  {archive:<15}|{size}|{nfiles:>5}|{command_line}{NL}",
                "5f3a7c52  Mon, 2026-11-30 14:14:43 +0100  odd            |2197841|   74|borg create odd .\n",
            ),
            (
                "{name} {time:%Y} {end:%S} {start:%S} {tags} {comment} {hostname}",
                "odd 2026 45 43 t1,t2 first one fixture-host?",
            ),
        ] {
            let mut out = Vec::new();
            ArchiveFormat::compile(text).unwrap().render(&row(&meta), &zone, Target::Pipe, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
    }

    #[test]
    fn json_has_four_members_and_those_of_the_format() {
        let meta = meta();
        let format = ArchiveFormat::compile("{hostname}{size}{path_is_no_key_here}");
        assert!(format.is_err_and(|error| error.to_string() == "Invalid format keys: path_is_no_key_here"));
        let format = ArchiveFormat::compile("{hostname}{size}{end}").unwrap();
        let json = Json::from(format.json(&row(&meta), &TimeZone::UTC)).document(&Indent::OneLine);
        assert_eq!(
            json,
            "{\"archive\": \"odd\", \"end\": \"2026-11-30T13:14:45.202351+00:00\", \"hostname\": \"fixture-host?\", \
             \"hostname_b64\": \"Zml4dHVyZS1ob3N0/w==\", \
             \"id\": \"5f3a7c5262efcd84135186cd616cdc5e95e86c8b719497ea899d41b59b10d26f\", \"name\": \"odd\", \
             \"size\": 2197841, \"time\": \"2026-11-30T13:14:43.110930+00:00\"}"
        );
    }
}
