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

    /// The requests that have become due, each with the place of its connection; of each connection the first only,
    /// which is what an idle one sends next. However far the server is behind, this takes no longer.
    pub fn take_due(&mut self, now: Instant) -> impl Iterator<Item = (u64, usize)> + use<> {
        let (first, connections) = (self.cursor, self.connections);
        self.cursor = self.passed_at(now);
        let looked_at = first..self.cursor.min(first + connections);
        // A place among connections is a small number.
        looked_at.map(move |request| (request, usize::try_from(request % connections).unwrap_or(0)))
    }

    /// How many requests have become due by now.
    fn passed_at(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.first_due).as_secs_f64();
        // Far below 2^53, and positive.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let mut passed = self.cursor.max((elapsed / self.gap_seconds) as u64);
        // The division may be off by a little.
        while passed > self.cursor && self.due(passed - 1) > now {
            passed -= 1;
        }
        while self.due(passed) <= now {
            passed += 1;
        }
        passed
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
        let mut due_at = |time| schedule.take_due(at(time)).collect::<Vec<_>>();
        assert_eq!(due_at(999), []);
        assert_eq!(due_at(1_001), [(0, 0)]);
        assert_eq!(due_at(1_001), []);
        assert_eq!(due_at(5_500), [(1, 1), (2, 0)]);
        assert_eq!(schedule.next_due(), at(7_000));
        assert!(schedule.has_passed(2) && !schedule.has_passed(3));
        assert_eq!(schedule.after(3), 5);
    }

    #[test]
    fn far_behind_each_connection_is_looked_at_once() {
        let origin = Instant::now();
        let mut schedule = Schedule::new(1e8, 3, 3, 0, origin);
        let due: Vec<_> = schedule.take_due(origin + Duration::from_secs(3_600)).collect();
        assert_eq!(due, [(0, 0), (1, 1), (2, 2)]);
        assert!(schedule.has_passed(360_000_000_000 - 1) && !schedule.has_passed(360_000_001_000));
        let next = schedule.next_due();
        assert!(next > origin + Duration::from_secs(3_600), "{:?}", next - origin);
    }
}
