//! How objects of the file system are chosen and read for an archive (command line, section 1.2, `create`).

use super::tag_files::TagFiles;
use crate::backup::{FilesChanged, Selection, read, walk};
use crate::system::ffi::OsStrExt;
use clap::Args;
use portaborg_core::files_cache::Mode;
use std::num::NonZeroU8;
use std::time::Duration;

/// What is archived of which objects, apart from patterns and paths.
#[derive(Debug, Clone, Default, Args)]
pub struct Source {
    /// Directories with tags.
    #[command(flatten)]
    pub tag_files: TagFiles,

    /// exclude files flagged DATALESS (macOS: placeholder files whose content is not materialized locally, e.g.
    /// not-downloaded cloud storage files)
    #[arg(long, help_heading = "Include/Exclude options")]
    pub exclude_dataless: bool,

    /// stay in the same file system: do not enter directories with another device number, such as mount points. On btrfs, each
    /// subvolume has its own.
    #[arg(short = 'x', long, help_heading = "Filesystem options")]
    pub one_file_system: bool,

    /// only store numeric user and group identifiers
    #[arg(long, help_heading = "Filesystem options")]
    pub numeric_ids: bool,

    /// do store atime into archive
    #[arg(long, help_heading = "Filesystem options")]
    pub atime: bool,

    /// do not store ctime into archive
    #[arg(long, help_heading = "Filesystem options")]
    pub noctime: bool,

    /// do not store birthtime (creation date) into archive
    #[arg(long, help_heading = "Filesystem options")]
    pub nobirthtime: bool,

    /// do not read and store flags (e.g. NODUMP, IMMUTABLE) into archive
    #[arg(long, help_heading = "Filesystem options")]
    pub noflags: bool,

    /// do not read and store ACLs into archive
    #[arg(long, help_heading = "Filesystem options")]
    pub noacls: bool,

    /// do not read and store xattrs into archive
    #[arg(long, help_heading = "Filesystem options")]
    pub noxattrs: bool,

    /// detect sparse holes in input and seek over them instead of reading them
    #[arg(long, help_heading = "Filesystem options")]
    pub sparse: bool,

    /// by what is noticed that a file is not as it was archived last (ctime,size,inode, mtime,size,inode, ctime,size,
    /// mtime,size or size), or read files in any case (rechunk,ctime, rechunk,mtime, or disabled, which remembers none).
    /// default: ctime,size,inode
    #[arg(long = "files-cache", value_name = "MODE", default_value = "ctime,size,inode", hide_default_value = true)]
    #[arg(help_heading = "Filesystem options")]
    pub files_cache_mode: Mode,

    /// specify how to detect if a file has changed during backup (ctime, mtime, disabled). default: ctime
    #[arg(long, value_name = "MODE", value_enum, default_value_t, hide_default_value = true)]
    #[arg(hide_possible_values = true, help_heading = "Filesystem options")]
    pub files_changed: FilesChanged,

    /// how many threads read at once: 1 for a disk that turns. default: as many as work
    #[arg(long, value_name = "N", help_heading = "Filesystem options")]
    pub readers: Option<NonZeroU8>,

    /// open and read block and char device files as well as FIFOs as if they were regular files. Also follows symlinks
    /// pointing to these kinds of files.
    #[arg(long, help_heading = "Filesystem options")]
    pub read_special: bool,

    /// when reading from FIFOs or character devices (see --read-special): skip the file with an error if no data arrives
    /// for more than SECONDS (this includes waiting for a FIFO's writer to connect). Give 0 to wait forever. default:
    /// 1800 seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    #[arg(help_heading = "Filesystem options")]
    pub read_special_timeout: Option<Duration>,
}

impl Source {
    /// Where the walk goes.
    pub fn walk(&self) -> walk::Options {
        walk::Options {
            one_file_system: self.one_file_system,
            exclude_caches: self.tag_files.exclude_caches,
            exclude_if_present: self.tag_files.exclude_if_present.iter().map(|name| name.as_bytes().to_vec()).collect(),
            keep_exclude_tags: self.tag_files.keep_exclude_tags,
            exclude_dataless: self.exclude_dataless,
        }
    }

    /// Which attributes are stored.
    pub fn selection(&self) -> Selection {
        Selection {
            numeric_ids: self.numeric_ids,
            atime: self.atime,
            ctime: !self.noctime,
            birthtime: !self.nobirthtime,
            flags: !self.noflags,
            acls: !self.noacls,
            xattrs: !self.noxattrs,
        }
    }

    /// How contents are read.
    pub fn reading(&self) -> read::Options {
        let default = read::Options::default();
        read::Options {
            sparse: self.sparse,
            files_changed: self.files_changed,
            special: self.read_special,
            special_timeout: match self.read_special_timeout {
                Some(Duration::ZERO) => None,
                Some(timeout) => Some(timeout),
                None => default.special_timeout,
            },
            mapped: None,
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let secs: f64 = text.trim().parse().map_err(|_| format!("invalid seconds value: '{text}'"))?;
    if secs.is_nan() || secs < 0.0 {
        return Err("seconds value must be >= 0".into());
    }
    Ok(Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        source: Source,
    }

    fn parse(options: &[&str]) -> Result<Source, clap::Error> {
        Line::try_parse_from([&["create"], options].concat()).map(|line| line.source)
    }

    #[test]
    fn without_options_the_defaults_are_the_same_everywhere() {
        let source = parse(&[]).unwrap();
        assert_eq!(source.walk(), walk::Options::default());
        assert_eq!(source.selection(), Selection::default());
        assert_eq!(source.reading(), read::Options::default());
        assert_eq!(source.files_cache_mode, Mode::default());
    }

    #[test]
    fn options_arrive_where_they_belong() {
        let source = parse(&["--exclude-if-present", ".a", "--exclude-if-present=.b", "-x", "--keep-exclude-tags"]);
        let walk = source.unwrap().walk();
        assert_eq!(walk.exclude_if_present, [b".a", b".b"]);
        assert!(walk.one_file_system && walk.keep_exclude_tags && !walk.exclude_caches);
        let selection = parse(&["--noxattrs", "--atime"]).unwrap().selection();
        assert_eq!(selection, Selection { xattrs: false, atime: true, ..Selection::default() });
        let reading = parse(&["--files-changed", "mtime", "--sparse"]).unwrap().reading();
        assert_eq!((reading.files_changed, reading.sparse), (FilesChanged::Mtime, true));
        assert!(parse(&["--files-cache", "ctime,mtime"]).is_err());
    }

    #[test]
    fn waiting_has_a_limit_or_none() {
        let timeout = |text: &str| Some(parse(&["--read-special-timeout", text]).ok()?.reading().special_timeout);
        assert_eq!(timeout("2.5"), Some(Some(Duration::from_millis(2500))));
        assert_eq!(timeout("0"), Some(None));
        assert_eq!(timeout("inf"), Some(Some(Duration::MAX)));
        for text in ["-1", "nan", "soon"] {
            assert_eq!(timeout(text), None, "{text}");
        }
    }
}
