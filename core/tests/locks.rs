//! The locking protocol, step by step with made-up clocks (repository layer, section 6.4).

mod common;

use common::build::{MemoryRepository, authenticated_keys, empty_repository};
use portaborg_core::crypto::{Keys, SessionId, store_hash};
use portaborg_core::lock::{Lock, Owner, STALE_SECS};
use portaborg_core::name::Namespace;
use portaborg_core::repo::{LockError, LockRequest, LockStep, Locker, break_locks, peek_locks};
use portaborg_core::store::now;
use portaborg_core::store_object::{Place, seal_one_shot};
use portaborg_core::time::Timestamp;
use std::cell::Cell;

/// The clients' clock at the beginning; the storage's is far from it.
const START: i64 = 1_800_000_000;
const STORE_START: i64 = 5_000;

struct World {
    repository: MemoryRepository,
    secs: Cell<i64>,
    session: Cell<u8>,
}

fn world(keys: &Keys) -> World {
    let world = World { repository: empty_repository(keys), secs: Cell::new(START), session: Cell::new(0) };
    world.pass(0);
    world
}

impl World {
    /// Lets time pass for everyone.
    fn pass(&self, secs: i64) {
        self.secs.set(self.secs.get() + secs);
        self.repository.store.0.clock.set(Some(STORE_START + self.secs.get() - START));
    }

    fn now(&self) -> Timestamp {
        Timestamp { secs: self.secs.get(), nanos: 0 }
    }

    fn session(&self) -> SessionId {
        self.session.set(self.session.get() + 1);
        [self.session.get(); 24]
    }

    fn step(&self, locker: &mut Locker<'_>) -> Result<LockStep, LockError> {
        now(locker.step(&self.repository, self.now(), self.session(), false))
    }

    fn last_step(&self, locker: &mut Locker<'_>) -> Result<LockStep, LockError> {
        now(locker.step(&self.repository, self.now(), self.session(), true))
    }

    /// Both steps of a lock that nothing hinders.
    fn acquire(&self, locker: &mut Locker<'_>) {
        assert_eq!(self.step(locker), Ok(LockStep::Wait(10)));
        assert_eq!(self.step(locker), Ok(LockStep::Acquired));
    }

    fn refresh(&self, locker: &mut Locker<'_>) -> Result<(), LockError> {
        now(locker.refresh(&self.repository, self.now(), self.session()))
    }

    fn release(&self, locker: &mut Locker<'_>) {
        now(locker.release(&self.repository)).unwrap();
    }

    fn locks(&self) -> Vec<String> {
        self.repository.store.0.paths("locks/")
    }

    /// Someone else's lock, written now with a clock that differs by `skew_secs`.
    fn foreign_lock(&self, keys: &Keys, exclusive: bool, owner: Owner, skew_secs: i64) -> String {
        let time = Timestamp { secs: self.secs.get() + skew_secs, nanos: 0 };
        let plain = Lock { exclusive, owner, time }.encode();
        let place = Place::Hashed(Namespace::Locks);
        let sealed = seal_one_shot(keys, [0xee; 24], self.repository.id(), place, &plain);
        let path = format!("locks/{}", store_hash(&sealed));
        self.repository.store.0.put(&path, sealed);
        path
    }

    /// Something in the place of a lock that no one can read.
    fn unreadable_lock(&self, content: &[u8]) -> String {
        let path = format!("locks/{}", store_hash(content));
        self.repository.store.0.put(&path, content);
        path
    }
}

fn owner(host: &str, process: u64) -> Owner {
    Owner { host: host.into(), process, thread: 0 }
}

/// On host `here` the processes below 100 are alive.
fn locker(keys: &Keys, exclusive: bool, process: u64) -> Locker<'_> {
    Locker::new(keys, LockRequest { exclusive, owner: owner("here", process), is_alive: &|process| process < 100 })
}

