//! When a byte of a stream arrived, from a few readings of a counter.
//!
//! The receiver's hot loop reads no clock. A second thread notes (time, bytes so far) while the
//! warm-up's end is near; the instant of the marked offset is interpolated between two notes.

/// When an offset was crossed, and how far apart the two readings around it were.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Seconds on the receiver's clock.
    pub at_seconds: f64,
    /// Width of the bracket: the cut is at most this far off.
    pub uncertainty_seconds: f64,
}

/// Readings of one flow's byte counter, in order of time, of which the newest are kept.
#[derive(Debug)]
pub struct Checkpoints {
    readings: std::collections::VecDeque<(f64, u64)>,
    capacity: usize,
}

impl Checkpoints {
    /// Keeps the newest `capacity` readings.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { readings: std::collections::VecDeque::new(), capacity: capacity.max(2) }
    }

    /// Notes that `bytes` had arrived at `at_seconds`.
    pub fn record(&mut self, at_seconds: f64, bytes: u64) {
        if self.readings.len() == self.capacity {
            self.readings.pop_front();
        }
        self.readings.push_back((at_seconds, bytes));
    }

    /// The time at which the stream passed `offset`, once a reading at or beyond it exists.
    #[must_use]
    pub fn crossing(&self, offset: u64) -> Option<Crossing> {
        let after = self.readings.iter().position(|&(_, bytes)| bytes >= offset)?;
        let (end, bytes_after) = self.readings[after];
        let Some(&(begin, bytes_before)) =
            after.checked_sub(1).map(|before| &self.readings[before])
        else {
            // Nothing older is known: exact only if the reading is the offset itself.
            let uncertainty_seconds = if bytes_after == offset { 0.0 } else { f64::INFINITY };
            return Some(Crossing { at_seconds: end, uncertainty_seconds });
        };
        let share = (offset - bytes_before) as f64 / (bytes_after - bytes_before) as f64;
        Some(Crossing {
            at_seconds: begin + share * (end - begin),
            uncertainty_seconds: end - begin,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Checkpoints, Crossing};

    fn readings(pairs: &[(f64, u64)]) -> Checkpoints {
        let mut checkpoints = Checkpoints::new(3);
        for &(at_seconds, bytes) in pairs {
            checkpoints.record(at_seconds, bytes);
        }
        checkpoints
    }

    #[test]
    fn an_offset_between_two_readings_is_interpolated() {
        let crossing = readings(&[(1.0, 1_000), (2.0, 3_000)]).crossing(1_500);
        assert_eq!(crossing, Some(Crossing { at_seconds: 1.25, uncertainty_seconds: 1.0 }));
    }

    #[test]
    fn an_offset_not_yet_reached_has_no_crossing() {
        assert_eq!(readings(&[(1.0, 1_000)]).crossing(1_001), None);
    }

    #[test]
    fn a_pause_before_the_offset_is_not_part_of_the_bracket() {
        let crossing = readings(&[(1.0, 1_000), (5.0, 1_000), (6.0, 2_000)]).crossing(1_500);
        assert_eq!(crossing, Some(Crossing { at_seconds: 5.5, uncertainty_seconds: 1.0 }));
    }

    #[test]
    fn an_offset_before_the_oldest_reading_is_of_unknown_certainty() {
        let crossing = readings(&[(1.0, 10), (2.0, 20), (3.0, 30), (4.0, 40)]).crossing(15);
        assert_eq!(
            crossing,
            Some(Crossing { at_seconds: 2.0, uncertainty_seconds: f64::INFINITY })
        );
    }

    #[test]
    fn the_offset_itself_is_exact_even_in_the_oldest_reading() {
        let crossing = readings(&[(1.0, 10)]).crossing(10);
        assert_eq!(crossing, Some(Crossing { at_seconds: 1.0, uncertainty_seconds: 0.0 }));
    }
}
