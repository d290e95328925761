//! Data to measure with: made from a fixed seed, or taken from this machine.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::dice::Dice;

const MIB: u64 = 1 << 20;
/// Content is made in pieces of so many bytes.
const PIECE_BYTES: usize = 1 << 20;
/// So many files lie in one folder.
const FILES_PER_FOLDER: u64 = 100;

/// A kind of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Corpus {
    /// A source tree: many files of a few KB of text, none like another.
    Files {
        /// How many.
        count: u64,
    },
    /// Programs and libraries of this machine.
    Binaries {
        /// How much, in MiB.
        mib: u64,
    },
    /// One disk image: holes, text, programs, noise, and blocks that occur again.
    Image {
        /// Its length, in MiB.
        mib: u64,
    },
    /// One file of bytes that are unequally frequent but have no order: nothing repeats, entropy coding alone shrinks it.
    Entropy {
        /// Its length, in MiB.
        mib: u64,
    },
}

impl Corpus {
    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Corpus::Files { count } => format!("{count} small files"),
            Corpus::Binaries { mib } => format!("binaries, {mib} MiB"),
            Corpus::Image { mib } => format!("disk image, {mib} MiB"),
            Corpus::Entropy { mib } => format!("entropy-only, {mib} MiB"),
        }
    }

    /// Makes it in a new folder.
    ///
    /// # Errors
    ///
    /// If the folder can't be written, or the machine's programs can't be read.
    pub fn make(self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        match self {
            Corpus::Files { count } => files(folder, count),
            Corpus::Binaries { mib } => binaries(folder, mib),
            Corpus::Image { mib } => image(&folder.join("image"), mib),
            Corpus::Entropy { mib } => entropy(&folder.join("samples"), mib),
        }
    }
}

fn files(folder: &Path, count: u64) -> io::Result<()> {
    let mut dice = Dice::new(1);
    let mut below = folder.to_owned();
    for number in 0..count {
        if number % FILES_PER_FOLDER == 0 {
            below = folder.join(format!("module{}/part{number}", number / FILES_PER_FOLDER / 20));
            fs::create_dir_all(&below)?;
        }
        // Most are short and a few are long, as in real trees: half of them below 2 KB, the mean at 4 KB.
        let scale = 1 << dice.below(5);
        let len = 200 + dice.below(scale * 1000);
        fs::write(below.join(format!("file{number}.rs")), text(&mut dice, len))?;
    }
    Ok(())
}

/// Copies, so that nobody changes them meanwhile.
fn binaries(folder: &Path, mib: u64) -> io::Result<()> {
    let mut left = mib * MIB;
    for source in ["/usr/bin", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"] {
        let Ok(entries) = fs::read_dir(source) else { continue };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let stat = fs::symlink_metadata(&path)?;
            if stat.is_file() && (50_000..left).contains(&stat.len()) {
                let name = path.file_name().unwrap_or(OsStr::new("file"));
                fs::copy(&path, folder.join(name))?;
                left -= stat.len();
            }
        }
    }
    Ok(())
}

fn image(path: &Path, mib: u64) -> io::Result<()> {
    let mut dice = Dice::new(2);
    let file = File::create(path)?;
    let mut kept: Vec<Vec<u8>> = Vec::new();
    for piece in 0..mib {
        let content = match dice.below(10) {
            0..=3 => continue, // stays a hole
            4..=6 => text(&mut dice, PIECE_BYTES),
            7 => skewed(&mut dice, PIECE_BYTES),
            8 => dice.bytes(PIECE_BYTES),
            _ if kept.is_empty() => continue,
            _ => kept[dice.below(kept.len())].clone(),
        };
        file.write_all_at(&content, piece * MIB)?;
        if kept.len() < 16 {
            kept.push(content);
        }
    }
    file.set_len(mib * MIB)
}

fn entropy(path: &Path, mib: u64) -> io::Result<()> {
    let mut dice = Dice::new(3);
    let mut file = File::create(path)?;
    (0..mib).try_for_each(|_| file.write_all(&skewed(&mut dice, PIECE_BYTES)))
}

/// Words of a small language, with numbers between them.
fn text(dice: &mut Dice, len: usize) -> Vec<u8> {
    const WORDS: [&str; 32] = [
        "let",
        "mut",
        "self",
        "fn",
        "return",
        "match",
        "pub",
        "struct",
        "impl",
        "for",
        "in",
        "if",
        "else",
        "chunk",
        "pack",
        "index",
        "archive",
        "item",
        "path",
        "(",
        ")",
        "{",
        "}",
        ";\n",
        "->",
        "&",
        "::",
        ".",
        ",",
        "=",
        "==",
        "// reads the next ",
    ];
    let mut text = Vec::with_capacity(len + 32);
    while text.len() < len {
        text.extend_from_slice(WORDS[dice.below(WORDS.len())].as_bytes());
        match dice.below(4) {
            0 => text.extend_from_slice(format!("{:x}", dice.below(1 << 20)).as_bytes()),
            _ => text.push(b' '),
        }
    }
    text.truncate(len);
    text
}

/// Each byte is the sum of two dice, so about six bits of it are news.
fn skewed(dice: &mut Dice, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 4);
    while bytes.len() < len {
        let roll = dice.roll();
        bytes.extend((0..4).map(|at| {
            let pair = roll >> (16 * at);
            (pair as u8 & 31) + ((pair >> 8) as u8 & 31)
        }));
    }
    bytes.truncate(len);
    bytes
}
