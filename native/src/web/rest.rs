//! The repository, by the protocol of borgstore's server (repository layer, section 1.7), as far as it reads.
//!
//! No lock is held: locks are sealed with the repository's key, which this program is not given. What is removed meanwhile is
//! missing to the page, which says so.

use crate::repository::permissions::{Permissions, Right};
use crate::web::content::{Content, Extent};
use crate::web::folder::{Info, Name, Refusal, ServedFolder};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderValue, RANGE};
use hyper::{Method, Request, Response, StatusCode};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// What answers to requests for a repository.
pub struct Rest {
    folder: Arc<ServedFolder>,
    permissions: Permissions,
}

/// An answer that is no success: its status, and why.
type Refused = (StatusCode, &'static str);

impl Rest {
    /// Serves a folder, in which only so much may be done.
    pub fn new(folder: ServedFolder, permissions: Permissions) -> Rest {
        Rest { folder: Arc::new(folder), permissions }
    }

    /// Answers to a request that is allowed to ask. `path` is what follows the repository's own.
    pub async fn answer(&self, request: Request<Incoming>) -> Response<Content> {
        let mut answer = match self.success(request).await {
            Ok(answer) => answer,
            Err(refused) => refusal(refused),
        };
        let never = HeaderValue::from_static("no-store, no-cache, must-revalidate, max-age=0");
        answer.headers_mut().insert(CACHE_CONTROL, never);
        answer
    }

    async fn success(&self, request: Request<Incoming>) -> Result<Response<Content>, Refused> {
        let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        if !accept.split(',').any(|accepted| accepted.trim() == PROTOCOL) {
            return Err((StatusCode::NOT_ACCEPTABLE, "the header \"Accept\" has to name borgstore's protocol"));
        }
        let path = request.uri().path();
        let path = path.strip_prefix(super::REPOSITORY).unwrap_or(path).to_owned();
        match (request.method(), command(request.uri().query())) {
            (&Method::GET, None) if path.is_empty() || path.ends_with('/') => self.list(&path).await,
            (&Method::GET, None) => {
                let range = request
                    .headers()
                    .get(RANGE)
                    .and_then(|range| range.to_str().ok())
                    .and_then(super::range::Range::parse);
                self.load(&path, range).await
            }
            (&Method::HEAD, None) => self.info(path.trim_matches('/')).await,
            (&Method::POST, Some("gather")) => self.gather(request.into_body()).await,
            (&Method::POST, Some("hash" | "quota")) => Err((StatusCode::BAD_REQUEST, "this server does not do that")),
            (&Method::POST | &Method::DELETE, _) => Err((StatusCode::FORBIDDEN, "the repository is served read only")),
            (&Method::GET | &Method::HEAD, Some(_)) => Err((StatusCode::BAD_REQUEST, "there is no such command")),
            _ => Err((StatusCode::METHOD_NOT_ALLOWED, "the protocol has no such method")),
        }
    }

    async fn list(&self, path: &str) -> Result<Response<Content>, Refused> {
        let path = path.trim_matches('/');
        let name = if path.is_empty() { None } else { Some(self.name(path, Right::List)?) };
        let infos: Vec<Info> = self.read(move |folder| folder.list(name.as_ref())).await?;
        let text = serde_json::to_vec(&infos).map_err(|_| FAILED)?;
        Ok(success("application/json", Content::bytes(text)))
    }

    async fn load(&self, path: &str, range: Option<super::range::Range>) -> Result<Response<Content>, Refused> {
        let name = self.name(path.trim_matches('/'), Right::Read)?;
        let wanted = name.clone();
        let (file, size) = self.read(move |folder| folder.open_object(&wanted)).await?;
        let (offset, length) = range.map_or((0, size), |range| range.within(size));
        let extent = Extent { name: name.clone(), offset, length };
        let content = Content::extents(self.folder.clone(), vec![extent], Some((name, file)));
        let mut answer = success("application/octet-stream", content);
        if range.is_some() {
            *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
            if let Some(last) = length.checked_sub(1) {
                let text = format!("bytes {offset}-{}/{size}", offset + last);
                answer.headers_mut().insert(CONTENT_RANGE, header(&text)?);
            }
        }
        Ok(answer)
    }

    async fn info(&self, path: &str) -> Result<Response<Content>, Refused> {
        let name = self.name(path, Right::List)?;
        let info = self.read(move |folder| folder.info(&name)).await?;
        let mut answer = success("application/octet-stream", Content::bytes(Bytes::new()));
        for (name, value) in [
            (CONTENT_LENGTH.as_str(), info.size.to_string()),
            ("x-borgstore-is-directory", info.directory.to_string()),
            ("x-borgstore-atime", info.atime.to_string()),
            ("x-borgstore-mtime", info.mtime.to_string()),
        ] {
            let name: hyper::header::HeaderName = name.parse().map_err(|_| FAILED)?;
            answer.headers_mut().insert(name, header(&value)?);
        }
        Ok(answer)
    }

    async fn gather(&self, body: Incoming) -> Result<Response<Content>, Refused> {
        const NONSENSE: Refused = (StatusCode::BAD_REQUEST, "a list of [name, offset, size] is expected");
        let text = received(body).await?;
        let pieces: Vec<(String, u64, u64)> = serde_json::from_slice(&text).map_err(|_| NONSENSE)?;
        let mut extents = Vec::with_capacity(pieces.len());
        let mut total: u64 = 0;
        for (path, offset, length) in pieces {
            total = total.checked_add(length).ok_or(NONSENSE)?;
            if length > 0 {
                extents.push(Extent { name: self.name(&path, Right::Read)?, offset, length });
            }
        }
        let checked = extents.clone();
        if !self.read(move |folder| are_there(folder, &checked)).await? {
            return Err((StatusCode::RANGE_NOT_SATISFIABLE, "not all of it is there"));
        }
        Ok(success("application/octet-stream", Content::extents(self.folder.clone(), extents, None)))
    }

    /// The name in a path, if this may be done with it.
    fn name(&self, path: &str, right: Right) -> Result<Name, Refused> {
        let name = Name::parse(path).ok_or((StatusCode::BAD_REQUEST, "no object can have this name"))?;
        if self.permissions.allow(name.namespace(), right) {
            Ok(name)
        } else {
            Err((StatusCode::FORBIDDEN, "BORG_REPO_PERMISSIONS does not grant this"))
        }
    }

    /// Asks the file system, where one that is slow keeps nobody else waiting.
    async fn read<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&ServedFolder) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refused> {
        let folder = self.folder.clone();
        let asked = spawn_blocking(move || ask(&folder)).await.map_err(|_| FAILED)?;
        asked.map_err(|refusal| match refusal {
            Refusal::Missing => (StatusCode::NOT_FOUND, "there is no such object"),
            Refusal::Forbidden => (StatusCode::FORBIDDEN, "it is a symbolic link, not a file, or not ours to read"),
            Refusal::Failed => FAILED,
        })
    }
}

