//! The lock of a call (repository layer, section 6.4).

use super::Open;
use super::client::{now, random, sleep};
use super::failure::lock_failure;
use crate::failure::Failure;
use js_sys::Date;
use portaborg_core::lock::Owner;
use portaborg_core::repo::{LockRequest, LockStep, Locker};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// A lock that is held.
pub struct Held<'o> {
    open: &'o Open,
    locker: Locker<'o>,
    looked_at: f64,
}

impl Open {
    /// Takes a lock, shared with others who add, or one beside which there is no other; waits a second for it.
    pub async fn lock(&self, exclusive: bool) -> Result<Held<'_>, Failure> {
        let owner = Owner { host: self.host.clone(), process: 0, thread: 0 };
        let locker = Locker::new(&self.keys, LockRequest { exclusive, owner, is_alive: &is_alive });
        let mut held = Held { open: self, locker, looked_at: Date::now() };
        let until = Date::now() + WAIT_MILLIS;
        loop {
            let step = held.locker.step(&self.repository, now(), random()?, Date::now() >= until).await;
            match step {
                Ok(LockStep::Acquired) => return Ok(held),
                Ok(LockStep::Wait(millis)) => sleep(millis.into()).await,
                Ok(LockStep::WaitLong) => sleep((until - Date::now()).clamp(0.0, WAIT_MILLIS)).await,
                Err(error) => {
                    held.release().await;
                    return Err(lock_failure(error));
                }
            }
        }
    }
}

impl Held<'_> {
    /// Shows others that we are still there; to be called often, which costs nothing.
    pub async fn refresh(&mut self) -> Result<(), Failure> {
        if Date::now() - self.looked_at < LOOK_MILLIS {
            return Ok(());
        }
        self.looked_at = Date::now();
        self.locker.refresh(&self.open.repository, now(), random()?).await.map_err(lock_failure)
    }

    /// Waits for work, and shows others meanwhile that we are still there. Work that loses the lock is ended.
    pub async fn during<T>(&mut self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let (mut work, mut watch) = (pin!(work), pin!(self.watch()));
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Pending => watch.as_mut().poll(context).map(Err),
            ended => ended,
        })
        .await
    }

    /// Ends only when the lock is lost.
    async fn watch(&mut self) -> Failure {
        loop {
            sleep(LOOK_MILLIS).await;
            if let Err(failure) = self.refresh().await {
                return failure;
            }
        }
    }

    /// Requires that the lock is still there: before a change that must not be made beside others.
    pub async fn assert_held(&self) -> Result<(), Failure> {
        self.locker.assert_held(&self.open.repository).await.map_err(lock_failure)
    }

    /// Removes the lock. One that can't be removed is found stale by others, in half an hour.
    pub async fn release(&mut self) {
        let _ = self.locker.release(&self.open.repository).await;
    }
}

/// Nobody of this machine is known to be dead.
fn is_alive(_: u64) -> bool {
    true
}

/// How long a lock is waited for.
const WAIT_MILLIS: f64 = 1000.0;
/// How often it is looked whether the lock is old enough to be written anew.
const LOOK_MILLIS: f64 = 60_000.0;
