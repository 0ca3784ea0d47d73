//! When a byte of a stream arrived, from a few readings of a counter.
//!
//! The receiver's hot loop reads no clock. Only while the warm-up's end is near, (time, bytes so far) is noted; the
//! instant of the marked offset is interpolated between two notes.

/// When an offset was crossed, and how far apart the two readings around it were.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// Seconds on the receiver's clock.
    pub at_seconds: f64,
    /// Width of the bracket: the cut is at most this far off.
    pub uncertainty_seconds: f64,
}

/// The readings around a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// Between the last reading before and the first one at or after it; infinite where one of them is missing.
    pub seconds: f64,
    /// What was counted between the two.
    pub count: u64,
}

/// Readings of one flow's counter, in order of time, of which the newest are kept.
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

    /// Notes that `bytes` had arrived at `at_seconds`; a reading that takes bytes or time back is none.
    pub fn record(&mut self, at_seconds: f64, bytes: u64) {
        if self.readings.back().is_some_and(|&(time, last)| at_seconds <= time || bytes < last) {
            return;
        }
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

    /// The count at a time, between two readings in proportion; outside of them that of the nearest one.
    #[must_use]
    pub fn count_at(&self, at_seconds: f64) -> Option<u64> {
        let after = self.readings.partition_point(|&(time, _)| time < at_seconds);
        let Some(&(end, count_after)) = self.readings.get(after) else {
            return self.readings.back().map(|&(_, count)| count);
        };
        let Some(&(begin, count_before)) =
            after.checked_sub(1).map(|before| &self.readings[before])
        else {
            return Some(count_after);
        };
        let share = (at_seconds - begin) / (end - begin);
        // A share of a difference of counts is a count.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let part = ((count_after - count_before) as f64 * share).round() as u64;
        Some(count_before + part)
    }

    /// How far apart the readings around a time are.
    #[must_use]
    pub fn bracket(&self, at_seconds: f64) -> Bracket {
        let after = self.readings.partition_point(|&(time, _)| time < at_seconds);
        let before = after.checked_sub(1).and_then(|before| self.readings.get(before));
        match (before, self.readings.get(after)) {
            (Some((begin, first)), Some((end, second))) => {
                Bracket { seconds: end - begin, count: second - first }
            }
            _ => Bracket { seconds: f64::INFINITY, count: 0 },
        }
    }

    /// Whether there is a reading of this time or a later one.
    #[must_use]
    pub fn reach(&self, at_seconds: f64) -> bool {
        self.readings.back().is_some_and(|&(time, _)| time >= at_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bracket, Checkpoints, Crossing};

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
        assert_eq!(checkpoints.count_at(1.25), Some(1_500));
        assert_eq!(checkpoints.count_at(2.0), Some(3_000));
    }

    #[test]
    fn outside_of_the_readings_the_nearest_one_counts() {
        let checkpoints = readings(&[(1.0, 1_000), (2.0, 3_000)]);
        assert_eq!(checkpoints.count_at(0.5), Some(1_000));
        assert_eq!(checkpoints.count_at(9.0), Some(3_000));
        assert_eq!(readings(&[]).count_at(1.0), None);
    }

    #[test]
    fn a_time_lies_between_its_two_readings() {
        let checkpoints = readings(&[(1.0, 1_000), (2.0, 3_000)]);
        assert_eq!(checkpoints.bracket(1.25), Bracket { seconds: 1.0, count: 2_000 });
        assert!(checkpoints.bracket(0.5).seconds.is_infinite());
        assert!(checkpoints.bracket(2.5).seconds.is_infinite());
        assert!(checkpoints.reach(2.0));
        assert!(!checkpoints.reach(2.5));
    }

    #[test]
    fn a_reading_that_takes_something_back_is_none() {
        let checkpoints = readings(&[(1.0, 1_000), (2.0, 900), (0.5, 2_000), (3.0, 3_000)]);
        assert_eq!(checkpoints.count_at(2.0), Some(2_000));
    }
}
