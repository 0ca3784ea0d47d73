//! Round-trip times as ping tells them: exact minimum, mean, maximum and mdev, with percentiles.

use crate::latency::{Latency, LatencyError};

/// Round trips of one phase of a test.
#[derive(Debug, Clone, Default)]
pub struct RoundTrips {
    latency: Latency,
}

/// The figures of a phase, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundTripSummary {
    /// Number of round trips.
    pub count: u64,
    /// Smallest, exact.
    pub min: f64,
    /// Arithmetic mean, exact.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest, exact.
    pub max: f64,
    /// ping's: the square root of the mean of the squares less the square of the mean.
    pub mdev: f64,
}

impl RoundTrips {
    /// Counts one round trip.
    pub fn record(&mut self, nanoseconds: u64) {
        self.latency.record(nanoseconds);
    }

    /// Number of round trips recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.latency.count()
    }

    /// The longest so far, in nanoseconds; 0 when nothing was recorded.
    #[must_use]
    pub const fn greatest(&self) -> u64 {
        self.latency.greatest()
    }

    /// The figures, or nothing when nothing was recorded; percentiles of more than a thousand have three digits.
    #[must_use]
    pub fn summary(&self) -> Option<RoundTripSummary> {
        let summary = self.latency.summary()?;
        Some(RoundTripSummary {
            count: summary.count,
            min: summary.min,
            mean: summary.mean,
            p50: summary.p50,
            p90: summary.p90,
            p99: summary.p99,
            max: summary.max,
            mdev: summary.stddev,
        })
    }

    /// HDR V2, deflated, base64: the form in a result.
    ///
    /// # Errors
    /// When the serializer refuses.
    pub fn encoded(&self) -> Result<String, LatencyError> {
        self.latency.encoded()
    }
}

#[cfg(test)]
mod tests {
    use super::RoundTrips;

    fn round_trips(nanoseconds: &[u64]) -> RoundTrips {
        let mut trips = RoundTrips::default();
        for &value in nanoseconds {
            trips.record(value);
        }
        trips
    }

    #[test]
    fn nothing_recorded_has_no_summary() {
        assert_eq!(RoundTrips::default().summary(), None);
    }

    /// Two runs of `ping` (iputils 20221126) on loopback: the replies' times and the last line, which cuts to microseconds.
    #[test]
    fn mean_and_mdev_are_those_that_ping_prints_of_the_same_replies() {
        let runs: [(&[u64], f64, f64); 2] = [
            // rtt min/avg/max/mdev = 0.028/0.035/0.043/0.003 ms
            (&[36, 35, 35, 28, 35, 43, 34, 36], 35.0, 3.0),
            // rtt min/avg/max/mdev = 0.014/0.038/0.044/0.010 ms
            (&[14, 43, 44, 42, 43, 42], 38.0, 10.0),
        ];
        for (microseconds, mean, mdev) in runs {
            let nanoseconds: Vec<u64> = microseconds.iter().map(|value| value * 1_000).collect();
            let summary = round_trips(&nanoseconds).summary().expect("values");
            let cut = |seconds: f64| (seconds * 1e6 + 1e-6).floor().to_bits();
            assert_eq!(cut(summary.mean), f64::to_bits(mean));
            assert_eq!(cut(summary.mdev), f64::to_bits(mdev));
        }
    }

    #[test]
    fn equal_round_trips_have_no_deviation_however_long_they_are() {
        let summary = round_trips(&[1_000_000_007; 1_000]).summary().expect("values");
        assert_eq!(summary.mdev.to_bits(), 0.0_f64.to_bits());
        assert_eq!(summary.min.to_bits(), 1.000_000_007_f64.to_bits());
    }

    #[test]
    fn minimum_and_maximum_are_exact_and_bound_the_percentiles() {
        let summary = round_trips(&[1_234_567, 1_234_568]).summary().expect("values");
        assert_eq!((summary.min * 1e9).round().to_bits(), 1_234_567_f64.to_bits());
        assert_eq!((summary.max * 1e9).round().to_bits(), 1_234_568_f64.to_bits());
        assert!(summary.p50 >= summary.min && summary.p99 <= summary.max);
    }
}
