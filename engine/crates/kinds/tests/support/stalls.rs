//! Whether the machine stood still: a virtual one may be given to others for as long as a test takes.

use std::io::{Write as _, stderr};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(1);
/// On a machine that works no thread that is due waits so long: meanwhile a paced stream falls behind or loses datagrams.
const STALL: Duration = Duration::from_millis(15);
const TRIES: usize = 3;
/// Before another try the machine is to work for so long, if it does so in time.
const CALM: Duration = Duration::from_millis(500);
const CALM_PATIENCE: Duration = Duration::from_secs(3);

/// Runs a test, again where it failed while the machine stood still; what fails on a machine that works has failed.
///
/// What failed in each of three tries, the machine having stood still in each, is not judged, and said so.
pub fn undisturbed(test: fn()) {
    for _ in 0..TRIES {
        let watch = StallWatch::start();
        let Err(failure) = catch_unwind(test) else { return };
        if watch.longest() < STALL {
            resume_unwind(failure);
        }
        let begin = Instant::now();
        while begin.elapsed() < CALM_PATIENCE && StallWatch::over(CALM) >= STALL {}
    }
    not_judged();
}

/// Whether the machine stands still now, when this test asks nothing of it; the test is then said not to be judged.
pub fn stands_still() -> bool {
    let is_still = StallWatch::over(2 * CALM) >= STALL;
    if is_still {
        not_judged();
    }
    is_still
}

fn not_judged() {
    let thread = thread::current();
    let name = thread.name().unwrap_or("a test");
    // Not by a macro, whose text is kept for tests that fail.
    let _ = writeln!(stderr(), "NOT JUDGED: {name}: the machine stood still whenever it was tried");
}

/// A thread that wants to wake up every millisecond.
struct StallWatch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Duration>,
}

impl StallWatch {
    fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut longest = Duration::ZERO;
            while !seen.load(Ordering::Relaxed) {
                let asleep = Instant::now();
                thread::sleep(NAP);
                longest = longest.max(asleep.elapsed().saturating_sub(NAP));
            }
            longest
        });
        Self { is_over, thread }
    }

    fn over(time: Duration) -> Duration {
        let watch = Self::start();
        thread::sleep(time);
        watch.longest()
    }

    /// By how much its latest waking up was too late.
    fn longest(self) -> Duration {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}
