//! When requests are due at a fixed rate, whether or not the server keeps up.

use std::time::{Duration, Instant};

/// Request `n` of a thread is due `n` gaps after the first, on the thread's connections in turn. A connection that is
/// busy then sends it as soon as it can, and its latency counts from when it was due: otherwise a server that stalls
/// would also stop the questions, and its worst moments would go unasked (coordinated omission).
#[derive(Debug, Clone, Copy)]
pub struct Schedule {
    first_due: Instant,
    gap_seconds: f64,
    connections: u64,
    /// The first request that has not been due yet.
    cursor: u64,
}

impl Schedule {
    /// The schedule of a thread that has `connections` of the `all_connections` between which `rate_rps` is divided,
    /// the first of them in place `offset` among all.
    pub fn new(
        rate_rps: f64,
        connections: u64,
        all_connections: u64,
        offset: u32,
        origin: Instant,
    ) -> Self {
        let share = connections as f64 / all_connections as f64;
        Self {
            first_due: origin + Duration::from_secs_f64(f64::from(offset) / rate_rps),
            gap_seconds: 1.0 / (rate_rps * share),
            connections,
            cursor: 0,
        }
    }

    /// When a request is due.
    pub fn due(&self, request: u64) -> Instant {
        // Out of reach for a rate and a duration within the catalog's bounds.
        self.first_due
            + Duration::try_from_secs_f64(request as f64 * self.gap_seconds)
                .unwrap_or(Duration::MAX / 4)
    }

    /// The next request that has become due, and the place of its connection.
    pub fn take_due(&mut self, now: Instant) -> Option<(u64, usize)> {
        if self.due(self.cursor) > now {
            return None;
        }
        let request = self.cursor;
        self.cursor += 1;
        // A place among connections is a small number.
        Some((request, usize::try_from(request % self.connections).unwrap_or(0)))
    }

    /// When the next request is due.
    pub fn next_due(&self) -> Instant {
        self.due(self.cursor)
    }

    /// Whether a request has become due and was taken.
    pub fn has_passed(&self, request: u64) -> bool {
        request < self.cursor
    }

    /// The request after this one on the same connection.
    pub fn after(&self, request: u64) -> u64 {
        request + self.connections
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Schedule;

    #[test]
    fn requests_are_due_evenly_and_go_to_the_connections_in_turn() {
        let origin = Instant::now();
        let mut schedule = Schedule::new(1_000.0, 2, 4, 1, origin);
        let at = |microseconds| origin + Duration::from_micros(microseconds);
        assert_eq!(schedule.take_due(at(999)), None);
        assert_eq!(schedule.take_due(at(1_001)), Some((0, 0)));
        assert_eq!(schedule.take_due(at(1_001)), None);
        assert_eq!(schedule.next_due(), at(3_000));
        let late: Vec<_> = std::iter::from_fn(|| schedule.take_due(at(7_500))).collect();
        assert_eq!(late, [(1, 1), (2, 0), (3, 1)]);
        assert!(schedule.has_passed(3) && !schedule.has_passed(4));
        assert_eq!(schedule.after(3), 5);
    }
}
