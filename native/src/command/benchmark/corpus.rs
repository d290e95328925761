//! What is hashed, encrypted and compressed.

use crate::client::random;
use crate::failure::Failure;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// No more than so much of the user's data is read, in bytes.
const MAX_DATA_BYTES: u64 = 1 << 30;

/// Random bytes.
pub fn noise(len: usize) -> Result<Vec<u8>, Failure> {
    let mut noise = Vec::with_capacity(len);
    while noise.len() < len {
        noise.extend_from_slice(&random::bytes::<4096>()?);
    }
    noise.truncate(len);
    Ok(noise)
}

/// The same words on every machine, in an order that a generator gives: about a quarter is left of them at `zstd,3`.
pub fn words(len: usize) -> Vec<u8> {
    let words: Vec<&str> = WORDS.split(' ').collect();
    let mut text = Vec::with_capacity(len + 16);
    let mut state = SEED;
    while text.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.extend_from_slice(words[(state % words.len() as u64) as usize].as_bytes());
        text.push(if state & 0xf == 0 { b'\n' } else { b' ' });
    }
    text.truncate(len);
    text
}

/// The content of a file, or of all files below a folder in the order of their names. What is not a file or can't be
/// followed is passed over.
pub fn of_user(path: &Path) -> Result<Vec<u8>, Failure> {
    let shown = path.display();
    let mut files = Vec::new();
    match fs::metadata(path) {
        Ok(meta) if meta.is_file() => files.push(path.to_owned()),
        Ok(meta) if meta.is_dir() => collect(path, &mut files),
        _ => return Err(Failure::command(format_args!("--data: '{shown}' is not a file or directory."))),
    }
    let mut data = Vec::new();
    for file in files.iter().filter(|file| file.is_file()) {
        let room = MAX_DATA_BYTES - data.len() as u64;
        if room == 0 {
            break;
        }
        let read = File::open(file).and_then(|file| file.take(room).read_to_end(&mut data));
        read.map_err(|error| Failure::command(format_args!("--data: could not read '{}': {error}", file.display())))?;
    }
    match data.is_empty() {
        true => Err(Failure::command(format_args!("--data: no data found at '{shown}'."))),
        false => Ok(data),
    }
}

/// As Python's `os.walk`: the files of a folder before those of the folders in it; folders that can't be read are passed over.
fn collect(top: &Path, files: &mut Vec<PathBuf>) {
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        let is_folder = |path: &PathBuf| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let (inner, here): (Vec<PathBuf>, Vec<PathBuf>) = paths.into_iter().partition(is_folder);
        files.extend(here);
        folders.extend(inner.into_iter().rev());
    }
}

/// Buffers of this length one after another; what is left at the end is passed over, unless it is all there is.
pub fn slices(data: &[u8], len: usize) -> Vec<&[u8]> {
    if data.len() <= len { vec![data] } else { data.chunks_exact(len).collect() }
}

const SEED: u64 = 0x2545_f491_4f6c_dd1d;
const WORDS: &str = "backup archive chunk repository compress encrypt index cache manifest the and of a to in is it for \
    with data borg file path size key id hash item repo object segment directory user group mtime mode owner content";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_real_client() {
        let text = words(60);
        assert_eq!(text.len(), 60);
        assert_eq!(text, words(1000)[..60]);
        assert!(String::from_utf8(text).unwrap().starts_with("object in\nof segment hash to index\nconte"));
    }

    #[test]
    fn users_data_is_read_in_order_and_cut_whole() {
        let folder = std::env::temp_dir().join(format!("portaborg-benchmark-{}", std::process::id()));
        fs::create_dir_all(folder.join("a")).unwrap();
        for (name, content) in [("a/x", "3"), ("b", "1"), ("c", "2")] {
            fs::write(folder.join(name), content).unwrap();
        }
        let data = of_user(&folder);
        let missing = of_user(&folder.join("missing"));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(data.unwrap(), b"123");
        assert_eq!(missing.unwrap_err().code, 4);
        assert_eq!(slices(b"abcde", 2), [b"ab", b"cd"]);
        assert_eq!(slices(b"abc", 9), [b"abc"]);
    }
}
