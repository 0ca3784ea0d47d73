//! Whether the wall clock was set while a test ran.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A thread may be set aside between two clock readings; of so many tries the closest counts.
const TRIES: usize = 5;

/// How far the wall clock was ahead of a monotonic instant, and how far off this may be.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Offset {
    seconds: f64,
    uncertainty_seconds: f64,
}

/// The wall clock read between two readings of the monotonic clock, all in seconds.
type Sandwich = (f64, f64, f64);

/// Watches the wall clock against the monotonic clock.
///
/// The kernel slews both alike (`adjtimex(2)`), so what moves one against the other is a step.
#[derive(Debug)]
pub struct ClockWatch {
    base: Instant,
    wall_base: Duration,
    first: Offset,
    step_seconds: f64,
}

impl ClockWatch {
    /// Begins to watch.
    pub fn start() -> Self {
        let (base, wall_base) = (Instant::now(), wall_clock());
        let first = closest((0..TRIES).map(|_| read(base, wall_base)));
        Self { base, wall_base, first, step_seconds: 0.0 }
    }

    /// Looks again.
    pub fn look(&mut self) {
        let now = closest((0..TRIES).map(|_| read(self.base, self.wall_base)));
        let step = step(self.first, now);
        if step.abs() > self.step_seconds.abs() {
            self.step_seconds = step;
        }
    }

    /// The farthest that the wall clock was seen from where it should have been, in seconds.
    pub fn step_seconds(&self) -> f64 {
        self.step_seconds
    }
}

fn wall_clock() -> Duration {
    // A wall clock before 1970 is as good as 1970: only its moves count.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn read(base: Instant, wall_base: Duration) -> Sandwich {
    let before = base.elapsed().as_secs_f64();
    let wall = wall_clock();
    let after = base.elapsed().as_secs_f64();
    let wall = match wall.checked_sub(wall_base) {
        Some(ahead) => ahead.as_secs_f64(),
        None => -wall_base.abs_diff(wall).as_secs_f64(),
    };
    (before, wall, after)
}

fn closest(readings: impl Iterator<Item = Sandwich>) -> Offset {
    let offsets = readings.map(|(before, wall, after)| Offset {
        seconds: wall - f64::midpoint(before, after),
        uncertainty_seconds: (after - before) / 2.0,
    });
    offsets
        .min_by(|one, other| one.uncertainty_seconds.total_cmp(&other.uncertainty_seconds))
        .unwrap_or(Offset { seconds: 0.0, uncertainty_seconds: f64::INFINITY })
}

/// How far the wall clock moved for certain: what the readings' uncertainty may explain is no step.
fn step(first: Offset, now: Offset) -> f64 {
    let moved = now.seconds - first.seconds;
    let uncertainty = first.uncertainty_seconds + now.uncertainty_seconds;
    moved.signum() * (moved.abs() - uncertainty).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::{ClockWatch, closest, step};

    fn step_microseconds(first: super::Sandwich, now: super::Sandwich) -> i64 {
        #[allow(clippy::cast_possible_truncation)] // The test's steps are below a second.
        let rounded =
            (step(closest([first].into_iter()), closest([now].into_iter())) * 1e6).round() as i64;
        rounded
    }

    #[test]
    fn a_clock_that_was_set_back_shows_the_whole_step() {
        assert_eq!(step_microseconds((1.0, 501.0, 1.0), (11.0, 510.75, 11.0)), -250_000);
        assert_eq!(step_microseconds((1.0, 501.0, 1.0), (11.0, 511.02, 11.0)), 20_000);
    }

    #[test]
    fn a_thread_set_aside_between_the_readings_is_no_step() {
        // 40 ms passed between the wall clock's reading and the one after it.
        assert_eq!(step_microseconds((1.0, 501.0, 1.0), (11.0, 511.0, 11.04)), 0);
    }

    #[test]
    fn of_several_readings_the_closest_counts() {
        let offset = closest([(1.0, 5.0, 3.0), (4.0, 8.5, 4.5), (6.0, 9.0, 8.0)].into_iter());
        assert_eq!((offset.seconds, offset.uncertainty_seconds), (4.25, 0.25));
    }

    #[test]
    fn a_clock_that_nobody_sets_does_not_step() {
        let mut watch = ClockWatch::start();
        watch.look();
        assert!(watch.step_seconds().abs() < 0.01, "{}", watch.step_seconds());
    }
}
