//! All filters of a command line, in their order.

use super::archive_pattern::ArchivePattern;
use super::candidate::Candidate;
use super::date::Zones;
use super::error::SelectError;
use super::sort::{SortKey, sort};
use super::timespan::TimeSpan;
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;

/// Which archives are considered, and in which order (command line, section 0.2). The default is all, as they come.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// NAME and `--match-archives`: all must match.
    pub patterns: Vec<String>,
    /// `--older`: from this long ago on back.
    pub older: Option<TimeSpan>,
    /// `--newer`: since this long ago.
    pub newer: Option<TimeSpan>,
    /// `--oldest`: from the oldest archive to this long after it.
    pub oldest: Option<TimeSpan>,
    /// `--newest`: from this long before the newest archive to that one.
    pub newest: Option<TimeSpan>,
    /// `--sort-by`: the first key is the primary one.
    pub sort_by: Vec<SortKey>,
    /// `--first`: only so many from the start.
    pub first: Option<usize>,
    /// `--last`: only so many from the end; not looked at if `first` is given.
    pub last: Option<usize>,
    /// The other way round in the end.
    pub reverse: bool,
}

impl Selection {
    /// Applies patterns, then `older` and `newer` (as seen from `now`), `oldest` and `newest` (as seen from what is left),
    /// the order, `first` or `last`, and `reverse`.
    ///
    /// # Errors
    /// A pattern that is not valid, or an `aid:` pattern that does not leave exactly one archive.
    pub fn select<T: Candidate>(
        &self,
        archives: Vec<T>,
        now: Timestamp,
        zones: &(impl Zones + ?Sized),
    ) -> Result<Vec<T>, SelectError> {
        let mut archives = matching(&self.patterns, archives, zones)?;
        if let Some(span) = self.older {
            let until = span.before(now, 0);
            archives.retain(|archive| archive.time() <= until);
        }
        if let Some(span) = self.newer {
            let from = span.before(now, 0);
            archives.retain(|archive| archive.time() >= from);
        }
        // Both ends are taken before either filter is applied.
        let oldest = archives.iter().min_by_key(|archive| archive.time());
        let until = oldest.zip(self.oldest).map(|(oldest, span)| span.after(oldest.time(), oldest.utc_offset_secs()));
        let newest = archives.iter().max_by_key(|archive| archive.time());
        let from = newest.zip(self.newest).map(|(newest, span)| span.before(newest.time(), newest.utc_offset_secs()));
        archives.retain(|archive| {
            until.is_none_or(|until| archive.time() <= until) && from.is_none_or(|from| archive.time() >= from)
        });
        sort(&mut archives, &self.sort_by);
        match (self.first, self.last) {
            (Some(first), _) => archives.truncate(first),
            (None, Some(last)) => drop(archives.drain(..archives.len().saturating_sub(last))),
            (None, None) => {}
        }
        if self.reverse {
            archives.reverse();
        }
        Ok(archives)
    }
}

/// The one archive that all patterns match: what commands that work on one archive take NAME for.
///
/// # Errors
/// None or several match ([`SelectError::NotOne`]), or a pattern is not valid.
pub fn select_one<T: Candidate>(
    patterns: &[String],
    archives: Vec<T>,
    zones: &(impl Zones + ?Sized),
) -> Result<T, SelectError> {
    let mut archives = matching(patterns, archives, zones)?;
    let matched = archives.len();
    match archives.pop() {
        Some(archive) if matched == 1 => Ok(archive),
        _ => Err(SelectError::NotOne { patterns: patterns.to_vec(), matched }),
    }
}

/// The archives that all patterns match. A pattern is read only when those before it were applied, so that the first
/// problem is the one that is told.
fn matching<T: Candidate>(
    patterns: &[String],
    mut archives: Vec<T>,
    zones: &(impl Zones + ?Sized),
) -> Result<Vec<T>, SelectError> {
    for text in patterns {
        let pattern = ArchivePattern::parse(text, zones)?;
        let mut kept = Vec::with_capacity(archives.len());
        for archive in archives {
            if pattern.matches(&archive)? {
                kept.push(archive);
            }
        }
        if pattern.must_leave_one() && kept.len() != 1 {
            return Err(SelectError::AidNotUnique { matched: kept.len() });
        }
        archives = kept;
    }
    Ok(archives)
}

#[cfg(test)]
mod tests {
    use super::super::date::tests::TestZones;
    use super::*;
    use crate::id::ArchiveId;
    use alloc::format;
    use alloc::string::ToString;
    use serde_json::Value;

    /// An archive of the fixture `series`: the first four digits of its id, name, time (all are of 2025-03) and tags.
    struct Archive(&'static str, &'static str, &'static str, &'static str);

