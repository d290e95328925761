//! Leaving out directories because of what is in them (command line, section 0.3).

use clap::Args;
use std::ffi::OsString;

/// Which objects in a directory mean that it is left out.
#[derive(Debug, Clone, Default, Args)]
pub struct TagFiles {
    /// exclude directories that contain a CACHEDIR.TAG file (<https://www.bford.info/cachedir/spec.html>)
    #[arg(long, help_heading = "Include/Exclude options")]
    pub exclude_caches: bool,

    /// exclude directories that are tagged by containing a filesystem object with the given NAME
    #[arg(long, value_name = "NAME", help_heading = "Include/Exclude options")]
    pub exclude_if_present: Vec<OsString>,

    /// if tag objects are specified with --exclude-if-present, do not omit the tag objects themselves from the backup
    /// archive
    #[arg(long, help_heading = "Include/Exclude options")]
    pub keep_exclude_tags: bool,
}