#[test]
fn a_lock_is_written_with_what_it_must_say_and_removed_again() {
    let keys = authenticated_keys();
    let world = world(&keys);
    let mut mine = locker(&keys, true, 1);
    world.acquire(&mut mine);
    let holders = now(peek_locks(&world.repository, &keys, world.now())).unwrap();
    let lock = Lock { exclusive: true, owner: owner("here", 1), time: world.now() };
    assert_eq!(holders.len(), 1);
    assert_eq!((holders[0].lock.as_ref(), holders[0].age_secs), (Some(&lock), Some(0.0)));
    world.release(&mut mine);
    assert!(world.locks().is_empty());
    world.release(&mut mine);
}

#[test]
fn shared_locks_stand_side_by_side() {
    let keys = authenticated_keys();
    let world = world(&keys);
    let mut lockers: Vec<_> = (1..4).map(|process| locker(&keys, false, process)).collect();
    lockers.iter_mut().for_each(|locker| world.acquire(locker));
    assert_eq!(world.locks().len(), 3);
}

#[test]
fn an_exclusive_lock_keeps_others_out_and_a_timeout_names_it() {
    let keys = authenticated_keys();
    let world = world(&keys);
    let mut holder = locker(&keys, true, 1);
    world.acquire(&mut holder);
    for exclusive in [false, true] {
        let mut other = locker(&keys, exclusive, 2);
        assert_eq!(world.step(&mut other), Ok(LockStep::WaitLong));
        world.pass(7);
        let Err(LockError::Timeout(blockers)) = world.last_step(&mut other) else { panic!("no timeout") };
        assert_eq!(blockers.len(), 1);
        assert_eq!(blockers[0].lock.as_ref().unwrap().owner, owner("here", 1));
        assert_eq!(world.locks().len(), 1);
    }
    world.release(&mut holder);
    world.acquire(&mut locker(&keys, true, 2));
}

#[test]
fn an_exclusive_lock_waits_for_shared_ones_and_keeps_new_ones_out() {
    let keys = authenticated_keys();
    let world = world(&keys);
    let (mut early, mut other) = (locker(&keys, false, 1), locker(&keys, false, 2));
    world.acquire(&mut early);
    world.acquire(&mut other);
    let mut exclusive = locker(&keys, true, 3);
    assert_eq!(world.step(&mut exclusive), Ok(LockStep::Wait(10)));
    assert_eq!(world.step(&mut exclusive), Ok(LockStep::Wait(100)));
    let mut late = locker(&keys, false, 4);
    let Err(LockError::Timeout(blockers)) = world.last_step(&mut late) else { panic!("no timeout") };
    let named: Vec<_> = blockers.iter().map(|blocker| blocker.lock.as_ref().unwrap().owner.process).collect();
    assert_eq!(named, [3], "shared locks are not in the way of a shared one");
    world.release(&mut early);
    assert_eq!(world.step(&mut exclusive), Ok(LockStep::Wait(100)));
    world.release(&mut other);
    assert_eq!(world.step(&mut exclusive), Ok(LockStep::Acquired));
}

#[test]
fn an_exclusive_lock_that_waits_too_long_for_shared_ones_leaves_nothing_behind() {
    let keys = authenticated_keys();
    let world = world(&keys);
    world.acquire(&mut locker(&keys, false, 1));
    let mut exclusive = locker(&keys, true, 2);
    assert_eq!(world.last_step(&mut exclusive), Ok(LockStep::Wait(10)), "one short wait even then");
    let Err(LockError::Timeout(blockers)) = world.last_step(&mut exclusive) else { panic!("no timeout") };
    assert_eq!(blockers[0].lock.as_ref().unwrap().owner.process, 1);
    assert_eq!(world.locks().len(), 1);
}

#[test]
fn of_two_that_write_at_once_at_most_one_gets_the_lock() {
    let keys = authenticated_keys();
    for (first, second) in [(true, true), (true, false), (false, true)] {
        // Every order of the two clients' two steps.
        for order in [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0]] {
            let world = world(&keys);
            let mut lockers = [locker(&keys, first, 1), locker(&keys, second, 2)];
            let held = order.iter().filter(|&&who| world.step(&mut lockers[who]) == Ok(LockStep::Acquired));
            assert!(held.count() <= 1, "{first} {second} {order:?}");
            // Whoever goes on alone gets it.
            world.release(&mut lockers[1]);
            let steps = (0..3).map(|_| world.step(&mut lockers[0])).any(|step| step == Ok(LockStep::Acquired));
            assert!(steps, "{first} {second} {order:?}");
        }
    }
}