    impl Candidate for Archive {
        fn id(&self) -> ArchiveId {
            format!("{}{}", self.0, "0".repeat(60)).parse().unwrap()
        }
        fn name(&self) -> &[u8] {
            self.1.as_bytes()
        }
        fn user(&self) -> &[u8] {
            b"fixture"
        }
        fn host(&self) -> &[u8] {
            b"fixture-host"
        }
        fn tags(&self) -> impl Iterator<Item = &[u8]> {
            self.3.split(',').filter(|tag| !tag.is_empty()).map(str::as_bytes)
        }
        fn time(&self) -> Timestamp {
            Timestamp::parse_iso(&format!("2025-03-{}", self.2)).unwrap()
        }
    }

    /// In the order in which the store lists them: by id.
    fn series() -> Vec<Archive> {
        let mut archives = Vec::from([
            Archive("e2dd", "series", "01T04:05:06", ""),
            Archive("e7e5", "series", "01T22:35:06", "tag1,ümlaut"),
            Archive("a00b", "series", "03T13:05:06", "@PROT,keep"),
            Archive("6edc", "renamed näme", "04T04:05:06", ""),
            Archive("1b83", "tocopy", "05T04:05:06", "later"),
            Archive("3c17", "copied", "05T04:05:06", ""),
            Archive("403d", "torecreate", "07T04:05:06", ""),
            Archive("dc06", "digests", "08T04:05:06", ""),
            Archive("f6d0", "fromcommand", "09T04:05:06", ""),
            Archive("b9c8", "fromstdin", "10T04:05:06", ""),
            Archive("569e", "pathsfromstdin", "11T04:05:06", ""),
            Archive("6eea", "nofiles", "12T04:05:06", ""),
            Archive("3a2d", "imported-gnu", "13T04:05:06", ""),
            Archive("8090", "imported-pax", "14T04:05:06", ""),
            Archive("11d9", "imported-borg", "15T04:05:06", ""),
            Archive("d536", "slash-paths", "16T04:05:06", ""),
            Archive("d4a5", "slashdot", "17T04:05:06", ""),
            Archive("236a", "excluded", "18T04:05:06", ""),
        ]);
        archives.sort_by_key(|archive| archive.0);
        archives
    }

    /// Selects by options as they stand on a command line.
    fn select(options: &str) -> Result<String, SelectError> {
        let mut selection = Selection { sort_by: SortKey::parse_list("timestamp").unwrap(), ..Selection::default() };
        let words: Vec<&str> = options.split_whitespace().collect();
        for option in words.chunks(2) {
            let value = option[1];
            match option[0] {
                "-a" => selection.patterns.push(value.into()),
                "--sort-by" => selection.sort_by = SortKey::parse_list(value).unwrap(),
                "--older" => selection.older = Some(value.parse().unwrap()),
                "--newer" => selection.newer = Some(value.parse().unwrap()),
                "--oldest" => selection.oldest = Some(value.parse().unwrap()),
                "--newest" => selection.newest = Some(value.parse().unwrap()),
                "--first" => selection.first = Some(value.parse().unwrap()),
                "--last" => selection.last = Some(value.parse().unwrap()),
                "--reverse" => selection.reverse = value == "yes",
                other => panic!("{other}"),
            }
        }
        let now = Timestamp::parse_iso("2025-03-31T00:00:00").unwrap();
        let archives = selection.select(series(), now, &TestZones)?;
        Ok(archives.iter().map(|archive| archive.0).collect::<Vec<_>>().join(" "))
    }

