//! Access control lists: Borg's text and the value that Linux keeps as an extended attribute (data layer, section 8.2).

use super::names::Names;

/// The name of the extended attribute that holds the access list.
pub const ACCESS: &str = "system.posix_acl_access";
/// The name of the extended attribute that holds a directory's default list.
pub const DEFAULT: &str = "system.posix_acl_default";

/// The value of a list without entries.
pub const EMPTY: &[u8] = &VERSION.to_le_bytes();

/// The text is no access control list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidAcl;

/// The binary list that `text` means here; empty if it has no entry.
///
/// Named entries are looked up locally and fall back to the stored number, which always counts with `numeric_ids`.
pub fn to_xattr(text: &[u8], numeric_ids: bool, names: &mut Names) -> Result<Vec<u8>, InvalidAcl> {
    let mut entries = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        let line = line.trim_ascii();
        if !line.is_empty() {
            entries.push(entry(line, numeric_ids, names)?);
        }
    }
    entries.sort_by_key(|entry| (entry.tag, entry.id));
    let mut value = Vec::new();
    if !entries.is_empty() {
        value.extend_from_slice(&VERSION.to_le_bytes());
    }
    for entry in entries {
        value.extend_from_slice(&entry.tag.to_le_bytes());
        value.extend_from_slice(&entry.permissions.to_le_bytes());
        value.extend_from_slice(&entry.id.to_le_bytes());
    }
    Ok(value)
}

/// The text that Borg stores of the binary list `value`: an entry a line, with the number behind a name. With `numeric_ids`,
/// names are numbers, too.
pub fn from_xattr(value: &[u8], numeric_ids: bool, names: &mut Names) -> Result<Vec<u8>, InvalidAcl> {
    let (version, entries) = value.split_first_chunk().ok_or(InvalidAcl)?;
    if u32::from_le_bytes(*version) != VERSION {
        return Err(InvalidAcl);
    }
    let (entries, []) = entries.as_chunks::<ENTRY_BYTES>() else { return Err(InvalidAcl) };
    let mut text = Vec::new();
    for &[tag0, tag1, bits0, bits1, id @ ..] in entries {
        let id = u32::from_le_bytes(id);
        let (kind, name) = match u16::from_le_bytes([tag0, tag1]) {
            USER_OBJ => ("user", None),
            USER => ("user", Some(names.user_name(id))),
            GROUP_OBJ => ("group", None),
            GROUP => ("group", Some(names.group_name(id))),
            MASK => ("mask", None),
            OTHER => ("other", None),
            _ => return Err(InvalidAcl),
        };
        if !text.is_empty() {
            text.push(b'\n');
        }
        text.extend_from_slice(kind.as_bytes());
        text.push(b':');
        if let Some(name) = name {
            match name.filter(|_| !numeric_ids) {
                Some(name) => text.extend_from_slice(name),
                None => text.extend_from_slice(id.to_string().as_bytes()),
            }
        }
        text.push(b':');
        let bits = u16::from_le_bytes([bits0, bits1]);
        text.extend([(4, b'r'), (2, b'w'), (1, b'x')].map(|(bit, letter)| if bits & bit != 0 { letter } else { b'-' }));
        if name.is_some() {
            text.extend_from_slice(format!(":{id}").as_bytes());
        }
    }
    Ok(text)
}

/// Whether these lists say more than a mode can: an access list with named entries, or any default list.
pub fn is_extended(access: Option<&[u8]>, default: Option<&[u8]>) -> bool {
    access.is_some_and(|list| list.len() > MINIMAL_BYTES) || default.is_some_and(|list| list.len() >= MINIMAL_BYTES)
}

/// The text of the list that a mode is.
pub fn from_mode(mode: u32) -> Vec<u8> {
    let text =
        |shift: u32| [(4, 'r'), (2, 'w'), (1, 'x')].map(|(bit, c)| if mode >> shift & bit != 0 { c } else { '-' });
    let [user, group, other] = [6, 3, 0].map(|shift| text(shift).iter().collect::<String>());
    format!("user::{user}\ngroup::{group}\nother::{other}").into_bytes()
}

struct Entry {
    tag: u16,
    permissions: u16,
    id: u32,
}