#[test]
fn the_lock_of_a_dead_process_of_this_machine_is_removed_at_once() {
    let keys = authenticated_keys();
    let world = world(&keys);
    world.foreign_lock(&keys, true, owner("here", 100), 0);
    world.acquire(&mut locker(&keys, true, 1));
    assert_eq!(world.locks().len(), 1);
}

#[test]
fn nothing_is_known_of_processes_of_other_machines_and_of_threads() {
    let keys = authenticated_keys();
    for owner in [owner("there", 100), Owner { thread: 1, ..owner("here", 100) }, owner("here", 99)] {
        let world = world(&keys);
        world.foreign_lock(&keys, true, owner, 0);
        world.pass(STALE_SECS);
        assert_eq!(world.step(&mut locker(&keys, true, 1)), Ok(LockStep::WaitLong));
    }
}

#[test]
fn a_lock_that_was_not_refreshed_is_removed_once_the_storages_clock_agrees() {
    let keys = authenticated_keys();
    let world = world(&keys);
    let old = world.foreign_lock(&keys, true, owner("there", 1), 0);
    world.pass(STALE_SECS + 1);
    let mut mine = locker(&keys, true, 1);
    assert_eq!(world.step(&mut mine), Ok(LockStep::Wait(10)));
    assert!(world.locks().contains(&old), "the storage's clock is not known before the own lock is listed");
    assert_eq!(world.step(&mut mine), Ok(LockStep::Acquired));
    assert_eq!(world.locks().len(), 1);
}

#[test]
fn a_lock_whose_owners_clock_is_wrong_is_kept_by_the_storages_clock() {
    let keys = authenticated_keys();
    let world = world(&keys);
    let skewed = world.foreign_lock(&keys, true, owner("there", 1), -STALE_SECS - 1000);
    let mut mine = locker(&keys, false, 1);
    assert_eq!(world.step(&mut mine), Ok(LockStep::Wait(10)));
    assert_eq!(world.step(&mut mine), Ok(LockStep::WaitLong));
    assert_eq!(world.locks(), std::slice::from_ref(&skewed));
    // What the own lock has shown of the storage's clock is not forgotten with it.
    world.pass(5);
    assert_eq!(world.step(&mut mine), Ok(LockStep::WaitLong));
    assert_eq!(world.locks(), [skewed]);
    world.pass(STALE_SECS);
    assert_eq!(world.step(&mut mine), Ok(LockStep::Wait(10)));
    assert_eq!(world.step(&mut mine), Ok(LockStep::Acquired));
}

#[test]
fn where_the_storage_has_no_clock_the_owners_time_decides() {
    let keys = authenticated_keys();
    let world = world(&keys);
    world.repository.store.0.clock.set(None);
    world.foreign_lock(&keys, true, owner("there", 1), 0);
    let mut mine = locker(&keys, true, 1);
    world.secs.set(START + STALE_SECS);
    assert_eq!(world.step(&mut mine), Ok(LockStep::WaitLong));
    world.secs.set(START + STALE_SECS + 1);
    world.acquire(&mut mine);
    assert_eq!(world.locks().len(), 1);
}

