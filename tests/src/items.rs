//! Items of `expected.json` against what `list` prints and what `extract` writes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::acl;
use crate::expected::{Item, from_hex, to_hex};
use crate::machine::{self, Machine};
use crate::tree::{Node, Tree};

/// Compares one line of `list --json-lines` with its item.
#[must_use]
pub fn differs_from_line(item: &Item, line: &str) -> Option<String> {
    let Ok(Value::Object(found)) = serde_json::from_str(line) else { return Some(format!("no JSON object: {line}")) };
    let wanted = line_of(item);
    let different: Vec<String> = wanted
        .iter()
        .filter(|(key, value)| found.get(*key) != Some(value))
        .map(|(key, value)| format!("{key} is {:?}, not {value}", found.get(key).unwrap_or(&Value::Null)))
        .chain(found.keys().filter(|key| !wanted.contains_key(*key)).map(|key| format!("{key} is not expected")))
        .collect();
    let name = String::from_utf8_lossy(&item.path.bytes()).into_owned();
    (!different.is_empty()).then(|| format!("list, {name}: {}", different.join("; ")))
}

/// The object that `list --json-lines` prints for an item (command line, section 3.6).
fn line_of(item: &Item) -> Map<String, Value> {
    let mut line = Map::new();
    let mut text = |key: &str, bytes: &[u8]| {
        // Python's replacement for what is no UTF-8 is one question mark a byte.
        match str::from_utf8(bytes) {
            Ok(text) => drop(line.insert(key.into(), text.into())),
            Err(_) => {
                line.insert(key.into(), replaced(bytes).into());
                line.insert(format!("{key}_b64"), base64(bytes).into());
            }
        }
    };
    let target = item.target.as_ref().map(super::expected::RawText::bytes).unwrap_or_default();
    text("path", &item.path.bytes());
    text("target", &target);
    let mode = item.mode();
    let kind = kind_letter(mode);
    let size = item.size.unwrap_or(if kind == 'l' { target.len() as u64 } else { 0 });
    let number = |number: Option<u64>| number.map_or(Value::Null, Value::from);
    let owner = |name: &Option<String>, id: Option<u32>| {
        name.clone().map_or_else(|| json!(id.map_or("None".to_owned(), |id| id.to_string())), Value::from)
    };
    line.insert("hlid".into(), item.hlid.clone().unwrap_or_default().into());
    line.insert("type".into(), kind.to_string().into());
    line.insert("mode".into(), mode_text(mode).into());
    line.insert("uid".into(), number(item.uid.map(u64::from)));
    line.insert("gid".into(), number(item.gid.map(u64::from)));
    line.insert("user".into(), owner(&item.user, item.uid));
    line.insert("group".into(), owner(&item.group, item.gid));
    line.insert("flags".into(), number(item.bsdflags));
    line.insert("inode".into(), number(item.inode));
    line.insert("size".into(), size.into());
    line.insert("mtime".into(), time_text(item.mtime_ns().unwrap_or(0)).into());
    line
}

fn replaced(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|_| text.push('?'));
    }
    text
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            let index = (word >> (18 - 6 * digit)) & 63;
            text.push(if digit <= group.len() { char::from(DIGITS[index as usize]) } else { '=' });
        }
    }
    text
}

fn kind_letter(mode: u32) -> char {
    match mode & 0o170_000 {
        0o040_000 => 'd',
        0o120_000 => 'l',
        0o010_000 => 'p',
        0o020_000 => 'c',
        0o060_000 => 'b',
        0o140_000 => 's',
        _ => '-',
    }
}

