//! What is answered to a request: a file of the page, or something of the repository to who has the token.

use crate::web::content::Content;
use crate::web::headers;
use crate::web::names::Names;
use crate::web::rest::{Rest, refusal, success};
use crate::web::site::Site;
use crate::web::token::Token;
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use std::sync::atomic::{AtomicBool, Ordering};

/// Everything that is served.
pub struct Service {
    names: Names,
    site: Site,
    repository: Option<(Rest, Token)>,
    is_opened: AtomicBool,
}

impl Service {
    /// Serves the page under these names, and beside it a repository to who has the token.
    pub fn new(names: Names, site: Site, repository: Option<(Rest, Token)>) -> Service {
        Service { names, site, repository, is_opened: AtomicBool::new(false) }
    }

    /// Whether the page has come with the token.
    pub fn is_opened(&self) -> bool {
        self.is_opened.load(Ordering::Relaxed)
    }

    /// Answers to a request.
    pub async fn answer(&self, request: Request<Incoming>) -> Response<Content> {
        let mut answer = if !self.names.admit(&request) {
            refusal((StatusCode::MISDIRECTED_REQUEST, "this server has another name"))
        } else if request.uri().path().starts_with(super::REPOSITORY) {
            self.of_repository(request).await
        } else {
            self.of_page(&request)
        };
        headers::add(answer.headers_mut());
        answer
    }

    async fn of_repository(&self, request: Request<Incoming>) -> Response<Content> {
        let Some((rest, token)) = &self.repository else {
            return refusal((StatusCode::NOT_FOUND, "no repository is served"));
        };
        if !self.names.is_own(&request) {
            return refusal((StatusCode::FORBIDDEN, "only the page of this server may ask"));
        }
        if !token.is_in(request.headers().get(AUTHORIZATION)) {
            let mut answer = refusal((StatusCode::UNAUTHORIZED, "the token is missing, or that of an earlier run"));
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            return answer;
        }
        self.is_opened.store(true, Ordering::Relaxed);
        rest.answer(request).await
    }

    fn of_page(&self, request: &Request<Incoming>) -> Response<Content> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return refusal((StatusCode::METHOD_NOT_ALLOWED, "files of the page can only be read"));
        }
        let Some(file) = self.site.find(request.uri().path()) else {
            return refusal((StatusCode::NOT_FOUND, "the page has no such file"));
        };
        let known = request.headers().get(IF_NONE_MATCH).and_then(|known| known.to_str().ok()).unwrap_or_default();
        let is_known = known.split(',').any(|known| known.trim().trim_start_matches("W/") == file.etag);
        let mut answer = if is_known {
            let mut answer = Response::new(Content::bytes(Bytes::new()));
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
            answer
        } else {
            success(file.media_type, Content::bytes(file.content.clone()))
        };
        let kept = if file.is_immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(kept));
        let etag = HeaderValue::from_str(&file.etag).expect("hexadecimal digits in quotes");
        answer.headers_mut().insert(ETAG, etag);
        answer
    }
}
