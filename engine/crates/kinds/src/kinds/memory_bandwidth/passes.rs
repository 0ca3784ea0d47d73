//! Passes over the arrays by several cores at once.

use std::iter;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use proto::{Reason, reason};

use super::kernels::{Kernel, Part};
use crate::host_kind::{Stage, Stop, metrics};

const ELEMENT_BYTES: u64 = 8;
/// STREAM's arrays are static: a compiler lays them from the begin of a cache line, an allocator 16 bytes into a page.
const LINE_BYTES: usize = 64;
/// A core that waits for the others looks so often before it lets somebody else run.
const SPINS: u32 = 1 << 14;
/// How often it is looked whether all cores are done.
const LOOKING: Duration = Duration::from_millis(5);

/// The arrays of all cores.
pub struct Arrays {
    first: Vec<f64>,
    second: Vec<f64>,
    third: Vec<f64>,
    per_core: usize,
}

impl Arrays {
    /// Asks for the memory; each core makes its part be there by writing to it first.
    pub fn new(kernel: Kernel, array_bytes: u64, cores: usize) -> Result<Self, Reason> {
        let owners = if kernel.has_own_arrays() { cores as u64 } else { 1 };
        let elements = usize::try_from(array_bytes * owners / ELEMENT_BYTES);
        let elements = elements.map_err(|_| reason!("host_arrays_too_large"))?;
        let per_line = LINE_BYTES / size_of::<f64>();
        let array = |is_there: bool| zeroed(if is_there { elements + per_line } else { 0 });
        Ok(Self {
            first: array(true)?,
            second: array(true)?,
            third: array(kernel.arrays() == 3)?,
            per_core: elements / cores.max(1),
        })
    }

    /// Makes each core's part be there, near it, by that core's own writing.
    fn fill(&mut self, cpus: &[usize]) {
        thread::scope(|scope| {
            for (mut part, &cpu) in self.parts().into_iter().zip(cpus) {
                scope.spawn(move || {
                    // What can't be pinned is told of by the passes.
                    let _ = net::pin_this_thread(cpu);
                    part.fill();
                });
            }
        });
    }

    fn parts(&mut self) -> Vec<Part<'_>> {
        let (per_core, is_aligned) = (self.per_core, !self.third.is_empty());
        let [first, second, mut thirds] =
            [&mut self.first, &mut self.second, &mut self.third].map(|array| {
                let begin = if is_aligned { array.as_ptr().align_offset(LINE_BYTES) } else { 0 };
                array[begin..].chunks_exact_mut(per_core)
            });
        let parts = first.zip(second).map(|(first, second)| Part {
            first,
            second,
            third: thirds.next().unwrap_or_default(),
        });
        parts.collect()
    }
}

/// Zeros that the kernel gives when they are first written to.
fn zeroed(elements: usize) -> Result<Vec<f64>, Reason> {
    // A host that hasn't so much memory would end the process: `try_reserve` asks for address space at least.
    let mut probe: Vec<f64> = Vec::new();
    probe
        .try_reserve_exact(elements)
        .map_err(|error| reason!("host_no_memory", why = error.to_string()))?;
    drop(probe);
    Ok(vec![0.0; elements])
}

/// One pass: when each core began and ended.
#[derive(Debug, Clone)]
pub struct Pass {
    /// In the order of the cores.
    pub spans: Vec<(Instant, Instant)>,
}

impl Pass {
    /// From the first core's begin to the last one's end.
    pub fn seconds(&self) -> f64 {
        let begin = self.spans.iter().map(|span| span.0).min();
        let end = self.spans.iter().map(|span| span.1).max();
        begin.zip(end).map_or(0.0, |(begin, end)| (end - begin).as_secs_f64())
    }
}

/// What the cores share.
struct Rounds {
    cores: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    goes_on: AtomicBool,
    has_unpinned: AtomicBool,
}

impl Rounds {
    /// Returns when all cores have come; the last one runs `last` first.
    fn meet(&self, last: impl FnOnce()) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.cores {
            last();
            self.arrived.store(0, Ordering::Release);
            self.round.fetch_add(1, Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            spins += 1;
            if spins % SPINS == 0 { thread::yield_now() } else { std::hint::spin_loop() }
        }
    }

    /// Makes one core's passes until all are made or the order to stop comes; times those of the kernel asked for.
    fn go_through(
        &self,
        part: &mut Part<'_>,
        kernel: Kernel,
        count: usize,
        stop: &Stop,
        spans: &Mutex<Vec<(Instant, Instant)>>,
    ) {
        for &each in iter::repeat_n(kernel.cycle(), count).flatten() {
            self.meet(|| self.goes_on.store(stop.order().is_none(), Ordering::Relaxed));
            if !self.goes_on.load(Ordering::Relaxed) {
                return;
            }
            let begin = Instant::now();
            part.pass(each);
            let end = Instant::now();
            if each == kernel {
                spans.lock().unwrap_or_else(PoisonError::into_inner).push((begin, end));
            }
        }
    }
}

