//! How work is spread over threads, as the environment asks for it (command line, section 6.4).
//!
//! A variable is looked at by commands that have a use for it, and only when they begin to work: what another command needs
//! may be wrong.

use crate::failure::Failure;
use crate::system::process::MAX_THREADS;
use portaborg_core::codec::{Algorithm, Compression};
use portaborg_core::tuning::Tuning;
use std::env;
use std::thread;

const BLAKE3_THRESHOLD: &str = "BORG_BLAKE3_MT_THRESHOLD";
const ZSTD_WORKERS: &str = "BORG_ZSTD_MT_WORKERS";
const EXTRACT_WORKERS: &str = "BORG_EXTRACT_WORKERS";
const CREATE_WORKERS: &str = "BORG_CREATE_WORKERS";

/// For a command that reads chunks.
pub fn for_reading() -> Result<Tuning, Failure> {
    Settings { extract: true, ..Settings::default() }.read(&from_environment)
}

/// For a command that writes chunks with this compression, and may read others.
pub fn for_writing(compression: &Compression) -> Result<Tuning, Failure> {
    let zstd = compression.compressor.algorithm() == Algorithm::Zstd;
    Settings { zstd, extract: true, create: true }.read(&from_environment)
}

/// Which settings are of use beside that of hashing.
#[derive(Default)]
struct Settings {
    zstd: bool,
    extract: bool,
    create: bool,
}

impl Settings {
    fn read(self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Tuning, Failure> {
        let number = |name: &str, unit: &str| match variable(name) {
            Some(text) if !text.trim().is_empty() => match text.trim().parse::<i64>() {
                Ok(number) => usize::try_from(number)
                    .map(Some)
                    .map_err(|_| Failure::error(format_args!("{name} must not be negative, but is: {number}"))),
                Err(_) => Err(Failure::error(format_args!("{name} must be an integer{unit}, but is: '{text}'"))),
            },
            _ => Ok(None),
        };
        let workers = |name: &str| Ok(number(name, "")?.map(|workers| workers.min(MAX_THREADS)));
        let mut tuning = Tuning::new(thread::available_parallelism().map_or(1, usize::from));
        if let Some(kib) = number(BLAKE3_THRESHOLD, " (KiB)")? {
            tuning.blake3_threads_from_bytes = kib.saturating_mul(1024);
        }
        if self.zstd {
            tuning.zstd_workers = workers(ZSTD_WORKERS)?;
        }
        if self.extract {
            tuning.extract_workers = workers(EXTRACT_WORKERS)?;
        }
        if self.create {
            tuning.create_workers = workers(CREATE_WORKERS)?;
        }
        Ok(tuning)
    }
}

fn from_environment(name: &str) -> Option<String> {
    Some(env::var_os(name)?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: Settings, name: &'static str, value: &str) -> Result<Tuning, String> {
        settings.read(&|asked| (asked == name).then(|| value.into())).map_err(|failure| {
            assert_eq!((failure.code, failure.msgid), (2, "Error"));
            failure.text
        })
    }

    fn all() -> Settings {
        Settings { zstd: true, extract: true, create: true }
    }

    #[test]
    fn what_is_set_counts_and_what_is_empty_does_not() {
        let defaults = all().read(&|_| None).unwrap();
        assert_eq!(defaults, Tuning::new(defaults.threads));
        for name in [BLAKE3_THRESHOLD, ZSTD_WORKERS, EXTRACT_WORKERS, CREATE_WORKERS] {
            for empty in ["", " "] {
                assert_eq!(read(all(), name, empty), Ok(defaults));
            }
        }
        for (value, bytes) in [("0", 0), ("1", 1024), (" 1024 ", 1 << 20), ("9223372036854775807", usize::MAX)] {
            assert_eq!(read(all(), BLAKE3_THRESHOLD, value).unwrap().blake3_threads_from_bytes, bytes);
        }
        for (value, workers) in [("0", 0), ("1", 1), ("12", 12), ("1000000", MAX_THREADS)] {
            assert_eq!(read(all(), ZSTD_WORKERS, value).unwrap().zstd_workers, Some(workers));
            assert_eq!(read(all(), EXTRACT_WORKERS, value).unwrap().extract_workers, Some(workers));
        }
    }

    #[test]
    fn bad_values_are_refused_in_the_words_of_borg_where_they_are_used() {
        for value in ["yes", "4x", "1.5", "-x"] {
            let text = format!("Error: BORG_ZSTD_MT_WORKERS must be an integer, but is: '{value}'");
            assert_eq!(read(all(), ZSTD_WORKERS, value), Err(text));
            let text = format!("Error: BORG_BLAKE3_MT_THRESHOLD must be an integer (KiB), but is: '{value}'");
            assert_eq!(read(Settings::default(), BLAKE3_THRESHOLD, value), Err(text));
        }
        let text = "Error: BORG_EXTRACT_WORKERS must not be negative, but is: -1";
        assert_eq!(read(all(), EXTRACT_WORKERS, "-1"), Err(text.into()));
        assert!(read(Settings::default(), EXTRACT_WORKERS, "-1").is_ok());
        assert!(read(Settings { zstd: false, ..all() }, ZSTD_WORKERS, "-1").is_ok());
    }
}
