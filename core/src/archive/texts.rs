//! What may be stored as an archive's name, comment and tags (data layer, section 9.1; command line, section 5.2).

use alloc::format;
use alloc::string::String;

/// A name that an archive may have: neither a path nor a repository with an archive, as Borg 1 had them.
pub fn archive_name(text: &str) -> Result<String, String> {
    let why = if text.is_empty() {
        "[length < 1]".into()
    } else if text.chars().count() > MAX_NAME_CHARS {
        format!("[length > {MAX_NAME_CHARS}]")
    } else if text.contains(|c| c < ' ') {
        "[invalid control chars detected]".into()
    } else if text.contains(['/', '\\', '"', '<', '|', '>', '?', '*']) {
        let hint =
            if text.contains("::") { "; give the repository as --repo REPO, and here only the name" } else { "" };
        format!(r#"[invalid chars detected matching "/\"<|>?*"]{hint}"#)
    } else if text.starts_with(' ') || text.ends_with(' ') {
        "[leading or trailing blanks detected]".into()
    } else {
        return Ok(text.into());
    };
    Err(format!("Invalid archive name: \"{text}\" {why}"))
}

/// A comment that an archive may have, or why it is none.
pub fn comment(text: &str) -> Result<String, String> {
    let why = if text.chars().count() > MAX_COMMENT_CHARS {
        format!("[length > {MAX_COMMENT_CHARS}]")
    } else if text.contains('\0') {
        "[contains NUL bytes]".into()
    } else {
        return Ok(text.into());
    };
    Err(format!("Invalid comment: {why}"))
}

/// A tag that an archive may have, or why it is none.
pub fn tag(text: &str) -> Result<String, String> {
    let why = if text.is_empty() {
        "[length < 1]".into()
    } else if text.chars().count() > MAX_TAG_CHARS {
        format!("[length > {MAX_TAG_CHARS}]")
    } else if text.contains([' ', ',', '$', '\0']) {
        "[contains invalid characters]".into()
    } else if text.starts_with('@') && !SPECIAL_TAGS.contains(&text) {
        return Err(format!("Unknown special tags given. Known are: {}", SPECIAL_TAGS.join(", ")));
    } else {
        return Ok(text.into());
    };
    Err(format!("Invalid tag: \"{text}\" {why}"))
}

/// More are no name of an archive, since it must do as the name of a folder.
const MAX_NAME_CHARS: usize = 200;
/// More are no comment.
const MAX_COMMENT_CHARS: usize = 10_000;
/// More are no tag.
const MAX_TAG_CHARS: usize = 10;
/// Tags that mean something; no others begin with `@`.
const SPECIAL_TAGS: [&str; 1] = ["@PROT"];
