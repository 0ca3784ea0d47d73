//! The flow threads: started, pinned, interrupted, collected.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use proto::{ThreadUse, reason};

use crate::end::End;
use crate::failure::Failure;
use crate::flow::counter::{Count, Counter};
use crate::flow::gate::{Gate, Pulse};
use crate::flow::part::Part;
use crate::flow::receipts::Receipts;
use crate::flow::thread_times::{self, ThreadMeter, ThreadTimes};
use crate::line::signal::Signal;
use crate::measurements::{Finished, Outcome};
use crate::task::{Cue, Current, Task};

/// A flow thread's work is shallow; thousands of flows must fit.
const STACK_BYTES: usize = 256 * 1024;

/// One running flow thread.
struct Running {
    part: Part,
    flow: u32,
    counter: Arc<Counter>,
    receipts: Arc<Receipts>,
    current: Arc<Current>,
    handle: Option<JoinHandle<()>>,
    times: Option<ThreadTimes>,
}

/// All flow threads of one end.
pub struct Threads {
    running: Vec<Running>,
    left: usize,
    timed_left: usize,
    affinity_failed: Arc<AtomicBool>,
}

impl Threads {
    /// Starts a thread per task; those that keep time stand before the gate afterwards.
    pub fn start(
        end: &Arc<End>,
        tasks: Vec<Task>,
        gate: &Arc<Gate>,
        pulse: &Arc<Pulse>,
        signals: &Sender<Signal>,
    ) -> Result<Self, Failure> {
        let mut threads = Self {
            running: Vec::with_capacity(tasks.len()),
            left: 0,
            timed_left: 0,
            affinity_failed: Arc::default(),
        };
        for (place, task) in tasks.into_iter().enumerate() {
            let cue = Cue {
                flow: task.flow,
                gate: Arc::clone(gate),
                pulse: Arc::clone(pulse),
                counter: Arc::default(),
                receipts: Arc::default(),
                current: Arc::default(),
                signals: signals.clone(),
            };
            threads.start_one(end, place, task, cue)?;
        }
        Ok(threads)
    }

    fn start_one(
        &mut self,
        end: &Arc<End>,
        place: usize,
        task: Task,
        cue: Cue,
    ) -> Result<(), Failure> {
        let (part, flow) = (task.part, task.flow);
        let (counter, current) = (Arc::clone(&cue.counter), Arc::clone(&cue.current));
        let receipts = Arc::clone(&cue.receipts);
        let end = Arc::clone(end);
        let affinity_failed = Arc::clone(&self.affinity_failed);
        let thread = thread::Builder::new().name(format!("flow {flow}")).stack_size(STACK_BYTES);
        let handle = thread.spawn(move || {
            let cpus = &end.settings.end(end.role).cpus;
            if !cpus.is_empty() && net::pin_this_thread(cpus[place % cpus.len()]).is_err() {
                affinity_failed.store(true, Ordering::Relaxed);
            }
            let body = task.body;
            let meter = ThreadMeter::start();
            let finished =
                catch_unwind(AssertUnwindSafe(|| body(&end, &cue))).unwrap_or_else(|_| Finished {
                    outcome: Outcome::Served,
                    fault: Some(cue.fault(reason!("flow_panicked"))),
                });
            let times = meter.finish();
            // The socket must be free when the session hears of the end.
            drop(end);
            let finished = Box::new(finished);
            let _ = cue.signals.send(Signal::Done { task: place, finished, times });
        });
        let handle = handle.map_err(|error| {
            Failure::new(
                proto::FailureCode::Limit,
                reason!("flow_no_thread", flow = flow, why = error.to_string()),
            )
        })?;
        self.running.push(Running {
            part,
            flow,
            counter,
            receipts,
            current,
            handle: Some(handle),
            times: None,
        });
        self.left += 1;
        self.timed_left += usize::from(part.is_timed());
        Ok(())
    }

    /// Notes that a task has ended.
    pub fn note_done(&mut self, place: usize, times: ThreadTimes) {
        let Some(running) = self.running.get_mut(place) else {
            return;
        };
        if let Some(handle) = running.handle.take() {
            // A panic was caught in the thread and came as a fault.
            let _ = handle.join();
            self.left -= 1;
            self.timed_left -= usize::from(running.part.is_timed());
            running.times = Some(times);
        }
    }

    /// How the threads that have ended spent their time since `origin`.
    pub fn uses(&self, origin: Instant) -> Vec<ThreadUse> {
        let ended: Vec<_> = self
            .running
            .iter()
            .filter_map(|running| Some((running.part, running.times?)))
            .collect();
        thread_times::summaries(&ended, origin)
    }

    /// Whether every task has ended.
    pub fn are_done(&self) -> bool {
        self.left == 0
    }

    /// Whether every task that keeps time has ended.
    pub fn timed_are_done(&self) -> bool {
        self.timed_left == 0
    }

    /// How many tasks keep time.
    pub fn timed_count(&self) -> usize {
        self.running.iter().filter(|running| running.part.is_timed()).count()
    }

    /// Whether there is a task of this part.
    pub fn has(&self, part: Part) -> bool {
        self.running.iter().any(|running| running.part == part)
    }

    /// Whether intervals can be made at this end.
    pub fn are_measuring(&self) -> bool {
        self.running.iter().any(|running| running.part.is_measuring())
    }

    /// What the measuring tasks have counted so far, together.
    pub fn count(&self) -> Count {
        self.measuring().fold(Count::default(), |sum, running| sum.and(running.counter.read()))
    }

    /// What every thread counts in, whatever its part.
    pub fn counters(&self) -> Vec<Arc<Counter>> {
        self.running.iter().map(|running| Arc::clone(&running.counter)).collect()
    }

    /// Each receiving flow's receipts, and what its thread has read.
    pub fn receipts(&self) -> impl Iterator<Item = (u32, &Receipts, &Counter)> {
        self.measuring().map(|running| (running.flow, &*running.receipts, &*running.counter))
    }

    /// Measured datagrams that have come so far, all flows.
    pub fn measured_units(&self) -> u64 {
        self.measuring().map(|running| running.counter.measured_units()).sum()
    }

    /// The present jitter, the mean of the flows that tell one.
    pub fn jitter_seconds(&self) -> Option<f64> {
        let all: Vec<f64> =
            self.measuring().filter_map(|running| running.counter.jitter_seconds()).collect();
        (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
    }

    fn measuring(&self) -> impl Iterator<Item = &Running> {
        self.running.iter().filter(|running| running.part.is_measuring())
    }

    /// Interrupts every socket that isn't a flow's own.
    pub fn interrupt_current(&self) {
        self.running.iter().for_each(|running| running.current.interrupt());
    }

    /// Whether a thread could not be pinned as asked.
    pub fn affinity_failed(&self) -> bool {
        self.affinity_failed.load(Ordering::Relaxed)
    }
}
