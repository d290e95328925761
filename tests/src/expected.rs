//! `NAME.expected.json`: what must come out of a fixture, and how the real client took the damaged ones.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// All that is known about one fixture.
#[derive(Debug, Deserialize)]
pub struct Expected {
    /// The fixture's name.
    pub fixture: String,
    /// `negative` for the damaged and forged ones, else the group.
    pub kind: String,
    /// One line: what is in it, or what is wrong with it.
    pub what: String,
    /// Opens the repository.
    pub passphrase: String,
    /// Further passphrases: label to passphrase, or a list of those that open nothing.
    #[serde(default)]
    pub passphrases: BTreeMap<String, Value>,
    /// Content of the repository, the soft-deleted archives included. Empty for negatives.
    #[serde(default)]
    pub archives: Vec<Archive>,
    /// A second repository, `repo2`.
    pub repo2: Option<SecondRepository>,
    /// The key as `key export` writes it.
    pub key_text: Option<String>,
    /// Negatives: what the archives held before the damage.
    #[serde(default)]
    pub intact_archives: BTreeMap<String, IntactArchive>,
    /// Negatives: the file that the damage hit.
    pub damaged_path: Option<String>,
    /// Negatives: the files that the damage hit.
    #[serde(default)]
    pub damaged_paths: Vec<String>,
    /// Negatives: the real client's reaction, command by command.
    #[serde(default, rename = "borg_2_0_0b25_reaction")]
    pub reactions: Vec<Reaction>,
}

impl Expected {
    /// Damaged or forged on purpose.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.kind == "negative"
    }
}

/// The related repository of `keys-related`.
#[derive(Debug, Deserialize)]
pub struct SecondRepository {
    /// Opens it.
    pub passphrase: String,
    /// Its archives.
    pub archives: Vec<Archive>,
}

/// One archive of a good fixture.
#[derive(Debug, Deserialize)]
pub struct Archive {
    /// Archive id, 64 hex digits.
    pub id: String,
    /// Deleted, but not compacted away.
    pub soft_deleted: bool,
    /// The archive metadata object.
    pub metadata: Metadata,
    /// How many items the stream has.
    pub item_count: usize,
    /// All items in the order of the stream; none for the very long archives.
    pub items: Option<Vec<Item>>,
    /// The first items of a very long archive.
    #[serde(default)]
    pub first_items: Vec<Item>,
    /// The last items of a very long archive.
    #[serde(default)]
    pub last_items: Vec<Item>,
    /// SHA-256 of all paths, a newline after each.
    pub sha256_of_paths_joined_by_newline: Option<String>,
}

/// The parts of the archive metadata that lists show.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    /// Archive name.
    pub name: String,
    /// ISO 8601, with offset.
    pub time: String,
    /// Empty if there is none.
    #[serde(default)]
    pub comment: String,
    /// Who made it.
    pub username: String,
    /// Where it was made.
    pub hostname: String,
    /// In the order of the object.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// One item with every attribute; times are nanoseconds as text.
#[derive(Debug, Clone, Deserialize)]
pub struct Item {
    /// Raw bytes.
    pub path: RawText,
    /// `0o`, then octal, type bits included.
    pub mode: String,
    /// Owner by number.
    pub uid: Option<u32>,
    /// Group by number.
    pub gid: Option<u32>,
    /// Owner by name.
    pub user: Option<String>,
    /// Group by name.
    pub group: Option<String>,
    /// Inode number at the source.
    pub inode: Option<u64>,
    /// Size in bytes.
    pub size: Option<u64>,
    /// Flags as BSD numbers them.
    pub bsdflags: Option<u64>,
    /// Modification time.
    pub mtime_ns: Option<String>,
    /// Access time.
    pub atime_ns: Option<String>,
    /// Hard-link id, 64 hex digits.
    pub hlid: Option<String>,
    /// Where a symlink points.
    pub target: Option<RawText>,
    /// Device number as the source's kernel encodes it.
    pub rdev: Option<u64>,
    /// Name to value in hex.
    #[serde(default)]
    pub xattrs: BTreeMap<String, String>,
    /// Access ACL in Borg's text form.
    pub acl_access: Option<String>,
    /// Default ACL in Borg's text form.
    pub acl_default: Option<String>,
    /// SHA-256 of the content.
    pub sha256: Option<String>,
}

impl Item {
    /// Type and permission bits.
    #[must_use]
    pub fn mode(&self) -> u32 {
        octal(&self.mode)
    }

    /// Modification time in nanoseconds.
    #[must_use]
    pub fn mtime_ns(&self) -> Option<i128> {
        self.mtime_ns.as_ref().map(|text| text.parse().expect("the kit writes decimal nanoseconds"))
    }

    /// Access time in nanoseconds.
    #[must_use]
    pub fn atime_ns(&self) -> Option<i128> {
        self.atime_ns.as_ref().map(|text| text.parse().expect("the kit writes decimal nanoseconds"))
    }
}

/// `0o100644` as a number.
#[must_use]
pub fn octal(text: &str) -> u32 {
    u32::from_str_radix(text.trim_start_matches("0o"), 8).expect("the kit writes modes in octal")
}

/// Text, or bytes that are no UTF-8.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum RawText {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Hex {
        /// Two digits a byte.
        hex: String,
    },
}

impl RawText {
    /// The bytes themselves.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Hex { hex } => from_hex(hex),
        }
    }
}

/// Bytes of a string of hex digits.
#[must_use]
pub fn from_hex(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| {
            let pair = str::from_utf8(pair).expect("hex digits are ASCII");
            u8::from_str_radix(pair, 16).expect("the kit writes hex digits")
        })
        .collect()
}

/// Hex digits of bytes.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An archive of a damaged repository as it was before.
#[derive(Debug, Deserialize)]
pub struct IntactArchive {
    /// Archive id, 64 hex digits.
    pub id: String,
    /// Path, mode, size and SHA-256 only.
    pub items: Vec<Item>,
}

/// What the real client did with one command.
#[derive(Debug, Deserialize)]
pub struct Reaction {
    /// `borg COMMAND ...`
    pub command: String,
    /// Exit code, negative signal number, or the word `timeout`.
    pub exit_code: Value,
    /// Message ids of `--log-json`.
    #[serde(default)]
    pub msgids: Vec<String>,
    /// Level and text.
    #[serde(default)]
    pub messages: Vec<String>,
    /// Lines on stdout, for `list`.
    pub stdout_lines: Option<usize>,
    /// Extracted paths with their content, or a sentence where all came out.
    pub extracted: Option<Extracted>,
}

impl Reaction {
    /// The command's words without `borg`.
    #[must_use]
    pub fn args(&self) -> Vec<&str> {
        self.command.split(' ').skip(1).collect()
    }

    /// The exit code, if the real client ended by itself.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.exit_code.as_i64().and_then(|code| i32::try_from(code).ok()).filter(|code| *code >= 0)
    }

    /// It neither crashed, nor hung, nor kept silent about what it lost.
    #[must_use]
    pub fn is_sensible(&self) -> bool {
        let silent = self.code() == Some(0) && self.messages.iter().any(|message| message.starts_with("ERROR"));
        self.code().is_some() && !self.msgids.iter().any(|id| id == "Exception") && !silent
    }
}

/// What the real client extracted.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Extracted {
    /// `all files as in intact_archives`.
    All(String),
    /// Path to `SHA-256 size`, `link -> b'target'` or the mode of a directory.
    Paths(BTreeMap<String, String>),
}
