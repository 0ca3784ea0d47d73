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

    /// When the byte behind `offset` arrived, once a reading beyond it exists. A pause at the offset is not waited
    /// out: what counts is the first byte after it.
    #[must_use]
    pub fn crossing(&self, offset: u64) -> Option<Crossing> {
        let after = self.readings.iter().position(|&(_, bytes)| bytes > offset)?;
        let (end, bytes_after) = self.readings[after];
        let Some(&(begin, bytes_before)) =
            after.checked_sub(1).map(|before| &self.readings[before])
        else {
            return Some(Crossing { at_seconds: end, uncertainty_seconds: f64::INFINITY });
        };
        let share = (offset - bytes_before) as f64 / (bytes_after - bytes_before) as f64;
        Some(Crossing {
            at_seconds: begin + share * (end - begin),
            uncertainty_seconds: end - begin,
        })
    }

    /// How many bytes had arrived at a time, between two readings in proportion.
    #[must_use]
    pub fn bytes_at(&self, at_seconds: f64) -> Option<u64> {
        let after = self.readings.iter().position(|&(time, _)| time >= at_seconds);
        let &(end, bytes_after) = match after {
            Some(place) => &self.readings[place],
            None => return self.readings.back().map(|&(_, bytes)| bytes),
        };
        let before = after.and_then(|place| place.checked_sub(1));
        let Some(&(begin, bytes_before)) = before.map(|place| &self.readings[place]) else {
            return Some(bytes_after);
        };
        let share = (at_seconds - begin) / (end - begin);
        // A share of a difference of byte counts is a byte count.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let part = ((bytes_after - bytes_before) as f64 * share).round() as u64;
        Some(bytes_before + part)
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
    fn a_flow_that_paused_at_the_offset_crosses_it_with_its_next_byte() {
        let paused = [(1.0, 10), (2.0, 10), (3.0, 10)];
        assert_eq!(readings(&paused).crossing(10), None);
        let mut checkpoints = readings(&paused);
        checkpoints.record(4.0, 20);
        let expected = Crossing { at_seconds: 3.0, uncertainty_seconds: 1.0 };
        assert_eq!(checkpoints.crossing(10), Some(expected));
    }

    #[test]
    fn bytes_between_two_readings_are_in_proportion() {
        let checkpoints = readings(&[(1.0, 1_000), (2.0, 3_000)]);
        assert_eq!(checkpoints.bytes_at(1.25), Some(1_500));
        assert_eq!(checkpoints.bytes_at(2.0), Some(3_000));
    }

    #[test]
    fn outside_of_the_readings_the_nearest_one_counts() {
        let checkpoints = readings(&[(1.0, 1_000), (2.0, 3_000)]);
        assert_eq!(checkpoints.bytes_at(0.5), Some(1_000));
        assert_eq!(checkpoints.bytes_at(9.0), Some(3_000));
        assert_eq!(readings(&[]).bytes_at(1.0), None);
    }
}
