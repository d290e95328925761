//! Texts that are stored with an archive: comment and tags (data layer, section 9.1).

/// More are no comment.
const MAX_COMMENT_CHARS: usize = 10_000;
/// More are no tag.
const MAX_TAG_CHARS: usize = 10;
/// Tags that mean something; no others begin with `@`.
const SPECIAL_TAGS: [&str; 1] = ["@PROT"];

/// A comment that an archive may have.
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

/// A tag that an archive may have.
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
