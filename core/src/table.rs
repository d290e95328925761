//! Serialised hash tables: BorgHash's file format, version 1 (repository layer, section 5.5).
//!
//! ```text
//! "BORGHASH"  version(4)=1  json_len(4)  json  used * (key value)
//! ```

use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 8] = b"BORGHASH";
const VERSION: u32 = 1;
const KEY_BYTES: usize = 32;
/// Capacity of a table that holds nothing.
const EMPTY_CAPACITY: usize = 1000;

/// How the values of a table are laid out.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// Name of the value type.
    pub value: &'static str,
    /// Names of its fields.
    pub fields: &'static [&'static str],
    /// Codes of its fields, in Python's `struct` notation.
    pub codes: &'static [&'static str],
    /// Length of a value in bytes.
    pub value_bytes: usize,
}

/// Why a table can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Not such a table, or of another version.
    #[error("is not a hash table of a known version")]
    NotATable,
    /// Its description is damaged, or describes another kind of table.
    #[error("has a description that does not fit")]
    Description,
    /// It claims more entries than it has.
    #[error("claims {claimed} entries, but has {found} bytes of them")]
    Entries {
        /// As claimed.
        claimed: u64,
        /// Bytes after the description.
        found: usize,
    },
}

#[derive(Serialize, Deserialize)]
struct Description {
    key_size: usize,
    value_size: usize,
    byte_order: String,
    value_type_name: String,
    value_type_fields: Vec<String>,
    value_format_name: String,
    value_format_fields: Vec<String>,
    value_format: Vec<String>,
    capacity: u64,
    used: u64,
}

/// The entries of a table, in stored order. What it claims is checked against what is there; nothing is allocated for them.
pub fn entries<'t>(
    stored: &'t [u8],
    layout: &Layout,
) -> Result<impl ExactSizeIterator<Item = (&'t [u8; KEY_BYTES], &'t [u8])> + use<'t>, TableError> {
    let rest = stored.strip_prefix(MAGIC).ok_or(TableError::NotATable)?;
    let (version, rest) = rest.split_first_chunk().ok_or(TableError::NotATable)?;
    let (json_len, rest) = rest.split_first_chunk().ok_or(TableError::NotATable)?;
    if u32::from_le_bytes(*version) != VERSION {
        return Err(TableError::NotATable);
    }
    let (json, rest) = rest.split_at_checked(u32::from_le_bytes(*json_len) as usize).ok_or(TableError::Description)?;
    let description: Description = serde_json::from_slice(json).map_err(|_| TableError::Description)?;
    if (description.key_size, description.value_size) != (KEY_BYTES, layout.value_bytes)
        || description.byte_order != "little"
        || description.value_format != layout.codes
    {
        return Err(TableError::Description);
    }
    let entry_bytes = KEY_BYTES + layout.value_bytes;
    let used = usize::try_from(description.used).ok().and_then(|used| rest.get(..used.checked_mul(entry_bytes)?));
    let used = used.ok_or(TableError::Entries { claimed: description.used, found: rest.len() })?;
    Ok(used.chunks_exact(entry_bytes).map(|entry| entry.split_first_chunk().expect("an entry begins with its key")))
}

/// Serialises a table of these entries, whose keys are distinct, byte for byte as the original library does when it is
/// made large enough at once: with a capacity of twice the entries, or 1000 if there are none.
pub fn serialise<V: AsRef<[u8]>>(entries: &[([u8; KEY_BYTES], V)], layout: &Layout) -> Vec<u8> {
    serialise_within(if entries.is_empty() { EMPTY_CAPACITY } else { 2 * entries.len() }, entries, layout)
}

/// The same for a table to which others will add entries: to one that was made for fewer than four, the original library can't.
pub fn serialise_to_grow<V: AsRef<[u8]>>(entries: &[([u8; KEY_BYTES], V)], layout: &Layout) -> Vec<u8> {
    serialise_within(EMPTY_CAPACITY.max(2 * entries.len()), entries, layout)
}

fn serialise_within<V: AsRef<[u8]>>(capacity: usize, entries: &[([u8; KEY_BYTES], V)], layout: &Layout) -> Vec<u8> {
    let mut slots = Slots::new(capacity);
    for (number, (key, _)) in entries.iter().enumerate() {
        slots.place(u32::from_be_bytes([key[0], key[1], key[2], key[3]]) as usize % capacity, number);
    }
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.into()).collect();
    let description = Description {
        key_size: KEY_BYTES,
        value_size: layout.value_bytes,
        byte_order: "little".into(),
        value_type_name: layout.value.into(),
        value_type_fields: texts(layout.fields),
        value_format_name: alloc::format!("{}FormatT", layout.value),
        value_format_fields: texts(layout.fields),
        value_format: texts(layout.codes),
        capacity: capacity as u64,
        used: entries.len() as u64,
    };
    let json = spaced_json(&description);
    let mut stored = MAGIC.to_vec();
    stored.extend_from_slice(&VERSION.to_le_bytes());
    stored.extend_from_slice(&(json.len() as u32).to_le_bytes());
    stored.extend_from_slice(json.as_bytes());
    for number in slots.taken.into_iter().flatten() {
        let (key, value) = &entries[number];
        stored.extend_from_slice(key);
        stored.extend_from_slice(value.as_ref());
    }
    stored
}

/// The slots of an open-addressing table: an entry takes the first free slot at or after its own, around the end.
///
/// Pack ids come from whoever holds the files, who could make all of them want one slot. So nothing is probed one by one:
/// each taken slot points to a later one that may be free, and what is found shortens the way for the next.
struct Slots {
    taken: Vec<Option<usize>>,
    next: Vec<usize>,
}

impl Slots {
    fn new(capacity: usize) -> Self {
        Slots { taken: alloc::vec![None; capacity], next: (0..capacity).collect() }
    }

    /// Puts an entry where it belongs. There are more slots than entries, so one is free.
    fn place(&mut self, own: usize, number: usize) {
        let mut slot = own;
        while self.taken[slot].is_some() {
            let next = self.next[slot];
            self.next[slot] = self.next[next];
            slot = next;
        }
        self.taken[slot] = Some(number);
        self.next[slot] = (slot + 1) % self.taken.len();
    }
}

/// JSON with a blank after each `,` and `:`, as Python writes it. No text in a description contains either.
fn spaced_json(description: &Description) -> String {
    let json = serde_json::to_string(description).expect("a description has only texts and numbers");
    json.replace(',', ", ").replace(':', ": ")
}
