//! Regular files: always made new, private until they are complete (data layer, section 11.2).

use super::attributes::{Attributes, Object};
use super::hardlink::{Identity, Linked};
use super::problem::{Cause, Problem};
use super::target::Place;
use super::{Begun, Guarded, Made, Restorer, is_same};
use crate::filesystem::stat::Inode;
use crate::system::attributes::close;
use crate::system::fs::FileExt;
use portaborg_core::extract::Plain;
use portaborg_core::item::Item;
use portaborg_core::repo::Content;
use rustix::fs::{AtFlags, Mode, OFlags, fstat, ftruncate, openat, statat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A regular file that is being written. It depends on nothing else: several can be open at once.
///
/// Unless it is [finished](Self::finish), it is removed again: a file is there completely or not at all. Names that later
/// items of the same `hlid` were given meanwhile stay; so it should be finished before they begin.
pub struct OpenFile {
    file: Option<Arc<File>>,
    parent: Arc<OwnedFd>,
    name: Vec<u8>,
    path: Vec<u8>,
    absolute: Vec<u8>,
    attributes: Attributes,
    stated_size: Option<u64>,
    written: u64,
    ends_in_hole: bool,
    sparse: bool,
    failed: Option<Arc<AtomicBool>>,
}

/// A part of an open file's content. Parts can be written by several threads, in any order.
pub struct FilePart {
    file: Arc<File>,
    offset: u64,
    plain: Arc<Plain>,
}

/// A regular file that any thread can make.
pub struct NewFile {
    /// As far as it tells whether a file is there already.
    item: Item,
    stated_size: Option<u64>,
    path: Vec<u8>,
    parent: Arc<OwnedFd>,
    absolute: Vec<u8>,
    attributes: Attributes,
    sparse: bool,
    continue_extraction: bool,
}

/// What came of a [`NewFile`].
pub enum MadeFile {
    /// It is there, with these lesser problems.
    Done(Vec<Problem>),
    /// It was there already, and the extraction is continued.
    Unchanged,
    /// It could not be made.
    Failed(Problem),
    /// Something is in the way, for [`Restorer::replace`].
    Blocked(Box<NewFile>),
}

impl OpenFile {
    /// Appends content, chunk by chunk: a chunk of zeros becomes a hole if holes are asked for. After an error the file
    /// can only be dropped.
    pub fn write(&mut self, data: &[u8]) -> Result<(), Problem> {
        if self.sparse && is_zero(data) {
            return self.skip(data.len() as u64);
        }
        self.put(data)
    }

    /// Appends `len` bytes of zeros, as a hole if holes are asked for.
    pub fn zeros(&mut self, len: u64) -> Result<(), Problem> {
        if self.sparse {
            return self.skip(len);
        }
        let mut left = len;
        while left > 0 {
            let part = left.min(ZEROS.len() as u64);
            self.put(&ZEROS[..part as usize])?;
            left -= part;
        }
        Ok(())
    }

    /// Appends a chunk, to be written by whomever before the file is finished; `None` if it becomes a hole.
    pub fn part(&mut self, plain: Arc<Plain>) -> Result<Option<FilePart>, Problem> {
        let len = match plain.content() {
            Content::Data(bytes) => bytes.len() as u64,
            Content::Zeros(len) if self.sparse => return self.skip(len as u64).map(|()| None),
            Content::Zeros(len) => len as u64,
        };
        let end = self.end_of(len)?;
        let Some(file) = self.file.clone() else { return Err(self.problem(Errno::BADF)) };
        let part = FilePart { file, offset: self.written, plain };
        self.written = end;
        self.ends_in_hole &= len == 0;
        Ok(Some(part))
    }

    /// Gives the complete file its attributes and closes it. What fails is returned; the file stays.
    pub fn finish(mut self) -> Vec<Problem> {
        let Some(file) = self.file.take() else { return Vec::new() };
        let mut causes = Vec::new();
        if self.ends_in_hole
            && let Err(errno) = ftruncate(&file, self.written)
        {
            causes.push(Cause::Os { operation: "truncate_and_attrs", errno, file: None });
        }
        causes.append(&mut self.attributes.apply(&Object::Open(file.as_fd())));
        if let Some(file) = Arc::into_inner(file)
            && let Err(errno) = close(file)
        {
            causes.push(Cause::Os { operation: "close", errno, file: Some(self.absolute.clone()) });
        }
        if let Some(stated) = self.stated_size.filter(|&stated| stated != self.written) {
            causes.push(Cause::Size { stated, written: self.written });
        }
        causes.into_iter().map(|cause| Problem { path: self.path.clone(), cause }).collect()
    }

    fn put(&mut self, data: &[u8]) -> Result<(), Problem> {
        let end = self.end_of(data.len() as u64)?;
        let Some(file) = &self.file else { return Err(self.problem(Errno::BADF)) };
        file.write_all_at(data, self.written).map_err(|error| self.problem(errno_of(&error)))?;
        self.written = end;
        self.ends_in_hole &= data.is_empty();
        Ok(())
    }

    fn skip(&mut self, len: u64) -> Result<(), Problem> {
        self.written = self.end_of(len)?;
        self.ends_in_hole |= len > 0;
        Ok(())
    }

    fn end_of(&self, len: u64) -> Result<u64, Problem> {
        let end = self.written.checked_add(len).filter(|&end| end <= i64::MAX as u64);
        end.ok_or_else(|| self.problem(Errno::FBIG))
    }

    /// What is said of it if it can't be written.
    pub fn problem(&self, errno: Errno) -> Problem {
        let cause = Cause::Os { operation: "write", errno, file: None };
        Problem { path: self.path.clone(), cause }
    }
}

impl FilePart {
    /// Bytes that it keeps in memory.
    pub fn bytes(&self) -> u64 {
        self.plain.bytes().len() as u64
    }

    /// Writes it, and gives the chunk back. After an error the file can only be dropped.
    pub fn write(self) -> (Result<(), Errno>, Arc<Plain>) {
        let mut offset = self.offset;
        let written = self.plain.content().pieces().try_for_each(|piece| {
            self.file.write_all_at(piece, offset).map_err(|error| errno_of(&error))?;
            offset += piece.len() as u64;
            Ok(())
        });
        (written, self.plain)
    }
}

impl NewFile {
    pub(super) fn new(restorer: &mut Restorer, item: &Item, path: Vec<u8>, parent: Arc<OwnedFd>) -> Self {
        NewFile {
            absolute: restorer.target.absolute(&item.path),
            attributes: restorer.attributes(item),
            sparse: restorer.options.sparse,
            continue_extraction: restorer.options.continue_extraction,
            item: Item {
                path: item.path.clone(),
                mode: item.mode,
                mtime: item.mtime,
                size: Some(item.size.unwrap_or_else(|| item.content_size())),
                ..Item::default()
            },
            stated_size: item.size,
            path,
            parent,
        }
    }

    /// Makes it, with all its content.
    pub fn make(self, content: &[Arc<Plain>]) -> MadeFile {
        let place = self.place();
        match create(&place) {
            Ok(file) => self.fill(file, content),
            Err(Errno::EXIST)
                if self.continue_extraction && place.stat().is_ok_and(|stat| is_same(&self.item, &stat)) =>
            {
                MadeFile::Unchanged
            }
            Err(Errno::EXIST) => MadeFile::Blocked(Box::new(self)),
            Err(errno) => {
                let cause = Cause::Os { operation: "open", errno, file: Some(self.absolute) };
                MadeFile::Failed(Problem { path: self.item.path, cause })
            }
        }
    }

    fn place(&self) -> Place<'_> {
        Place::at(self.parent.clone(), &self.path)
    }

    fn fill(self, file: File, content: &[Arc<Plain>]) -> MadeFile {
        let mut file = OpenFile {
            file: Some(Arc::new(file)),
            name: self.place().name.into(),
            parent: self.parent,
            path: self.item.path,
            absolute: self.absolute,
            attributes: self.attributes,
            stated_size: self.stated_size,
            written: 0,
            ends_in_hole: false,
            sparse: self.sparse,
            failed: None,
        };
        for plain in content {
            let written = match plain.content() {
                Content::Data(bytes) => file.write(bytes),
                Content::Zeros(len) => file.zeros(len as u64),
            };
            if let Err(problem) = written {
                return MadeFile::Failed(problem); // dropping the file removes what there is of it
            }
        }
        MadeFile::Done(file.finish())
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else { return };
        if let Some(failed) = &self.failed {
            failed.store(true, Ordering::Relaxed);
        }
        let there = statat(&self.parent, &self.name[..], AtFlags::SYMLINK_NOFOLLOW);
        if let (Ok(there), Ok(ours)) = (there, fstat(&file))
            && Inode::of(&there) == Inode::of(&ours)
        {
            let _nothing_more_to_do = unlinkat(&self.parent, &self.name[..], AtFlags::empty());
        }
    }
}