/// `type:qualifier:permissions`, with the number as a fourth field if there is a qualifier.
fn entry(line: &[u8], numeric_ids: bool, names: &mut Names) -> Result<Entry, InvalidAcl> {
    let mut fields = line.split(|&byte| byte == b':');
    let kind = fields.next().ok_or(InvalidAcl)?;
    let qualifier = fields.next().ok_or(InvalidAcl)?;
    let permissions = permissions(fields.next().ok_or(InvalidAcl)?)?;
    let number = fields.next().map(number).transpose()?;
    if fields.next().is_some() {
        return Err(InvalidAcl);
    }
    let tag = match (kind, qualifier.is_empty()) {
        (b"user" | b"u", true) => USER_OBJ,
        (b"user" | b"u", false) => USER,
        (b"group" | b"g", true) => GROUP_OBJ,
        (b"group" | b"g", false) => GROUP,
        (b"mask" | b"m", true) => MASK,
        (b"other" | b"o", true) => OTHER,
        _ => return Err(InvalidAcl),
    };
    let local = match tag {
        USER if !numeric_ids => names.user(qualifier),
        GROUP if !numeric_ids => names.group(qualifier),
        USER | GROUP => None,
        _ => Some(NO_ID),
    };
    let id = match local.or(number) {
        Some(id) => id,
        // Without a fourth field, the second one may itself be a number.
        None => self::number(qualifier)?,
    };
    Ok(Entry { tag, permissions, id })
}

fn permissions(text: &[u8]) -> Result<u16, InvalidAcl> {
    text.iter().try_fold(0, |bits, byte| {
        Ok(bits
            | match byte {
                b'r' => 4,
                b'w' => 2,
                b'x' => 1,
                b'-' => 0,
                _ => return Err(InvalidAcl),
            })
    })
}

fn number(text: &[u8]) -> Result<u32, InvalidAcl> {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or(InvalidAcl)
}

const VERSION: u32 = 2;
const NO_ID: u32 = u32::MAX;
/// Tag, permissions and number.
const ENTRY_BYTES: usize = 2 + 2 + 4;
/// Of a list with the three entries that a mode has.
const MINIMAL_BYTES: usize = 4 + 3 * ENTRY_BYTES;

const USER_OBJ: u16 = 0x01;
const USER: u16 = 0x02;
const GROUP_OBJ: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(key: &str) -> Vec<u8> {
        let all: serde_json::Value =
            serde_json::from_slice(include_bytes!("../../../core/tests/vectors/data.json")).unwrap();
        all["acl"][key].as_str().unwrap().into()
    }

    fn hex(value: &[u8]) -> Vec<u8> {
        portaborg_core::bytes::Hex(value).to_string().into_bytes()
    }

    #[test]
    fn texts_become_the_value_of_the_vectors() {
        let expected = vector("xattr_numeric");
        let names = &mut Names::default();
        for key in ["stored_named (uid 0 = root, 54321 unknown)", "stored_numeric_ids"] {
            for numeric_ids in [false, true] {
                assert_eq!(hex(&to_xattr(&vector(key), numeric_ids, names).unwrap()), expected, "{key} {numeric_ids}");
            }
        }
        for key in ["libacl_text", "restore_local", "restore_numeric"] {
            assert_eq!(hex(&to_xattr(&vector(key), false, names).unwrap()), expected, "{key}");
        }
    }

    #[test]
    fn values_become_the_texts_of_the_vectors() {
        let value =
            portaborg_core::bytes::from_hex::<60>(std::str::from_utf8(&vector("xattr_numeric")).unwrap()).unwrap();
        let names = &mut Names::default();
        for (key, numeric_ids) in [("stored_named (uid 0 = root, 54321 unknown)", false), ("stored_numeric_ids", true)]
        {
            assert_eq!(from_xattr(&value, numeric_ids, names).unwrap(), vector(key), "{key}");
        }
    }

    #[test]
    fn what_is_no_binary_list_is_refused() {
        let names = &mut Names::default();
        for value in
            [&b""[..], b"\x02\0\0", b"\x03\0\0\0", b"\x02\0\0\0\x01\0\x06\0", b"\x02\0\0\0\x03\0\x06\0\0\0\0\0"]
        {
            assert_eq!(from_xattr(value, false, names), Err(InvalidAcl), "{value:?}");
        }
        assert_eq!(from_xattr(b"\x02\0\0\0", false, names), Ok(Vec::new()));
    }

    #[test]
    fn a_mode_is_a_list_of_three() {
        assert_eq!(from_mode(0o100_674), b"user::rw-\ngroup::rwx\nother::r--");
    }

    #[test]
    fn a_local_name_wins_over_the_stored_number_unless_numbers_are_asked_for() {
        let id = |numeric_ids| {
            let value = to_xattr(b"user:root:rw-:9999", numeric_ids, &mut Names::default()).unwrap();
            u32::from_le_bytes(value[8..12].try_into().unwrap())
        };
        assert_eq!(id(false), 0);
        assert_eq!(id(true), 9999);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in [
            "user",
            "user:",
            "user::rw-:0:0",
            "user::rwz",
            "flubber::rw-",
            "mask:0:rw-:0",
            "other:root:r--",
            "user:no such user:rw-",
            "user:root:rw-:x",
            "user:root:rw-:-1",
            "user:root:rw-:4294967296",
        ] {
            assert_eq!(to_xattr(text.as_bytes(), false, &mut Names::default()), Err(InvalidAcl), "{text}");
        }
        assert_eq!(to_xattr(b"\n\n", false, &mut Names::default()), Ok(Vec::new()));
    }
}
