//! The styles that a pattern can be written in.

/// How a pattern is read and matched (data layer, section 14.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Style {
    /// `fm`: a shell glob whose `*` and `?` also match `/`.
    Fm,
    /// `sh`: a shell glob with `**/` for directories and `{a,b}` for alternatives.
    Sh,
    /// `re`: a regular expression of Python's dialect, found anywhere in the path.
    Re,
    /// `pp`: a path, and everything below it.
    Pp,
    /// `pf`: exactly this path; consulted before patterns of all other styles.
    Pf,
}

impl Style {
    /// Every style.
    pub const ALL: [Style; 5] = [Style::Fm, Style::Sh, Style::Re, Style::Pp, Style::Pf];

    /// The two letters that select this style, without the colon.
    pub fn prefix(self) -> &'static str {
        match self {
            Style::Fm => "fm",
            Style::Sh => "sh",
            Style::Re => "re",
            Style::Pp => "pp",
            Style::Pf => "pf",
        }
    }

    /// The style that `prefix` (without the colon) selects.
    pub fn from_prefix(prefix: &str) -> Option<Style> {
        Style::ALL.into_iter().find(|style| style.prefix() == prefix)
    }
}
