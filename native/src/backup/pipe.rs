//! A file whose content comes from standard input or a command (data layer, section 8).

use super::collect::Collector;
use super::problem::{Fault, Problem};
use super::read::{Input, now};
use super::sink::{Observer, Part, Sink};
use super::status::Status;
use crate::failure::Failure;
use portaborg_core::item::Item;
use portaborg_core::time::Timestamp;

/// What is stored of such a file beside its content (command line, section 1.2, `--stdin-*`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipe {
    /// The item's path, safe already.
    pub name: Vec<u8>,
    /// Its permissions; the type is always that of a regular file.
    pub mode: u32,
    /// Name of the owner.
    pub user: Option<Vec<u8>>,
    /// Name of the group.
    pub group: Option<Vec<u8>>,
}

impl<S: Sink> Collector<'_, S> {
    /// Archives what comes out of `input`.
    ///
    /// A failure to read is told, and there is no item then; the caller decides whether that is the end of the command.
    pub fn pipe(&mut self, pipe: &Pipe, input: &mut dyn Input) -> Result<Result<(), Problem>, Failure> {
        self.catch_up()?;
        self.order.status(Status::Pipe, &pipe.name);
        let names = self.attributes.names();
        let uid = local("user", &pipe.user, |name| names.user(name))?;
        let gid = local("group", &pipe.group, |name| names.group(name))?;
        let time = Timestamp { nanos: 0, ..now() }.storable();
        let content = match self.sink.content(vec![Part::Read(Box::new(input))]) {
            Ok(content) => content,
            Err(Fault::End(failure)) => return Err(failure),
            Err(Fault::Object(cause)) => return Ok(Err(Problem { path: pipe.name.clone(), cause })),
        };
        let item = Item {
            path: pipe.name.clone(),
            mode: Some(pipe.mode & 0o107_777 | 0o100_000),
            uid,
            gid,
            user: pipe.user.clone(),
            group: pipe.group.clone(),
            mtime: time,
            atime: Some(time),
            ctime: Some(time),
            ..Item::default()
        };
        self.sink.item(item, Some(content))?;
        Ok(Ok(()))
    }
}

/// The number of a local user or group that was named.
fn local(
    what: &str,
    name: &Option<Vec<u8>>,
    look_up: impl FnOnce(&[u8]) -> Option<u32>,
) -> Result<Option<i64>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let shown = portaborg_core::bytes::lossy(name).0;
    match look_up(name) {
        Some(id) => Ok(Some(id.into())),
        None => Err(Failure::error(format_args!("no such {what}: {shown}"))),
    }
}