    /// What the real client's `repo-list` prints for the fixture.
    #[test]
    fn archives_are_those_that_borg_selects_and_in_its_order() {
        for (options, expected) in [
            ("", "e2dd e7e5 a00b 6edc 1b83 3c17 403d dc06 f6d0 b9c8 569e 6eea 3a2d 8090 11d9 d536 d4a5 236a"),
            (
                "--sort-by name",
                "3c17 dc06 236a f6d0 b9c8 11d9 3a2d 8090 6eea 569e 6edc a00b e2dd e7e5 d536 d4a5 1b83 403d",
            ),
            (
                "--sort-by tags,name",
                "3c17 dc06 236a f6d0 b9c8 11d9 3a2d 8090 6eea 569e 6edc e2dd d536 d4a5 403d a00b 1b83 e7e5",
            ),
            (
                "--sort-by id",
                "11d9 1b83 236a 3a2d 3c17 403d 569e 6edc 6eea 8090 a00b b9c8 d4a5 d536 dc06 e2dd e7e5 f6d0",
            ),
            ("--sort-by archive,timestamp --first 3", "3c17 dc06 236a"),
            ("--last 4", "11d9 d536 d4a5 236a"),
            ("--oldest 1d", "e2dd e7e5"),
            ("--newest 3d", "11d9 d536 d4a5 236a"),
            ("--newest 1w --first 2", "569e 6eea"),
            ("--oldest 1w --sort-by host,name --last 3", "e7e5 1b83 403d"),
            ("-a tags:keep", "a00b"),
            ("-a tags:tag1,ümlaut", "e7e5"),
            ("-a tags: --first 1", "e2dd"),
            ("-a series", "e2dd e7e5 a00b"),
            ("-a name:series", "e2dd e7e5 a00b"),
            ("-a series --last 1", "a00b"),
            ("-a id:sh:x", ""),
            ("-a re:im", ""),
            ("-a re:im|sl", "3a2d 8090 11d9"),
            ("-a re:im.* -a sh:*-{gnu,borg}", "3a2d 11d9"),
            ("-a sh:{to,from}* --sort-by name", "f6d0 b9c8 1b83 403d"),
            ("-a aid:6ed", "6edc"),
            ("-a aid:6ed -a series", ""),
            ("-a host:fixture-host -a user:fixture --sort-by user,tags,id --last 5", "e2dd f6d0 a00b 1b83 e7e5"),
            ("-a host:nohost", ""),
            ("-a date:2025-03-05", "1b83 3c17"),
            ("-a date:2025-03-05+14:00", "1b83 3c17"),
            ("-a date:2025-03-01T23+01:00", "e7e5"),
            ("-a date:2025-03-03T13:05:06", "a00b"),
            ("-a date:2025-03-03T13:05:06.0", "a00b"),
            ("-a date:2025-03-03T13:05:06.5", ""),
            ("-a date:2025-03-17T00[America/New_York]", "d4a5"),
            ("-a date:2025-03-03[America/New_York]", "a00b 6edc"),
        ] {
            assert_eq!(select(options).as_deref(), Ok(expected), "{options}");
        }
    }

    /// `now` is 2025-03-31 here, so these can't be tried with the real client.
    #[test]
    fn spans_from_now_come_before_those_from_the_rest() {
        for (options, expected) in [
            ("--older 16d", "e2dd e7e5 a00b 6edc 1b83 3c17 403d dc06 f6d0 b9c8 569e 6eea 3a2d 8090"),
            ("--newer 15d", "d536 d4a5 236a"),
            ("--older 29d --newest 1d", "e2dd e7e5"),
            ("--newer 2w --oldest 24H", "d4a5 236a"),
            ("--older 99999y", ""),
            ("--newer 99999y --first 2 --reverse yes", "e7e5 e2dd"),
            ("--older 1m", ""),
        ] {
            assert_eq!(select(options).as_deref(), Ok(expected), "{options}");
        }
    }

    #[test]
    fn aid_and_name_must_leave_one() {
        assert_eq!(select("-a aid:6e"), Err(SelectError::AidNotUnique { matched: 2 }));
        assert_eq!(select("-a series -a aid:6ed"), Err(SelectError::AidNotUnique { matched: 0 }));
        let one = |pattern: &str| select_one(&[pattern.into()], series(), &TestZones);
        assert_eq!(one("tocopy").map(|archive| archive.0), Ok("1b83"));
        assert_eq!(
            one("series").map(|archive| archive.0).unwrap_err().to_string(),
            "['series'] needed to match precisely one archive, but matched 3."
        );
        assert!(matches!(one("nix"), Err(SelectError::NotOne { matched: 0, .. })));
    }

    #[test]
    fn the_first_problem_is_the_one_that_is_told() {
        assert_eq!(select("-a aid:6e -a date:x"), Err(SelectError::AidNotUnique { matched: 2 }));
        assert!(matches!(select("-a date:x -a aid:6e"), Err(SelectError::BadDate { .. })));
        assert!(matches!(select("-a re:("), Err(SelectError::BadPattern(_))));
    }

    #[test]
    fn names_match_as_in_borg() {
        let vectors: Value = serde_json::from_str(include_str!("../../tests/vectors/data.json")).unwrap();
        let cases = vectors["archive_name_patterns"].as_array().unwrap();
        assert_eq!(cases.len(), 6);
        let mut names: Vec<&'static str> = Vec::new();
        for name in cases.iter().flat_map(|case| case["matches"].as_array().unwrap()) {
            names.push(name.as_str().unwrap().to_string().leak());
        }
        names.sort_unstable();
        names.dedup();
        for case in cases {
            let selection =
                Selection { patterns: [case["pattern"].as_str().unwrap().into()].into(), ..Default::default() };
            let archives = names.iter().map(|name| Archive("0000", name, "01T00:00:00", "")).collect();
            let matching = selection.select(archives, Timestamp::default(), &TestZones).unwrap();
            let mut expected: Vec<_> =
                case["matches"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
            expected.sort_unstable();
            assert_eq!(matching.iter().map(|archive| archive.1).collect::<Vec<_>>(), expected, "{case}");
        }
    }
}