#[test]
fn what_cannot_be_read_counts_as_exclusive_until_the_storage_says_it_is_old() {
    let keys = authenticated_keys();
    let other_keys = Keys::new(keys.suite(), [9; 64], [9; 32], 0);
    let too_large = vec![0x50; 100_000];
    for content in [&b""[..], b"garbage", &too_large] {
        let world = world(&keys);
        let path = world.unreadable_lock(content);
        let mut mine = locker(&keys, false, 1);
        assert_eq!(world.step(&mut mine), Ok(LockStep::Wait(10)));
        assert_eq!(world.step(&mut mine), Ok(LockStep::WaitLong));
        let Err(LockError::Timeout(blockers)) = world.last_step(&mut mine) else { panic!("no timeout") };
        assert_eq!((blockers.len(), &blockers[0].lock), (1, &None));
        world.pass(STALE_SECS + 1);
        assert_eq!(world.step(&mut mine), Ok(LockStep::Wait(10)));
        assert!(world.locks().contains(&path));
        assert_eq!(world.step(&mut mine), Ok(LockStep::Acquired));
        assert_eq!(world.locks().len(), 1);
    }
    let world = world(&keys);
    world.repository.store.0.clock.set(None);
    world.foreign_lock(&other_keys, false, owner("there", 1), 0);
    world.secs.set(START + 100 * STALE_SECS);
    assert_eq!(world.step(&mut locker(&keys, false, 1)), Ok(LockStep::WaitLong), "no clock tells its age");
}

#[test]
fn clocks_at_the_ends_of_time_are_no_trouble() {
    let keys = authenticated_keys();
    for clock in [i64::MIN, i64::MAX] {
        for secs in [i64::MIN, 0, i64::MAX] {
            let world = world(&keys);
            world.repository.store.0.clock.set(Some(clock));
            world.unreadable_lock(b"garbage");
            world.foreign_lock(&keys, false, owner("there", 1), 0);
            world.secs.set(secs);
            let mut mine = locker(&keys, true, 1);
            (0..3).for_each(|_| drop(world.step(&mut mine)));
            drop(world.refresh(&mut mine));
            world.secs.set(START);
            drop(world.refresh(&mut mine));
            world.release(&mut mine);
        }
    }
}

#[test]
fn a_held_lock_is_written_anew_before_it_looks_stale() {
    let keys = authenticated_keys();
    let world = world(&keys);
    let mut mine = locker(&keys, false, 1);
    world.acquire(&mut mine);
    let first = world.locks();
    world.pass(899);
    assert_eq!(world.refresh(&mut mine), Ok(()));
    assert_eq!(world.locks(), first);
    world.pass(1);
    assert_eq!(world.refresh(&mut mine), Ok(()));
    let second = world.locks();
    assert_eq!(second.len(), 1);
    assert_ne!(second, first);
    world.release(&mut mine);
    assert!(world.locks().is_empty());
}

#[test]
fn a_broken_lock_is_noticed_when_it_is_refreshed() {
    let keys = authenticated_keys();
    let world = world(&keys);
    let mut mine = locker(&keys, true, 1);
    world.acquire(&mut mine);
    now(break_locks(&world.repository)).unwrap();
    world.pass(900);
    assert_eq!(world.refresh(&mut mine), Err(LockError::Killed));
    assert!(world.locks().is_empty());
}

#[test]
fn a_lock_that_is_broken_while_it_waits_is_not_held() {
    let keys = authenticated_keys();
    let world = world(&keys);
    world.acquire(&mut locker(&keys, false, 1));
    let mut exclusive = locker(&keys, true, 2);
    assert_eq!(world.step(&mut exclusive), Ok(LockStep::Wait(10)));
    assert_eq!(world.step(&mut exclusive), Ok(LockStep::Wait(100)));
    now(break_locks(&world.repository)).unwrap();
    assert_eq!(world.step(&mut exclusive), Ok(LockStep::WaitLong));
    world.acquire(&mut exclusive);
}

#[test]
fn a_refresh_that_fails_half_way_leaves_one_lock_to_release() {
    let keys = authenticated_keys();
    let world = world(&keys);
    let mut mine = locker(&keys, true, 1);
    world.acquire(&mut mine);
    let before = world.locks();
    world.pass(900);
    world.repository.store.0.keeps_all.set(true);
    assert!(matches!(world.refresh(&mut mine), Err(LockError::Store(_))));
    world.repository.store.0.keeps_all.set(false);
    world.release(&mut mine);
    assert!(!world.locks().contains(&before[0]));
}
