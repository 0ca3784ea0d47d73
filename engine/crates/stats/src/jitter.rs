//! Interarrival jitter of RFC 3550 section 6.4.1, with two corrections that its users ask for.

/// Interarrival jitter of one flow, in seconds.
///
/// The estimate starts at the first difference, not at zero (a zero start takes dozens of
/// packets to forget), and a difference is only taken between two consecutive sequence numbers:
/// a gap is loss, and its transit times say nothing about jitter.
#[derive(Debug, Default, Clone)]
pub struct Jitter {
    previous: Option<Sample>,
    estimate_nanoseconds: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    sequence: u64,
    transit_nanoseconds: u64,
}

impl Jitter {
    /// Takes one datagram: its sequence number, when it was sent and when it arrived, each on its own clock.
    pub fn record(&mut self, sequence: u64, sent_nanoseconds: u64, arrived_nanoseconds: u64) {
        // Only differences of transit times matter, so the two clocks' offset may wrap freely.
        let transit_nanoseconds = arrived_nanoseconds.wrapping_sub(sent_nanoseconds);
        if let Some(previous) = self.previous.filter(|previous| previous.sequence + 1 == sequence) {
            let forward = transit_nanoseconds.wrapping_sub(previous.transit_nanoseconds);
            self.smooth(forward.min(forward.wrapping_neg()) as f64);
        }
        self.previous = Some(Sample { sequence, transit_nanoseconds });
    }

    fn smooth(&mut self, difference: f64) {
        const GAIN: f64 = 1.0 / 16.0; // RFC 3550
        self.estimate_nanoseconds = Some(match self.estimate_nanoseconds {
            None => difference,
            Some(estimate) => estimate + (difference - estimate) * GAIN,
        });
    }

    /// The present estimate, or nothing before two consecutive datagrams were seen.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        self.estimate_nanoseconds.map(|nanoseconds| nanoseconds / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::Jitter;

    #[test]
    fn one_datagram_gives_no_jitter() {
        let mut jitter = Jitter::default();
        jitter.record(0, 1_000, 5_000);
        assert_eq!(jitter.seconds(), None);
    }

    #[test]
    fn the_first_difference_is_the_first_estimate() {
        let mut jitter = Jitter::default();
        jitter.record(0, 0, 1_000);
        jitter.record(1, 1_000, 2_160);
        assert_eq!(jitter.seconds(), Some(160e-9));
    }

    #[test]
    fn later_differences_move_it_by_a_sixteenth() {
        let mut jitter = Jitter::default();
        jitter.record(0, 0, 1_000);
        jitter.record(1, 1_000, 2_160);
        jitter.record(2, 2_000, 3_160);
        assert_eq!(jitter.seconds(), Some(150e-9));
    }

    #[test]
    fn a_gap_is_not_carried_over() {
        let mut jitter = Jitter::default();
        jitter.record(0, 0, 1_000);
        jitter.record(1, 1_000, 2_160);
        jitter.record(9, 9_000, 99_000);
        assert_eq!(jitter.seconds(), Some(160e-9));
        jitter.record(10, 10_000, 100_160);
        assert_eq!(jitter.seconds(), Some(160e-9));
    }

    #[test]
    fn clocks_apart_by_any_offset_give_the_same_jitter() {
        let mut jitter = Jitter::default();
        jitter.record(0, u64::MAX - 10, 5);
        jitter.record(1, 989, 1_165);
        assert_eq!(jitter.seconds(), Some(160e-9));
    }
}
