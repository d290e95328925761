//! What is sent: a few bytes, or parts of objects, of which no more is held than who reads them is about to take.

use crate::web::folder::{Name, ServedFolder};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::task::{JoinHandle, spawn_blocking};

/// The body of an answer.
pub enum Content {
    /// It is all there.
    Whole(Bytes),
    /// It is read while it is sent.
    Pieces(Pieces),
}

/// Parts of objects, behind each other.
pub struct Pieces {
    reader: Option<Reader>,
    /// The piece that is being read: while one is sent, the next one is fetched, and no more.
    reading: Option<JoinHandle<(Reader, io::Result<Vec<u8>>)>>,
    left: u64,
}

/// A part of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// Whose part it is.
    pub name: Name,
    /// Where it begins.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

struct Reader {
    folder: Arc<ServedFolder>,
    extents: VecDeque<Extent>,
    /// The object that is being read.
    open: Option<(Name, File)>,
}

impl Content {
    /// What is there.
    pub fn bytes(bytes: impl Into<Bytes>) -> Content {
        Content::Whole(bytes.into())
    }

    /// Parts of objects, all of which are there. `open` is the first one's file, if it is open already.
    pub fn extents(folder: Arc<ServedFolder>, extents: Vec<Extent>, open: Option<(Name, File)>) -> Content {
        let left = extents.iter().map(|extent| extent.length).sum();
        let reader = Some(Reader { folder, extents: extents.into(), open });
        Content::Pieces(Pieces { reader, reading: None, left })
    }

    /// How long it is, in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Content::Whole(bytes) => bytes.len() as u64,
            Content::Pieces(pieces) => pieces.left,
        }
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.get_mut() {
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Pieces(pieces) => pieces.poll_piece(context).map_ok(Frame::data),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.len() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len())
    }
}

impl Pieces {
    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.begin();
        let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
        let (reader, piece) = ready!(Pin::new(reading).poll(context)).map_err(io::Error::other)?;
        self.reading = None;
        let piece = piece?;
        self.left = self.left.saturating_sub(piece.len() as u64);
        self.reader = Some(reader);
        if self.left > 0 {
            self.begin();
        }
        Poll::Ready(Some(Ok(piece.into())))
    }

    /// Has the next piece read, where a disk that is slow keeps nobody else waiting.
    fn begin(&mut self) {
        if let Some(mut reader) = self.reader.take() {
            self.reading = Some(spawn_blocking(move || {
                let piece = reader.next();
                (reader, piece)
            }));
        }
    }
}

impl Reader {
    /// The next piece, which is not empty. The answer's head has promised that it is there: if it isn't, the answer is cut off.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        let extent = loop {
            match self.extents.front_mut() {
                Some(extent) if extent.length == 0 => drop(self.extents.pop_front()),
                Some(extent) => break extent,
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        let file = match &self.open {
            Some((name, file)) if *name == extent.name => file,
            _ => {
                let opened =
                    self.folder.open_object(&extent.name).map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
                &self.open.insert((extent.name.clone(), opened.0)).1
            }
        };
        let length = extent.length.min(PIECE_BYTES);
        let mut piece = vec![0; length as usize];
        file.read_exact_at(&mut piece, extent.offset)?;
        extent.offset += length;
        extent.length -= length;
        Ok(piece)
    }
}

/// What is read at once.
const PIECE_BYTES: u64 = 256 << 10;
