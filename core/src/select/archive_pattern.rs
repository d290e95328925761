//! One `-a` value or NAME argument.

use super::candidate::Candidate;
use super::date::{DateRange, Zones};
use super::error::SelectError;
use crate::bytes::{Hex, lossy};
use crate::pattern::{Flags, PatternError, PythonRegex, shell_to_python, to_text};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A pattern for archives (data layer, section 15).
#[derive(Debug, Clone)]
pub struct ArchivePattern {
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// The id in hexadecimal starts with it.
    Aid(String),
    /// All of them are there.
    Tags(Vec<String>),
    User(String),
    Host(String),
    Date(DateRange),
    Name(String),
    /// The expression matches the name from start to end.
    NameRegex {
        given: String,
        regex: Box<PythonRegex>,
    },
}

impl ArchivePattern {
    /// Reads a pattern, after its placeholders were replaced.
    ///
    /// # Errors
    /// A `date:`, `sh:` or `re:` pattern that is not valid.
    pub fn parse(text: &str, zones: &(impl Zones + ?Sized)) -> Result<ArchivePattern, SelectError> {
        let kind = if let Some(start) = text.strip_prefix("aid:") {
            Kind::Aid(start.into())
        } else if let Some(tags) = text.strip_prefix("tags:") {
            Kind::Tags(tags.split(',').filter(|tag| !tag.is_empty()).map(String::from).collect())
        } else if let Some(user) = text.strip_prefix("user:") {
            Kind::User(user.into())
        } else if let Some(host) = text.strip_prefix("host:") {
            Kind::Host(host.into())
        } else if let Some(date) = text.strip_prefix("date:") {
            let bad_date = |fault| SelectError::BadDate { pattern: text.into(), fault };
            Kind::Date(DateRange::parse(date, zones).map_err(bad_date)?)
        } else {
            Kind::name(text.strip_prefix("name:").unwrap_or(text))?
        };
        Ok(ArchivePattern { kind })
    }

    /// Whether the archive is meant.
    ///
    /// # Errors
    /// A `re:` pattern that takes too long on the name.
    pub fn matches(&self, archive: &impl Candidate) -> Result<bool, SelectError> {
        Ok(match &self.kind {
            Kind::Aid(start) => Hex(&archive.id().0).to_string().starts_with(start.as_str()),
            Kind::Tags(tags) => tags.iter().all(|wanted| archive.tags().any(|tag| tag == wanted.as_bytes())),
            Kind::User(user) => archive.user() == user.as_bytes(),
            Kind::Host(host) => archive.host() == host.as_bytes(),
            Kind::Date(range) => range.contains(archive.time()),
            Kind::Name(name) => archive.name() == name.as_bytes(),
            Kind::NameRegex { given, regex } => match regex.is_match(&to_text(archive.name())) {
                Some(matches) => matches,
                None => {
                    let name = lossy(archive.name()).0.into_owned();
                    return Err(PatternError::TooComplex { pattern: given.clone(), path: name }.into());
                }
            },
        })
    }

    /// Whether this is an `aid:` pattern, which must leave exactly one archive.
    pub fn must_leave_one(&self) -> bool {
        matches!(self.kind, Kind::Aid(_))
    }
}

impl Kind {
    fn name(text: &str) -> Result<Kind, SelectError> {
        let (given, expression) = match text.split_at_checked(3) {
            Some(("sh:", glob)) => (glob, shell_to_python(glob)),
            Some(("re:", expression)) => (expression, expression.into()),
            Some(("id:", name)) => return Ok(Kind::Name(name.into())),
            _ => return Ok(Kind::Name(text.into())),
        };
        let bad_regex = |fault| PatternError::BadRegex { pattern: given.into(), fault };
        let regex = Box::new(PythonRegex::anchored(&expression, Flags::default()).map_err(bad_regex)?);
        Ok(Kind::NameRegex { given: given.into(), regex })
    }
}