impl Restorer {
    /// Makes a file in place of what is in its way.
    pub fn replace(&mut self, new: NewFile, content: &[Arc<Plain>]) -> MadeFile {
        let place = new.place();
        match self.make(&new.item, &place, "open", || create(&place)) {
            Ok(Made::New(file)) => new.fill(file, content),
            Ok(Made::Unchanged) => MadeFile::Unchanged,
            Err(problem) => MadeFile::Failed(problem),
        }
    }

    pub fn begin_file(&mut self, item: &Item, path: &[u8]) -> Result<Begun, Problem> {
        let place = self.place(item, path)?;
        match self.link(item, &place)? {
            Linked::No => {}
            Linked::Yes => return Ok(Begun::Done),
            Linked::Unchanged => return Ok(Begun::Unchanged),
        }
        if item.chunks.is_none() && item.size != Some(0) {
            return Err(Problem { path: item.path.clone(), cause: Cause::Missing("content") });
        }
        let file = match self.make(item, &place, "open", || create(&place))? {
            Made::New(file) => file,
            Made::Unchanged => return Ok(Begun::Unchanged),
        };
        let mut attributes = self.attributes(item);
        let mut failed = None;
        if item.hlid.is_some()
            && let Ok(identity) = Identity::of_file(&file)
        {
            failed = self.links.remember(item, path, identity);
            // Further names can't be given to an immutable file.
            if let Some(bsdflags) = attributes.take_guarding_flags() {
                self.guarded.push(Guarded { path: path.into(), inode: identity.inode, bsdflags });
            }
        }
        Ok(Begun::File(Box::new(OpenFile {
            file: Some(Arc::new(file)),
            name: place.name.into(),
            path: item.path.clone(),
            absolute: self.target.absolute(path),
            parent: place.parent,
            attributes,
            stated_size: item.size,
            written: 0,
            ends_in_hole: false,
            sparse: self.options.sparse,
            failed,
        })))
    }
}

fn create(place: &Place<'_>) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(&place.parent, place.name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

fn is_zero(data: &[u8]) -> bool {
    data.chunks(ZEROS.len()).all(|part| *part == ZEROS[..part.len()])
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];
