//! The keys that a passphrase is tried on (repository layer, section 3.4).

use crate::failure::{Failure, Fault};
use portaborg_core::crypto::store_hash;
use portaborg_core::id::RepositoryId;
use portaborg_core::key::{
    KeyLocation, KeySource, PaperError, PaperReader, is_key, is_key_of, key_text, repository_of,
};

/// What the first line of a paper key begins with.
const PAPER_ID: &str = "id:";

/// The key in a text that was handed in: of a key file, or of a paper key.
pub fn handed_in(text: &str, repository: RepositoryId) -> Result<KeySource, Failure> {
    let text = if is_key(text.as_bytes()) { text.to_owned() } else { from_paper(text, repository)? };
    if is_key_of(text.as_bytes(), repository) {
        let text = text.into_bytes();
        return Ok(KeySource { location: KeyLocation::Keyfile, name: store_hash(&text), text });
    }
    Err(match repository_of(text.as_bytes()) {
        Some(other) => mismatch(format_args!("the key is that of repository {other}")),
        None => invalid("it is no key of a repository"),
    })
}

fn from_paper(text: &str, repository: RepositoryId) -> Result<String, Failure> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| !line.starts_with(PAPER_ID));
    let first = lines.next().ok_or_else(|| invalid("it is neither a key file nor a paper key"))?;
    let on_paper = |error: PaperError| invalid(&error.to_string());
    let mut reader = PaperReader::new(&first[PAPER_ID.len()..]).map_err(on_paper)?;
    if !reader.is_of(repository) {
        return Err(mismatch(format_args!("the paper key is that of another repository")));
    }
    for line in lines.filter(|line| !line.is_empty()) {
        let digits = line.split_once(':').map_or(line, |(_, digits)| digits);
        reader.line(digits).map_err(on_paper)?;
    }
    Ok(key_text(repository, &reader.finish().map_err(on_paper)?))
}

fn invalid(why: &str) -> Failure {
    let text = format!("The key that was given can not be used: {why}.");
    Failure::new(Fault::Refused, "KeyfileInvalidError", "key", text)
}

fn mismatch(why: std::fmt::Arguments<'_>) -> Failure {
    let text = format!("Mismatch between the repository and the key that was given: {why}.");
    Failure::new(Fault::Refused, "KeyfileMismatchError", "key", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portaborg_core::key::paper_text;

    const REPOSITORY: RepositoryId = RepositoryId([7; 32]);

    #[test]
    fn a_key_is_taken_from_a_file_or_from_paper() {
        let blob = [5; 100];
        let file = key_text(REPOSITORY, &blob);
        let paper = paper_text(REPOSITORY, &blob);
        for text in [&file, &paper, &format!("\n  {}\n\n", paper.replace('\n', "\r\n"))] {
            assert_eq!(handed_in(text, REPOSITORY).unwrap().text, file.as_bytes());
        }
    }

    #[test]
    fn what_is_no_key_of_the_repository_is_refused() {
        let other = key_text(RepositoryId([8; 32]), &[5; 100]);
        let paper = paper_text(RepositoryId([8; 32]), &[5; 100]);
        let mistyped = paper_text(REPOSITORY, &[5; 100]).replacen("0505", "0506", 1);
        let codes = [&other, &paper, &mistyped, "", "hello"].map(|text| handed_in(text, REPOSITORY).unwrap_err().code);
        let (mismatch, invalid) = ("KeyfileMismatchError", "KeyfileInvalidError");
        assert_eq!(codes, [mismatch, mismatch, invalid, invalid, invalid]);
    }
}
