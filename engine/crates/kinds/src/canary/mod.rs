//! A canary: in well under a second, what this host does alone, which no network can change.
//!
//! Every figure is of several passes over the same work, on one CPU, and each part ends after its share of the time
//! however slow the host is: a run that waits for it never waits for long.

mod loopback;

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use proto::{Canary, CanaryFigure};

use crate::kinds::copy;

/// What the arrays of the memory's part take together.
pub const CANARY_MEMORY_BYTES: u64 = 2 * ARRAY_BYTES as u64;

/// Far larger than the caches of one core; on any host the same, so that its nights can be compared.
const ARRAY_BYTES: usize = 64 << 20;
/// Dependent steps of one spin, about 10 ms of a CPU: long enough to hold a share of what a hypervisor takes away.
const SPIN_STEPS: u64 = 5_000_000;
/// Passes of each part, the one that warms up included.
const PASSES: usize = 10;
/// Fewer tell nothing of their spread.
const LEAST_PASSES: usize = 3;
/// No pass of a part begins later than this after its first.
const PART: Duration = Duration::from_millis(200);
/// Where the parts before took longer, the CPU is not this thread's alone: the memory, which costs most, is left out.
const LATEST: Duration = Duration::from_millis(600);

/// Measures this host; what can't be measured is left out. Takes a thread's whole time: not for one that serves.
#[must_use]
pub fn canary() -> Canary {
    let begun = Instant::now();
    // What can't be pinned is measured where the kernel puts it.
    let cpu = net::allowed_cpus().first().copied();
    let figures = thread::scope(|scope| {
        let measuring = scope.spawn(|| {
            pin(cpu);
            let [spin, loopback] = [spin(), loopback::round_trips(cpu)];
            let memory = if begun.elapsed() < LATEST { memory() } else { None };
            [memory, spin, loopback].into_iter().flatten().collect::<Vec<_>>()
        });
        measuring.join().unwrap_or_default()
    });
    Canary { seconds: begun.elapsed().as_secs_f64(), figures }
}

fn pin(cpu: Option<usize>) {
    let _ = cpu.map(net::pin_this_thread);
}

fn memory() -> Option<CanaryFigure> {
    let elements = ARRAY_BYTES / size_of::<f64>();
    let mut arrays: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for array in &mut arrays {
        array.try_reserve_exact(elements).ok()?;
        // Written, so that the memory is there.
        array.resize(elements, 1.0);
    }
    let [from, mut to] = arrays;
    let seconds = passes(|| {
        copy(&mut to, &from);
        Some(())
    });
    let rates = seconds.into_iter().map(|seconds| ARRAY_BYTES as f64 / seconds);
    figure("memory_copy_bytes_per_second", "B/s", rates.collect())
}

fn spin() -> Option<CanaryFigure> {
    let seconds = passes(|| {
        // Each step waits for the one before: only the CPU's own speed, and the time that it is given, count. Of sums
        // and products a compiler would make several steps at once.
        let mut value: u64 = black_box(1);
        for _ in 0..SPIN_STEPS {
            value ^= value << 13;
            value ^= value >> 7;
            value ^= value << 17;
        }
        black_box(value);
        Some(())
    });
    figure("spin_seconds", "s", seconds)
}

/// How long each pass took but the first, which warms up; fewer where the part's time is over or a pass fails.
fn passes(mut pass: impl FnMut() -> Option<()>) -> Vec<f64> {
    let end = Instant::now() + PART;
    let mut seconds = Vec::new();
    for _ in 0..PASSES {
        let begin = Instant::now();
        if begin >= end || pass().is_none() {
            break;
        }
        seconds.push(begin.elapsed().as_secs_f64());
    }
    seconds.into_iter().skip(1).collect()
}

/// The figure of several passes; none of too few.
fn figure(metric: &'static str, unit: &'static str, mut values: Vec<f64>) -> Option<CanaryFigure> {
    values.retain(|value| value.is_finite() && *value > 0.0);
    if values.len() < LEAST_PASSES {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let median = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
    Some(CanaryFigure { metric, unit, median, least: values[0], most: values[n - 1], n })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_of_three_passes_at_least_with_its_middle_and_both_ends() {
        let whole = figure("spin_seconds", "s", vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((whole.median, whole.least, whole.most, whole.n), (2.5, 1.0, 4.0, 4));
        assert_eq!(figure("spin_seconds", "s", vec![1.0, 2.0]), None);
        assert_eq!(figure("spin_seconds", "s", vec![f64::NAN, 0.0, 1.0, 2.0]), None);
    }

    #[test]
    fn the_first_pass_warms_up_and_none_begins_after_the_parts_time() {
        let mut count = 0;
        let mut counted = || {
            count += 1;
            Some(())
        };
        assert_eq!(passes(&mut counted).len(), PASSES - 1);
        let mut slow = 0;
        let seconds = passes(|| {
            slow += 1;
            thread::sleep(PART / 2 + Duration::from_millis(1));
            Some(())
        });
        assert_eq!((count, slow, seconds.len()), (PASSES, 2, 1));
        assert_eq!(passes(|| None), Vec::<f64>::new());
    }

    #[test]
    fn a_hosts_canary_has_memory_spin_and_loopback_each_with_its_unit() {
        let canary = canary();
        let has = |metric: &str, unit: &str| {
            let found = canary.figures.iter().find(|figure| figure.metric == metric);
            found.is_some_and(|figure| figure.unit == unit && figure.least <= figure.median)
        };
        // Unoptimised loops of a busy machine may be too slow for three passes: then the figure is left out.
        assert!(has("loopback_round_trip_seconds", "s"), "{canary:?}");
        assert!(canary.figures.iter().all(|figure| figure.median <= figure.most));
        assert!((0.0..5.0).contains(&canary.seconds), "{canary:?}");
    }
}
