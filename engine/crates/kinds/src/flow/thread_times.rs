//! How a flow thread spends its time: on a CPU, waiting for one, or asleep.

use std::fs;
use std::time::Instant;

use proto::{ThreadPart, ThreadUse};

use crate::flow::part::Part;

/// Nanoseconds on a CPU, nanoseconds ready but without one, and how often it ran (proc(5), `CONFIG_SCHED_INFO`).
const SCHEDULE: &str = "/proc/thread-self/schedstat";

/// A reading at the beginning of a thread's work.
#[derive(Debug)]
pub struct ThreadMeter {
    running_seconds: f64,
    waiting_seconds: Option<f64>,
}

/// What a thread used for its work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThreadTimes {
    /// Time on a CPU, in seconds.
    pub running_seconds: f64,
    /// Time ready to run, but without a CPU, in seconds; absent where the kernel doesn't tell.
    pub waiting_seconds: Option<f64>,
    /// When the work ended.
    pub ended: Instant,
}

impl ThreadMeter {
    /// Begins for the calling thread.
    pub fn start() -> Self {
        Self { running_seconds: net::thread_cpu_seconds(), waiting_seconds: waiting_seconds() }
    }

    /// Ends for the calling thread.
    pub fn finish(&self) -> ThreadTimes {
        let waiting = waiting_seconds().zip(self.waiting_seconds);
        ThreadTimes {
            running_seconds: net::thread_cpu_seconds() - self.running_seconds,
            waiting_seconds: waiting.map(|(now, before)| now - before),
            ended: Instant::now(),
        }
    }
}

fn waiting_seconds() -> Option<f64> {
    parse(&fs::read_to_string(SCHEDULE).ok()?)
}

fn parse(text: &str) -> Option<f64> {
    let nanoseconds: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(nanoseconds as f64 / 1e9)
}

/// Sums up the threads of each part in a test that began at `origin`.
pub fn summaries(threads: &[(Part, ThreadTimes)], origin: Instant) -> Vec<ThreadUse> {
    let parts = [Part::Sender, Part::Receiver, Part::Client, Part::Server];
    parts.into_iter().filter_map(|part| summary(part, threads, origin)).collect()
}

fn summary(part: Part, threads: &[(Part, ThreadTimes)], origin: Instant) -> Option<ThreadUse> {
    let shares: Vec<(f64, Option<f64>)> = threads
        .iter()
        .filter(|(own, _)| *own == part)
        .filter_map(|(_, times)| shares(times, origin))
        .collect();
    let count = shares.len() as f64;
    let waiting = shares.iter().map(|(_, waiting)| *waiting).sum::<Option<f64>>();
    let awake = shares.iter().map(|(running, waiting)| running + waiting.unwrap_or(0.0));
    Some(ThreadUse {
        part: told(part),
        threads: u32::try_from(shares.len()).ok().filter(|&threads| threads > 0)?,
        running_ratio: shares.iter().map(|(running, _)| running).sum::<f64>() / count,
        waiting_ratio: waiting.map(|waiting| waiting / count),
        busiest_ratio: awake.fold(0.0, f64::max).min(1.0),
    })
}

/// Shares of the time from `origin` to the thread's end.
fn shares(times: &ThreadTimes, origin: Instant) -> Option<(f64, Option<f64>)> {
    let seconds = times.ended.checked_duration_since(origin)?.as_secs_f64();
    let share = |part: f64| (part / seconds).min(1.0);
    (seconds > 0.0).then(|| (share(times.running_seconds), times.waiting_seconds.map(share)))
}

fn told(part: Part) -> ThreadPart {
    match part {
        Part::Sender => ThreadPart::Sender,
        Part::Receiver => ThreadPart::Receiver,
        Part::Client => ThreadPart::Client,
        Part::Server => ThreadPart::Server,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proto::{ThreadPart, ThreadUse};

    use super::{ThreadMeter, ThreadTimes, parse, summaries};
    use crate::flow::part::Part;

    #[test]
    fn the_second_number_is_the_time_without_a_cpu() {
        assert_eq!(parse("5000000000 1500000000 17\n"), Some(1.5));
        assert_eq!(parse("5000000000"), None);
    }

    #[test]
    fn threads_of_a_part_are_averaged_and_the_busiest_is_told() {
        let origin = Instant::now();
        let times = |running_seconds, waiting_seconds| ThreadTimes {
            running_seconds,
            waiting_seconds: Some(waiting_seconds),
            ended: origin + Duration::from_secs(2),
        };
        let threads = [
            (Part::Sender, times(1.0, 0.5)),
            (Part::Sender, times(0.5, 0.0)),
            (Part::Receiver, times(0.2, 0.0)),
        ];
        let expected = [
            ThreadUse {
                part: ThreadPart::Sender,
                threads: 2,
                running_ratio: 0.375,
                waiting_ratio: Some(0.125),
                busiest_ratio: 0.75,
            },
            ThreadUse {
                part: ThreadPart::Receiver,
                threads: 1,
                running_ratio: 0.1,
                waiting_ratio: Some(0.0),
                busiest_ratio: 0.1,
            },
        ];
        assert_eq!(summaries(&threads, origin), expected);
    }

    #[test]
    fn where_the_kernel_tells_no_waiting_it_is_absent() {
        let origin = Instant::now();
        let times = ThreadTimes {
            running_seconds: 1.0,
            waiting_seconds: None,
            ended: origin + Duration::from_secs(1),
        };
        let uses = summaries(&[(Part::Client, times)], origin);
        assert_eq!(
            (uses[0].waiting_ratio, uses[0].busiest_ratio.to_bits()),
            (None, 1_f64.to_bits())
        );
        assert_eq!(summaries(&[], origin), []);
    }

    #[test]
    fn a_sleeping_thread_neither_runs_nor_waits() {
        let meter = ThreadMeter::start();
        std::thread::sleep(Duration::from_millis(50));
        let times = meter.finish();
        assert!(times.running_seconds < 0.01, "{times:?}");
        assert!(times.waiting_seconds.is_none_or(|waiting| waiting < 0.04), "{times:?}");
    }
}
