//! Threads that share the module's memory: workers of JavaScript's, which rayon takes for its own.
//!
//! They decompress and verify; the worker that has the repository decrypts through Web Crypto, for which it must never wait in any
//! other way than for a promise. A thread of the pool never comes back to its worker's events.

use crate::repository::ENGINE;
use portaborg_core::crypto::Keys;
use portaborg_core::extract::Unpacked;
use portaborg_core::object::Opener;
use portaborg_core::tuning::{Help, Tuning};
use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use wasm_bindgen::prelude::*;

/// Threads that have no worker yet.
static THREADS: Mutex<VecDeque<ThreadBuilder>> = Mutex::new(VecDeque::new());
static ONE_MORE: Condvar = Condvar::new();
/// Jobs that threads of the pool have in hand.
static BUSY: AtomicUsize = AtomicUsize::new(0);
static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Makes the worker that calls it a thread of the pool, for ever.
#[wasm_bindgen]
pub fn enter() {
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let thread = loop {
        match threads.pop_front() {
            Some(thread) => break thread,
            None => threads = ONE_MORE.wait(threads).unwrap_or_else(PoisonError::into_inner),
        }
    };
    drop(threads);
    thread.run();
}

/// Makes a pool of so many workers, all of which are about to [enter] it.
#[wasm_bindgen(js_name = makePool)]
pub fn make_pool(threads: usize) -> Result<(), JsError> {
    let spawn = |thread| {
        THREADS.lock().unwrap_or_else(PoisonError::into_inner).push_back(thread);
        ONE_MORE.notify_one();
        Ok(())
    };
    ThreadPoolBuilder::new().num_threads(threads).spawn_handler(spawn).build_global()?;
    IS_THERE.store(true, Ordering::Relaxed);
    Ok(())
}

/// Whether there is a pool.
pub fn is_there() -> bool {
    IS_THERE.load(Ordering::Relaxed)
}

/// What a thread of the pool will have unpacked.
pub struct Unpacking(Arc<Mutex<Slot>>);

#[derive(Default)]
struct Slot {
    unpacked: Option<Unpacked>,
    waker: Option<Waker>,
}

/// Has a thread of the pool do the rest of a job.
pub fn spawn(keys: &Arc<Keys>, work: impl FnOnce(&mut Opener<'_>) -> Unpacked + Send + 'static) -> Unpacking {
    let slot = Arc::new(Mutex::new(Slot::default()));
    let (keys, filled) = (Arc::clone(keys), Arc::clone(&slot));
    rayon::spawn(move || {
        let threads = rayon::current_num_threads();
        let busy = BUSY.fetch_add(1, Ordering::Relaxed) + 1;
        let mut opener = Opener::new(&keys, &ENGINE);
        opener.set_help(Help { tuning: Tuning::new(threads), idle: threads.saturating_sub(busy) });
        let unpacked = work(&mut opener);
        BUSY.fetch_sub(1, Ordering::Relaxed);
        let mut slot = filled.lock().unwrap_or_else(PoisonError::into_inner);
        slot.unpacked = Some(unpacked);
        slot.waker.take().into_iter().for_each(Waker::wake);
    });
    Unpacking(slot)
}

impl Future for Unpacking {
    type Output = Unpacked;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Unpacked> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.waker = Some(context.waker().clone());
        slot.unpacked.take().map_or(Poll::Pending, Poll::Ready)
    }
}