/// An answer that says why there is no other.
pub fn refusal((status, why): Refused) -> Response<Content> {
    let mut answer = success("text/plain; charset=utf-8", Content::bytes(format!("{why}\n")));
    *answer.status_mut() = status;
    if status == StatusCode::METHOD_NOT_ALLOWED {
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    answer
}

/// An answer with this content.
pub fn success(media_type: &'static str, content: Content) -> Response<Content> {
    let mut answer = Response::new(content);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    answer
}

/// What `cmd` says in a query. None of its values has anything to decode.
fn command(query: Option<&str>) -> Option<&str> {
    query?.split('&').find_map(|field| field.strip_prefix("cmd="))
}

/// Whether all of these parts are there. Parts of one object mostly follow each other.
fn are_there(folder: &ServedFolder, extents: &[Extent]) -> Result<bool, Refusal> {
    let mut last: Option<(&Name, u64)> = None;
    for extent in extents {
        let size = match last {
            Some((name, size)) if *name == extent.name => size,
            _ => folder.open_object(&extent.name)?.1,
        };
        last = Some((&extent.name, size));
        if extent.offset.checked_add(extent.length).is_none_or(|end| end > size) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The body of a request, which is not long.
async fn received(mut body: Incoming) -> Result<Vec<u8>, Refused> {
    let mut text = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| (StatusCode::BAD_REQUEST, "the request was cut off"))?;
        let data = frame.data_ref().map_or(&[][..], |data| data);
        if text.len() + data.len() > MAX_GATHER_BYTES {
            return Err((StatusCode::PAYLOAD_TOO_LARGE, "these are too many pieces for one request"));
        }
        text.extend_from_slice(data);
    }
    Ok(text)
}

fn header(text: &str) -> Result<HeaderValue, Refused> {
    HeaderValue::from_str(text).map_err(|_| FAILED)
}

/// What has to be accepted, so that both sides know what they speak.
const PROTOCOL: &str = "application/vnd.x.borgstore.rest.v1";
const FAILED: Refused = (StatusCode::INTERNAL_SERVER_ERROR, "it could not be read");
/// A list of some ten thousand pieces.
const MAX_GATHER_BYTES: usize = 1 << 20;