/// As `ls` writes a mode.
fn mode_text(mode: u32) -> String {
    let mut text = String::from(kind_letter(mode));
    for (shift, special, letters) in [(6, 0o4000, ('s', 'S')), (3, 0o2000, ('s', 'S')), (0, 0o1000, ('t', 'T'))] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => letters.0,
            (true, false) => letters.1,
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

/// ISO 8601 in UTC with microseconds, as Python prints it.
fn time_text(ns: i128) -> String {
    let micros = ns.div_euclid(1000);
    let (secs, micros) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let (days, secs) = (secs.div_euclid(86_400), secs.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (secs / 3600, secs / 60 % 60, secs % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}+00:00")
}

/// Year, month and day of a number of days since 1970 (years are counted from March, 400 of them have 146097 days).
fn civil(days: i128) -> (i128, i128, i128) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + i128::from(month <= 2);
    (year, month, day_of_year - (153 * from_march + 2) / 5 + 1)
}

/// Compares an extracted folder with the items of its archive, as far as this machine can keep them.
#[must_use]
pub fn differ_from_tree(items: &[Item], tree: &Tree) -> Vec<String> {
    let machine = machine::here();
    let mut wanted: BTreeMap<Vec<u8>, &Item> = BTreeMap::new();
    let mut first_of_link: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for item in items {
        let path = place(&item.path.bytes());
        if let Some(hlid) = &item.hlid {
            let first = first_of_link.entry(hlid).or_insert_with(|| path.clone());
            *first = first.clone().min(path.clone());
        }
        wanted.insert(path, item);
    }
    let mut found = Vec::new();
    for (path, item) in &wanted {
        let name = String::from_utf8_lossy(path);
        if is_device(item) && !machine.devices {
            continue;
        }
        let Some(node) = tree.get(path) else {
            found.push(format!("extract, {name}: is missing"));
            continue;
        };
        let mut differs = differences(item, node, machine);
        let alone =
            item.hlid.as_deref().is_none_or(|id| items.iter().filter(|i| i.hlid.as_deref() == Some(id)).count() < 2);
        let link = item.hlid.as_deref().filter(|_| !alone).and_then(|id| first_of_link.get(id));
        if node.linked_to.as_ref() != link {
            let shown = |path: Option<&Vec<u8>>| path.map(|path| String::from_utf8_lossy(path).into_owned());
            differs.push(format!("hard link to {:?}, not {:?}", shown(node.linked_to.as_ref()), shown(link)));
        }
        if !differs.is_empty() {
            found.push(format!("extract, {name}: {}", differs.join("; ")));
        }
    }
    for path in tree.keys().filter(|path| !wanted.contains_key(*path) && *path != b".") {
        // Parents that are no items themselves are made on the way.
        let folder = [&path[..], b"/"].concat();
        if !wanted.keys().any(|wanted| wanted.starts_with(&folder)) {
            found.push(format!("extract, {}: should not be there", String::from_utf8_lossy(path)));
        }
    }
    found
}

/// Folders that are no items themselves are made on the way: their times are those of the extraction.
pub fn without_times_of_parents(items: &[Item], tree: &mut Tree) {
    let places: BTreeSet<Vec<u8>> = items.iter().map(|item| place(&item.path.bytes())).collect();
    for (path, node) in tree.iter_mut().filter(|(path, _)| !places.contains(*path)) {
        let folder = [&path[..], b"/"].concat();
        if places.iter().any(|place| place.starts_with(&folder)) {
            node.mtime_ns = 0;
        }
    }
}

/// Where an item lands: without leading slash, `.` and doubled slashes.
fn place(path: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".").collect();
    if parts.is_empty() { b".".to_vec() } else { parts.join(&b'/') }
}

fn is_device(item: &Item) -> bool {
    matches!(kind_letter(item.mode()), 'c' | 'b')
}

