//! This engine's own way: a thread for each operation in flight, which reads or writes and waits for it.

use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use proto::{FailureCode, HostTest, Reason, reason};
use stats::Latency;

use super::buffer::{Buffer, Random};
use super::job::Job;
use super::outcome::{Direction, moved, report};
use super::target::Target;
use crate::failure::Failure;
use crate::host_kind::{Broken, HostReport, Stage, next_telling};

/// Each has a thread and its own figures.
const IN_FLIGHT_AT_MOST: usize = 256;
/// What the threads share.
struct Shared {
    begin: Instant,
    end: Instant,
    is_over: AtomicBool,
    operations: [AtomicU64; 2],
    fault: Mutex<Option<Reason>>,
}

/// Runs the job and reports it.
pub fn run(job: &Job, target: &Target, stage: &mut Stage) -> Result<HostReport, Broken> {
    if job.in_flight() > IN_FLIGHT_AT_MOST {
        let reason = reason!(
            "host_too_deep",
            asked = job.in_flight().to_string(),
            most = IN_FLIGHT_AT_MOST.to_string()
        );
        return Err(Failure::new(FailureCode::Limit, reason).into());
    }
    let origin = stage.begin();
    let begin = origin + job.warmup;
    let shared = Arc::new(Shared {
        begin,
        end: begin + job.duration,
        is_over: AtomicBool::new(false),
        operations: [AtomicU64::new(0), AtomicU64::new(0)],
        fault: Mutex::default(),
    });
    let latencies = thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 0..job.jobs {
            // fio's jobs begin at one place each; so do these, and their threads take turns.
            let next = Arc::new(AtomicU64::new(0));
            for lane in 0..job.depth {
                let (shared, next) = (Arc::clone(&shared), Arc::clone(&next));
                let seed = (number * job.depth + lane + 1) as u64;
                threads.push(scope.spawn(move || operate(job, target, &shared, &next, seed)));
            }
        }
        tell(job, &shared, stage);
        shared.is_over.store(true, Ordering::Relaxed);
        let mut joined = [Latency::default(), Latency::default()];
        for thread in threads {
            for (sum, own) in joined.iter_mut().zip(thread.join().unwrap_or_default()) {
                sum.join(&own);
            }
        }
        joined
    });
    if let Some(fault) = shared.fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(Failure::new(FailureCode::Internal, fault).into());
    }
    let stopped = stage.stop.order();
    let until = Instant::now().min(shared.end);
    let seconds = until.saturating_duration_since(begin).as_secs_f64();
    let directions = latencies.map(|latency| Direction::of_latency(latency, job, seconds));
    let test = HostTest { variant: "native".to_owned(), ..HostTest::default() };
    let report = report(&directions, job, test);
    match stopped {
        None => Ok(report),
        Some(failure) => Err(Broken { failure, partial: Some(Box::new(report)) }),
    }
}

/// Tells of intervals until the time is over, an operation fails, or the order to stop comes.
fn tell(job: &Job, shared: &Shared, stage: &mut Stage) {
    let mut told = (Instant::now(), [0, 0]);
    let mut is_open = false;
    loop {
        let now = Instant::now();
        if !is_open && now >= shared.begin {
            stage.open_window();
            is_open = true;
        }
        let limit = if is_open { shared.end } else { shared.begin };
        let due = next_telling(told.0, job.report_interval, limit);
        if now >= due && now > told.0 {
            let counts = [0, 1].map(|way| shared.operations[way].load(Ordering::Relaxed));
            let operations = [0, 1].map(|way| counts[way] - told.1[way]);
            let seconds = (now - told.0).as_secs_f64();
            stage.interval(told.0, now, moved(operations, job, seconds));
            told = (now, counts);
        }
        if now >= shared.end || shared.is_over.load(Ordering::Relaxed) {
            break;
        }
        let until = next_telling(told.0, job.report_interval, limit);
        if stage.stop.wait(until.min(now + Duration::from_millis(200))).is_some() {
            break;
        }
    }
    stage.close_window();
}

/// One operation after the other; the latencies of reads and writes that ended in the measured window.
fn operate(
    job: &Job,
    target: &Target,
    shared: &Shared,
    next: &AtomicU64,
    seed: u64,
) -> [Latency; 2] {
    let mut latencies = [Latency::default(), Latency::default()];
    let (mut buffer, mut random) = (Buffer::new(job.block_bytes), Random::new(seed));
    let blocks = (target.size_bytes / job.block_bytes as u64).max(1);
    let reads = job.reads_of_hundred();
    let is_random = job.is_random();
    while !shared.is_over.load(Ordering::Relaxed) {
        let block = if is_random {
            random.below(blocks)
        } else {
            next.fetch_add(1, Ordering::Relaxed) % blocks
        };
        let offset = block * job.block_bytes as u64;
        let is_read = reads == 100 || (reads > 0 && random.below(100) < reads);
        let bytes = buffer.bytes();
        if !is_read {
            random.fill(bytes);
        }
        let begun = Instant::now();
        let done = if is_read {
            target.file.read_exact_at(bytes, offset)
        } else {
            target.file.write_all_at(bytes, offset)
        };
        let ended = Instant::now();
        if let Err(error) = done {
            let fault = reason!(
                "host_operation_failed",
                bytes = job.block_bytes.to_string(),
                offset = offset.to_string(),
                done = if is_read { "read" } else { "written" },
                why = error.to_string()
            );
            shared.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
            shared.is_over.store(true, Ordering::Relaxed);
            break;
        }
        if ended >= shared.end {
            break;
        }
        let way = usize::from(!is_read);
        shared.operations[way].fetch_add(1, Ordering::Relaxed);
        if ended >= shared.begin {
            let nanoseconds = (ended - begun).as_nanos();
            latencies[way].record(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        }
    }
    latencies
}
