//! The door to threads: how much may run at once, and how work is split; never what the work is.

use crate::tuning::Help;

/// Threads that may help with one piece of work.
pub trait Exec: Sync {
    /// How many threads have nothing to do, besides the one that asks. [`Tuning`](crate::tuning::Tuning) decides by it.
    fn idle(&self) -> usize;

    /// Does both, at once if a thread can be had, and gives both results.
    fn join<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B);
}

/// The caller's thread, and no other.
#[derive(Debug, Clone, Copy, Default)]
pub struct Serial;

impl Exec for Serial {
    fn idle(&self) -> usize {
        0
    }

    fn join<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        (a(), b())
    }
}

/// The rayon pool that the caller's thread belongs to, else the global one.
#[cfg(feature = "rayon")]
#[derive(Debug, Clone, Copy)]
pub struct Rayon {
    idle: usize,
}

#[cfg(feature = "rayon")]
impl Rayon {
    /// While so many of its threads are idle: rayon doesn't tell.
    pub fn new(idle: usize) -> Self {
        Rayon { idle }
    }
}

/// The threads that this crate can have: rayon's if it has its feature `rayon`, else none but the caller's.
#[cfg(feature = "rayon")]
pub type Threads = Rayon;
/// The threads that this crate can have: rayon's if it has its feature `rayon`, else none but the caller's.
#[cfg(not(feature = "rayon"))]
pub type Threads = Serial;

impl Help {
    /// Who helps.
    pub fn exec(&self) -> Threads {
        #[cfg(feature = "rayon")]
        return Rayon::new(self.idle);
        #[cfg(not(feature = "rayon"))]
        return Serial;
    }
}

#[cfg(feature = "rayon")]
impl Exec for Rayon {
    fn idle(&self) -> usize {
        self.idle
    }

    fn join<A: Send, B: Send>(&self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        rayon::join(a, b)
    }
}