fn differences(item: &Item, node: &Node, machine: Machine) -> Vec<String> {
    let mut differs = Vec::new();
    let mut compare = |what: &str, found: String, wanted: String| {
        if found != wanted {
            differs.push(format!("{what} {found}, not {wanted}"));
        }
    };
    compare("mode", format!("{:o}", node.mode), format!("{:o}", item.mode()));
    if machine.root {
        let uid = item.user.as_deref().and_then(machine::uid_of).or(item.uid);
        let gid = item.group.as_deref().and_then(machine::gid_of).or(item.gid);
        compare("uid", node.uid.to_string(), uid.unwrap_or(0).to_string());
        compare("gid", node.gid.to_string(), gid.unwrap_or(0).to_string());
    }
    if let Some(mtime) = item.mtime_ns() {
        compare("mtime", node.mtime_ns.to_string(), mtime.to_string());
    }
    if let (Some(wanted), Some(found)) = (item.atime_ns(), node.atime_ns) {
        compare("atime", found.to_string(), wanted.to_string());
    }
    if let Some(sha256) = &item.sha256 {
        compare("size", format!("{:?}", node.size), format!("{:?}", item.size));
        compare("sha256", node.sha256.clone().unwrap_or_default(), sha256.clone());
    }
    let shown = |bytes: Option<Vec<u8>>| bytes.map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    compare("target", shown(node.target.clone()), shown(item.target.as_ref().map(super::expected::RawText::bytes)));
    if is_device(item) {
        compare("device", format!("{:?}", node.device), format!("{:?}", item.rdev.map(device_numbers)));
    }
    if let (Some(wanted), Some(found)) = (item.bsdflags, node.flags)
        && machine.flags
    {
        compare("flags", found.to_string(), wanted.to_string());
    }
    let kept = |name: &str| match name {
        name if name.starts_with("user.") => machine.user_xattrs,
        name if name.starts_with("system.posix_acl_") => false,
        _ => machine.trusted_xattrs,
    };
    let found = node.xattrs.iter().map(|(name, value)| (String::from_utf8_lossy(name).into_owned(), to_hex(value)));
    let found: BTreeMap<String, String> = found.filter(|(name, _)| kept(name)).collect();
    let wanted: BTreeMap<String, String> =
        item.xattrs.iter().filter(|(name, _)| kept(name)).map(|(n, v)| (n.clone(), to_hex(&from_hex(v)))).collect();
    compare("xattrs", format!("{found:?}"), format!("{wanted:?}"));
    if machine.acls {
        for (name, wanted) in [(acl::ACCESS, &item.acl_access), (acl::DEFAULT, &item.acl_default)] {
            let wanted = wanted.as_deref().map(acl::from_text).filter(|a| name == acl::DEFAULT || !acl::is_minimal(a));
            let found = node.xattrs.get(name.as_bytes()).map(|value| acl::from_xattr(value));
            compare(name, format!("{found:?}"), format!("{wanted:?}"));
        }
    }
    differs
}

/// Major and minor number in Linux' encoding of a device number.
fn device_numbers(rdev: u64) -> (u32, u32) {
    let major = (rdev >> 8 & 0xfff) | (rdev >> 32 & !0xfff);
    let minor = (rdev & 0xff) | (rdev >> 12 & !0xff);
    (major as u32, minor as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_python_does() {
        assert_eq!(time_text(0), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(time_text(2_200_000_000_000_000_001), "2039-09-18T23:06:40.000000+00:00");
        assert_eq!(time_text(-1), "1969-12-31T23:59:59.999999+00:00");
        assert_eq!(time_text(951_782_400_000_000_000), "2000-02-29T00:00:00.000000+00:00");
    }

    #[test]
    fn bytes_become_base64_and_question_marks() {
        assert_eq!(base64(b"names/bad_\xff\xfe.txt"), "bmFtZXMvYmFkX//+LnR4dA==");
        assert_eq!(base64(b"names/caf\xe9"), "bmFtZXMvY2Fm6Q==");
        assert_eq!(replaced(b"bad_\xff\xfe.txt"), "bad_??.txt");
    }

    #[test]
    fn modes_are_written_as_ls_does() {
        assert_eq!(mode_text(0o104_755), "-rwsr-xr-x");
        assert_eq!(mode_text(0o101_644), "-rw-r--r-T");
        assert_eq!(mode_text(0o042_775), "drwxrwsr-x");
    }
}
