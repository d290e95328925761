//! NAME arguments (command line, section 5.2).

/// More are no name of an archive, since it must do as the name of a folder.
const MAX_NAME_CHARS: usize = 200;

/// An archive's NAME: neither a path nor a repository with an archive, as Borg 1 had them.
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
