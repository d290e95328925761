//! Workers for one piece of work: threads that take jobs, and the thread that hands them out and takes the results in.

use crossbeam_channel::{Receiver, Sender, unbounded};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Hands out jobs to workers. Results come in the order in which jobs end; a job carries what puts them in order again.
///
/// How much is in flight is the caller's to bound: jobs queue without a limit.
pub struct Crew<'c, J, T> {
    hands: Hands<'c, J, T>,
    width: usize,
    in_flight: usize,
}

enum Hands<'c, J, T> {
    /// No thread but the caller's: jobs are done when their results are asked for.
    Own(&'c mut dyn FnMut(J) -> T, std::collections::VecDeque<J>),
    Threads {
        jobs: Sender<J>,
        results: Receiver<thread::Result<T>>,
        /// Jobs that are waiting or being worked on.
        undone: Arc<AtomicUsize>,
    },
}

impl<J, T> Crew<'_, J, T> {
    /// Queues a job.
    pub fn give(&mut self, job: J) {
        self.in_flight += 1;
        match &mut self.hands {
            Hands::Own(_, queue) => queue.push_back(job),
            Hands::Threads { jobs, undone, .. } => {
                undone.fetch_add(1, Ordering::Relaxed);
                let sent = jobs.send(job);
                assert!(sent.is_ok(), "workers stay until the crew is gone");
            }
        }
    }

    /// Waits for the next result; `None` if no job is in flight.
    ///
    /// # Panics
    ///
    /// If the job did.
    pub fn next(&mut self) -> Option<T> {
        if self.in_flight == 0 {
            return None;
        }
        self.in_flight -= 1;
        Some(match &mut self.hands {
            Hands::Own(work, queue) => work(queue.pop_front().expect("jobs in flight are in the queue")),
            Hands::Threads { results, .. } => done(results.recv().expect("each job has a result")),
        })
    }

    /// The next result, if there is one already.
    ///
    /// # Panics
    ///
    /// If the job did.
    pub fn try_next(&mut self) -> Option<T> {
        let Hands::Threads { results, .. } = &self.hands else { return None };
        let result = results.try_recv().ok()?;
        self.in_flight -= 1;
        Some(done(result))
    }

    /// Jobs whose results were not taken in yet.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Workers that have nothing to do.
    pub fn idle(&self) -> usize {
        self.width.saturating_sub(self.in_flight)
    }

    /// How many jobs are worked on at once.
    pub fn width(&self) -> usize {
        self.width
    }
}

fn done<T>(result: thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

/// Runs `drive` with a crew of `width` workers, each with tools of its own, which do `work`; that is told how many workers have
/// nothing to do. With a width of 0 or 1 there is no thread but the caller's.
///
/// When `drive` has returned, jobs that nobody began are dropped.
pub fn with_crew<J: Send, T: Send, Tools, R>(
    width: usize,
    tools: impl Fn() -> Tools + Sync,
    work: impl Fn(&mut Tools, J, usize) -> T + Sync,
    drive: impl FnOnce(&mut Crew<'_, J, T>) -> R,
) -> R {
    if width <= 1 {
        let mut tools = tools();
        let mut work = |job| work(&mut tools, job, 0);
        let hands = Hands::Own(&mut work, Default::default());
        return drive(&mut Crew { hands, width: 1, in_flight: 0 });
    }
    let (jobs, queue) = unbounded::<J>();
    let (finished, results) = unbounded();
    let is_over = AtomicBool::new(false);
    let undone = Arc::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..width {
            let (queue, finished) = (queue.clone(), finished.clone());
            let (tools, work, is_over, undone) = (&tools, &work, &is_over, &*undone);
            scope.spawn(move || {
                let mut tools = tools();
                for job in queue {
                    if is_over.load(Ordering::Relaxed) {
                        continue;
                    }
                    // This job is one of them.
                    let idle = width.saturating_sub(undone.load(Ordering::Relaxed));
                    let result: Result<T, Box<dyn Any + Send>> =
                        catch_unwind(AssertUnwindSafe(|| work(&mut tools, job, idle)));
                    undone.fetch_sub(1, Ordering::Relaxed);
                    let _nobody_wants_it = finished.send(result);
                }
            });
        }
        // Also if `drive` panics: else the workers would do all that is queued first.
        let _end = End(&is_over);
        let hands = Hands::Threads { jobs, results, undone: Arc::clone(&undone) };
        drive(&mut Crew { hands, width, in_flight: 0 })
    })
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn every_job_is_done_once_whatever_the_width() {
        for width in [0, 1, 2, 8] {
            let sum = with_crew(
                width,
                || 0u32,
                |done, job: u64, _| {
                    *done += 1;
                    job * 2
                },
                |crew| {
                    (0..1000).for_each(|job| crew.give(job));
                    assert_eq!(crew.in_flight(), 1000);
                    let mut sum = crew.try_next().unwrap_or(0);
                    while let Some(result) = crew.next() {
                        sum += result;
                    }
                    assert_eq!((crew.in_flight(), crew.idle()), (0, crew.width()));
                    sum
                },
            );
            assert_eq!(sum, 999 * 1000);
        }
    }

    #[test]
    fn as_many_jobs_run_at_once_as_there_are_workers() {
        let meeting = Barrier::new(3);
        let work = |_: &mut (), (), _| meeting.wait().is_leader();
        with_crew(
            3,
            || (),
            work,
            |crew| {
                (0..3).for_each(|_| crew.give(()));
                while crew.next().is_some() {}
            },
        );
    }

    #[test]
    fn work_is_told_how_many_workers_have_none() {
        // Each waits for the others, so that what is known does not depend on luck.
        let meeting = Barrier::new(2);
        let work = |_: &mut (), meets: bool, idle| {
            if meets {
                meeting.wait();
            }
            idle
        };
        let idle = |width, jobs: &[bool]| {
            let give = |crew: &mut Crew<'_, bool, usize>| {
                jobs.iter().for_each(|&job| crew.give(job));
                std::iter::from_fn(|| crew.next()).collect::<Vec<_>>()
            };
            with_crew(width, || (), work, give)
        };
        assert_eq!(idle(4, &[false]), [3]);
        assert_eq!(idle(1, &[false]), [0]);
        let mut two = idle(3, &[true, true]);
        two.sort_unstable();
        // The first one may begin before the second one is there.
        assert!(two == [1, 1] || two == [1, 2], "{two:?}");
        assert!(idle(2, &[true; 4]).into_iter().filter(|&idle| idle == 0).count() >= 3);
    }

    #[test]
    fn what_nobody_began_is_dropped_at_the_end() {
        let begun = AtomicUsize::new(0);
        let meeting = Barrier::new(2);
        let work = |_: &mut (), first: bool, _| {
            begun.fetch_add(1, Ordering::Relaxed);
            if first {
                meeting.wait();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        with_crew(
            2,
            || (),
            work,
            |crew| {
                crew.give(true);
                (0..100).for_each(|_| crew.give(false));
                meeting.wait();
            },
        );
        assert!(begun.into_inner() < 100);
    }

    #[test]
    #[should_panic(expected = "the job's own words")]
    fn a_panic_of_a_job_is_the_callers() {
        with_crew(
            2,
            || (),
            |_, (), _| panic!("the job's own words"),
            |crew| {
                crew.give(());
                crew.next()
            },
        );
    }
}
