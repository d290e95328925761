//! INI texts as Python's configparser writes and reads them, as far as configs use them: no interpolation, no values over several
//! lines.

/// A line that is neither a section, a setting nor a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotIni;

/// A setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting<'t> {
    /// The section that it stands in.
    pub section: &'t str,
    /// Its name, as written.
    pub key: &'t str,
    /// Its value.
    pub value: &'t str,
}

/// The settings of a text, in its order.
pub fn settings(text: &str) -> impl Iterator<Item = Result<Setting<'_>, NotIni>> {
    let mut section = "";
    text.lines().map(str::trim).filter_map(move |line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return None;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
            return None;
        }
        let setting = line.split_once(['=', ':']).ok_or(NotIni);
        Some(setting.map(|(key, value)| Setting { section, key: key.trim(), value: value.trim() }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn settings_have_sections_and_comments_are_none() {
        let text = "# head\n; too\nearly = 1\n[one]\n a = b = c \nd: e\n\n[two]\na =\n";
        let settings: Vec<_> =
            settings(text).map(|setting| setting.unwrap()).map(|s| (s.section, s.key, s.value)).collect();
        assert_eq!(settings, [("", "early", "1"), ("one", "a", "b = c"), ("one", "d", "e"), ("two", "a", "")]);
        assert_eq!(super::settings("[a]\nnothing").last(), Some(Err(NotIni)));
    }
}