/// Passes that were made.
pub struct Passes {
    /// Whole ones, in their order.
    pub done: Vec<Pass>,
    /// Whether a core could not be pinned.
    pub has_unpinned: bool,
}

impl Passes {
    /// Makes `count` passes, or fewer when the order to stop comes.
    pub fn run(
        kernel: Kernel,
        arrays: &mut Arrays,
        cpus: &[usize],
        count: usize,
        stage: &mut Stage,
        telling: Duration,
    ) -> Self {
        let rounds = Rounds {
            cores: cpus.len(),
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            goes_on: AtomicBool::new(true),
            has_unpinned: AtomicBool::new(false),
        };
        let pass_bytes =
            arrays.per_core as u64 * ELEMENT_BYTES * cpus.len() as u64 * kernel.counted_arrays();
        let spans: Vec<Mutex<Vec<(Instant, Instant)>>> =
            cpus.iter().map(|_| Mutex::default()).collect();
        let stop = std::sync::Arc::clone(&stage.stop);
        arrays.fill(cpus);
        thread::scope(|scope| {
            let threads: Vec<_> = arrays
                .parts()
                .into_iter()
                .zip(cpus.iter().zip(&spans))
                .map(|(mut part, (&cpu, spans))| {
                    let (rounds, stop) = (&rounds, &stop);
                    scope.spawn(move || {
                        if net::pin_this_thread(cpu).is_err() {
                            rounds.has_unpinned.store(true, Ordering::Relaxed);
                        }
                        rounds.go_through(&mut part, kernel, count, stop, spans);
                    })
                })
                .collect();
            stage.begin();
            stage.open_window();
            let mut told = Told { passes: 0, until: Instant::now(), pass_bytes };
            while threads.iter().any(|thread| !thread.is_finished()) {
                // The end is noticed a little late; passes have times of their own.
                if stage.stop.wait(Instant::now() + LOOKING).is_some() {
                    thread::sleep(LOOKING);
                }
                if told.until.elapsed() >= telling {
                    told.tell(stage, &spans);
                }
            }
            told.tell(stage, &spans);
            stage.close_window();
        });
        let spans: Vec<_> = spans
            .into_iter()
            .map(|spans| spans.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect();
        Self { done: joined(&spans), has_unpinned: rounds.has_unpinned.load(Ordering::Relaxed) }
    }
}

/// What has been told of so far.
struct Told {
    passes: usize,
    until: Instant,
    pass_bytes: u64,
}

impl Told {
    fn tell(&mut self, stage: &mut Stage, spans: &[Mutex<Vec<(Instant, Instant)>>]) {
        let now = Instant::now();
        let since = |spans: &Mutex<Vec<(Instant, Instant)>>| {
            spans.lock().map_or_else(|_| Vec::new(), |spans| spans[self.passes..].to_vec())
        };
        let passes = joined(&spans.iter().map(since).collect::<Vec<_>>());
        if !passes.is_empty() {
            let bytes = passes.len() as u64 * self.pass_bytes;
            let rate = bytes as f64 / passes.iter().map(Pass::seconds).sum::<f64>();
            stage.interval(self.until, now, metrics([("memory_mean_bytes_per_second", rate)]));
            (self.passes, self.until) = (self.passes + passes.len(), now);
        }
    }
}

/// The passes that every core has made.
fn joined(spans: &[Vec<(Instant, Instant)>]) -> Vec<Pass> {
    let count = spans.iter().map(Vec::len).min().unwrap_or(0);
    (0..count).map(|pass| Pass { spans: spans.iter().map(|core| core[pass]).collect() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_arrays_begin_with_a_cache_line_and_mbws_where_the_allocator_puts_them() {
        let mut stream = Arrays::new(Kernel::Triad, 8192, 2).unwrap();
        let parts = stream.parts();
        let offsets = parts.iter().map(|part| part.first.as_ptr().align_offset(LINE_BYTES));
        assert_eq!(offsets.collect::<Vec<_>>(), [0, 0]);
        let mut mbw = Arrays::new(Kernel::Memcpy, 8192, 2).unwrap();
        let begin = mbw.first.as_ptr();
        assert_eq!(mbw.parts()[0].first.as_ptr(), begin);
    }

    #[test]
    fn of_stream_all_four_run_and_of_mbw_one() {
        assert_eq!(Kernel::Add.cycle().len(), 4);
        assert_eq!(Kernel::Dumb.cycle(), [Kernel::Dumb]);
    }
}
