//! Stores that answer at once, and the way to use one where a [`Store`] is asked for.

use super::{Store, StoreError, StoreMut};
use crate::name::{Entry, Key, Namespace};
use alloc::vec::Vec;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

/// A [`Store`] whose operations are plain calls.
pub trait BlockingStore {
    /// See [`Store::read`].
    fn read(&self, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError>;
    /// See [`Store::list`].
    fn list(&self, namespace: Namespace) -> Result<Vec<Entry>, StoreError>;
}

/// A [`StoreMut`] whose operations are plain calls.
pub trait BlockingStoreMut: BlockingStore {
    /// See [`StoreMut::write`].
    fn write(&self, key: &Key, content: &[u8]) -> Result<(), StoreError>;
    /// See [`StoreMut::write_pieces`].
    fn write_pieces(&self, key: &Key, pieces: &[Vec<u8>]) -> Result<(), StoreError> {
        self.write(key, &pieces.concat())
    }
    /// See [`StoreMut::delete`].
    fn delete(&self, key: &Key) -> Result<(), StoreError>;
    /// See [`StoreMut::rename`].
    fn rename(&self, from: &Key, to: &Key) -> Result<(), StoreError>;
    /// See [`StoreMut::sync`].
    fn sync(&self) -> Result<(), StoreError>;
}

/// Makes a [`Store`] of a [`BlockingStore`]: its futures are always ready.
#[derive(Debug, Clone)]
pub struct Ready<B>(pub B);

impl<B: BlockingStore> Store for Ready<B> {
    async fn read(&self, key: &Key, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        self.0.read(key, offset, len)
    }

    async fn list(&self, namespace: Namespace) -> Result<Vec<Entry>, StoreError> {
        self.0.list(namespace)
    }
}

impl<B: BlockingStoreMut> StoreMut for Ready<B> {
    async fn write(&self, key: &Key, content: &[u8]) -> Result<(), StoreError> {
        self.0.write(key, content)
    }

    async fn write_pieces(&self, key: &Key, pieces: &[Vec<u8>]) -> Result<(), StoreError> {
        self.0.write_pieces(key, pieces)
    }

    async fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.0.delete(key)
    }

    async fn rename(&self, from: &Key, to: &Key) -> Result<(), StoreError> {
        self.0.rename(from, to)
    }

    async fn sync(&self) -> Result<(), StoreError> {
        self.0.sync()
    }
}

/// Finishes a call of this crate in one poll.
///
/// # Panics
///
/// If the call waits for anything, which it never does over a [`Ready`] store.
pub fn now<F: Future>(call: F) -> F::Output {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a call over a store that is always ready never waits"),
    }
}
