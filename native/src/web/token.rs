//! The secret without which nothing of the repository is given.

use crate::client::random;
use crate::failure::Failure;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hyper::header::HeaderValue;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A random text that the page is given in its URL's fragment, which is never sent, and sends in a header.
pub struct Token(Zeroizing<String>);

impl Token {
    /// A new one.
    pub fn new() -> Result<Token, Failure> {
        Ok(Token(Zeroizing::new(BASE64_URL_SAFE_NO_PAD.encode(*random::secret::<TOKEN_BYTES>()?))))
    }

    /// Its text, in letters that a URL takes as they are.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether an `Authorization` header has it. How long this takes tells nothing of the token.
    pub fn is_in(&self, header: Option<&HeaderValue>) -> bool {
        let given = header.and_then(|value| value.as_bytes().split_at_checked(SCHEME.len()));
        given.is_some_and(|(scheme, text)| scheme.eq_ignore_ascii_case(SCHEME) && text.ct_eq(self.0.as_bytes()).into())
    }
}

const SCHEME: &[u8] = b"Bearer ";
/// 256 bits: nobody guesses it.
const TOKEN_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_taken() {
        let token = Token::new().unwrap();
        let text = token.text();
        assert_eq!(text.len(), 43);
        let takes = |header: String| token.is_in(Some(&HeaderValue::from_str(&header).unwrap()));
        assert!(takes(format!("Bearer {text}")) && takes(format!("bearer {text}")));
        assert!(!token.is_in(None));
        for wrong in ["", "Bearer", "Bearer ", text, &format!("Basic {text}"), &format!("Bearer {}", &text[1..])] {
            assert!(!takes(wrong.into()), "{wrong}");
        }
        assert!(!takes(format!("Bearer {text}x")) && !takes(format!("Bearer {}", Token::new().unwrap().text())));
    }
}
