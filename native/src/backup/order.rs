//! Keeps what is told in the order of the walk, while files that were met before are still being read.

use super::problem::Problem;
use super::sink::Observer;
use super::status::Status;
use portaborg_core::item::Item;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Hears what happens, and tells it to an observer when it is its turn.
pub struct Order<'a> {
    observer: &'a dyn Observer,
    waiting: RefCell<VecDeque<Waiting>>,
    /// What is heard belongs to the first that waits.
    is_at_turn: Cell<bool>,
}

/// What waits for its turn.
pub(super) enum Waiting {
    /// A file that is read ahead.
    Task,
    /// An object without content.
    Item(Box<Item>),
    Line(Status, Vec<u8>),
    Count(Status),
    Warning(Box<Problem>),
    Note(String),
}

impl<'a> Order<'a> {
    /// Tells `observer`.
    pub fn new(observer: &'a dyn Observer) -> Self {
        Order { observer, waiting: RefCell::default(), is_at_turn: Cell::new(false) }
    }

    /// How much waits.
    pub(super) fn len(&self) -> usize {
        self.waiting.borrow().len()
    }

    /// Whether nothing comes before what happens now.
    pub(super) fn is_direct(&self) -> bool {
        self.is_at_turn.get() || self.waiting.borrow().is_empty()
    }

    pub(super) fn push(&self, waiting: Waiting) {
        self.waiting.borrow_mut().push_back(waiting);
    }

    /// Whose turn it is. Until [`ended`](Order::ended), what is heard belongs to it.
    pub(super) fn begin(&self) -> Option<Waiting> {
        let first = self.waiting.borrow_mut().pop_front()?;
        self.is_at_turn.set(true);
        Some(first)
    }

    pub(super) fn ended(&self) {
        self.is_at_turn.set(false);
    }
}

impl Observer for Order<'_> {
    fn status(&self, status: Status, path: &[u8]) {
        if self.is_direct() {
            self.observer.status(status, path);
        } else {
            self.push(Waiting::Line(status, path.into()));
        }
    }

    fn count(&self, status: Status) {
        if self.is_direct() {
            self.observer.count(status);
        } else {
            self.push(Waiting::Count(status));
        }
    }

    fn warn(&self, problem: &Problem) {
        if self.is_direct() {
            self.observer.warn(problem);
        } else {
            self.push(Waiting::Warning(Box::new(problem.clone())));
        }
    }

    fn note(&self, text: &str) {
        if self.is_direct() {
            self.observer.note(text);
        } else {
            self.push(Waiting::Note(text.into()));
        }
    }
}
