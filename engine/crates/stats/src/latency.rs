//! Latencies in an HDR histogram: nanoseconds, three digits, and the form in which it travels.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// One hour: nothing that answers later is a latency.
const HIGHEST_NANOSECONDS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;
/// Of so many, each is kept: at a long round trip there are few, and three digits of seconds are milliseconds.
const KEPT_AT_MOST: usize = 1_024;

/// Why a histogram could not be written, read or joined.
#[derive(Debug, thiserror::Error)]
pub enum LatencyError {
    /// The compressed form could not be made.
    #[error("latency histogram could not be encoded: {0}")]
    Encode(String),
    /// The compressed form could not be read.
    #[error("latency histogram could not be decoded: {0}")]
    Decode(String),
}

/// Latencies of one flow, or of several joined.
#[derive(Debug, Clone)]
pub struct Latency {
    histogram: Histogram<u64>,
    /// All of them, as long as they are few.
    kept: Vec<u64>,
    least: u64,
    greatest: u64,
    sum_nanoseconds: u128,
    sum_of_squares: u128,
}

/// The figures a result carries, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencySummary {
    /// Number of latencies.
    pub count: u64,
    /// Smallest.
    pub min: f64,
    /// Arithmetic mean, exact.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Largest.
    pub max: f64,
    /// Standard deviation.
    pub stddev: f64,
}

impl Default for Latency {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, HIGHEST_NANOSECONDS, SIGNIFICANT_DIGITS)
            .expect("bounds 1 ns to 1 h with three digits are valid");
        Self {
            histogram,
            kept: Vec::new(),
            least: u64::MAX,
            greatest: 0,
            sum_nanoseconds: 0,
            sum_of_squares: 0,
        }
    }
}

impl Latency {
    /// Counts one latency; what is over an hour counts as an hour.
    pub fn record(&mut self, nanoseconds: u64) {
        if self.kept.len() < KEPT_AT_MOST {
            self.kept.push(nanoseconds);
        }
        self.histogram.saturating_record(nanoseconds);
        self.least = self.least.min(nanoseconds);
        self.greatest = self.greatest.max(nanoseconds);
        self.sum_nanoseconds += u128::from(nanoseconds);
        self.sum_of_squares += u128::from(nanoseconds) * u128::from(nanoseconds);
    }

    /// Adds another flow's latencies.
    ///
    /// # Panics
    /// Never: both histograms have the same bounds.
    pub fn join(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("both histograms have the same bounds");
        let room = KEPT_AT_MOST - self.kept.len();
        self.kept.extend(other.kept.iter().take(room));
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.sum_nanoseconds += other.sum_nanoseconds;
        self.sum_of_squares += other.sum_of_squares;
    }

    /// Number of latencies recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The longest, in nanoseconds; 0 when nothing was recorded.
    #[must_use]
    pub const fn greatest(&self) -> u64 {
        self.greatest
    }

    /// The figures, or nothing when nothing was recorded. Percentiles of more than a thousand have three digits; the rest
    /// is exact.
    #[must_use]
    pub fn summary(&self) -> Option<LatencySummary> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let [p50, p90, p99, p999] = self.quantiles([0.5, 0.9, 0.99, 0.999]);
        Some(LatencySummary {
            count,
            min: self.least as f64 / 1e9,
            mean: self.sum_nanoseconds as f64 / count as f64 / 1e9,
            p50,
            p90,
            p99,
            p999,
            max: self.greatest as f64 / 1e9,
            stddev: self.deviation() / 1e9,
        })
    }

    /// The standard deviation in nanoseconds: in whole numbers as long as possible, for the difference of two large
    /// squares would lose its digits.
    fn deviation(&self) -> f64 {
        let count = u128::from(self.count());
        let squares = count.saturating_mul(self.sum_of_squares);
        let spread =
            squares.saturating_sub(self.sum_nanoseconds.saturating_mul(self.sum_nanoseconds));
        (spread as f64).sqrt() / count as f64
    }

    /// The latencies, in seconds, that these shares of all don't exceed.
    fn quantiles<const COUNT: usize>(&self, shares: [f64; COUNT]) -> [f64; COUNT] {
        if self.count() > self.kept.len() as u64 {
            // A bucket of the histogram may reach beyond what was seen.
            let of =
                |share| self.histogram.value_at_quantile(share).clamp(self.least, self.greatest);
            return shares.map(|share| of(share) as f64 / 1e9);
        }
        let mut kept = self.kept.clone();
        kept.sort_unstable();
        // Positive, and at most as many as there are.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let place = |share: f64| ((share * kept.len() as f64).ceil() as usize).max(1) - 1;
        shares.map(|share| kept.get(place(share)).map_or(0.0, |value| *value as f64 / 1e9))
    }

    /// The latency, in seconds, that this share of all doesn't exceed; nothing when nothing was recorded.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let [value] = self.quantiles([share]);
        (self.count() > 0).then_some(value)
    }

    /// The share of all that is at most one standard deviation from the mean; nothing when nothing was recorded.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Nanoseconds within an hour.
    pub fn share_within_stddev(&self) -> Option<f64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let mean = self.sum_nanoseconds as f64 / count as f64;
        let deviation = self.deviation();
        let low = (mean - deviation).max(0.0).ceil() as u64;
        let high = (mean + deviation).floor() as u64;
        // Whole buckets count: with three digits a bucket is at most 0.1 % of its value wide.
        let within = self
            .histogram
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
            .filter(|(value, _)| {
                let lowest = self.histogram.lowest_equivalent(*value);
                self.histogram.highest_equivalent(*value) >= low && lowest <= high
            })
            .map(|(_, count)| count)
            .sum::<u64>();
        Some(within as f64 / count as f64)
    }

    /// HDR V2, deflated, base64: the form in a result.
    ///
    /// # Errors
    /// When the serializer refuses, which only a histogram of over 2^63 values makes it do.
    pub fn encoded(&self) -> Result<String, LatencyError> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.histogram, &mut bytes)
            .map_err(|error| LatencyError::Encode(format!("{error:?}")))?;
        Ok(STANDARD.encode(bytes))
    }

    /// Number of latencies in an encoded histogram.
    ///
    /// # Errors
    /// When the text is not base64 of a deflated HDR V2 histogram.
    pub fn encoded_count(text: &str) -> Result<u64, LatencyError> {
        let bytes =
            STANDARD.decode(text).map_err(|error| LatencyError::Decode(error.to_string()))?;
        let histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| LatencyError::Decode(format!("{error:?}")))?;
        Ok(histogram.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Latency;

    fn latencies(nanoseconds: &[u64]) -> Latency {
        let mut latency = Latency::default();
        for &value in nanoseconds {
            latency.record(value);
        }
        latency
    }

    #[test]
    fn nothing_recorded_has_no_summary() {
        assert_eq!(Latency::default().summary(), None);
    }

    #[test]
    fn the_mean_is_exact_and_the_count_whole() {
        let summary = latencies(&[1_000, 2_000, 6_001]).summary().expect("three values");
        assert_eq!(summary.count, 3);
        assert!((summary.mean - 9_001.0 / 3.0 / 1e9).abs() < 1e-15);
    }

    #[test]
    fn few_latencies_are_told_to_the_nanosecond_however_long_they_are() {
        let mut joined = latencies(&[3_200_700_001, 3_201_900_003]);
        joined.join(&latencies(&[3_200_100_007]));
        let summary = joined.summary().expect("values");
        let exact = |seconds: f64| (seconds * 1e9).round().to_bits();
        assert_eq!(exact(summary.min), 3_200_100_007_f64.to_bits());
        assert_eq!(exact(summary.p50), 3_200_700_001_f64.to_bits());
        assert_eq!(exact(summary.p99), 3_201_900_003_f64.to_bits());
        assert_eq!(exact(summary.max), 3_201_900_003_f64.to_bits());
        assert_eq!(
            latencies(&[3_200_700_001; 9]).summary().map(|summary| summary.stddev),
            Some(0.0)
        );
    }

    #[test]
    fn the_extremes_of_many_are_exact_and_bound_their_percentiles() {
        let values: Vec<u64> = (0..5_000).map(|number| 1_200_000_007 + number % 3).collect();
        let summary = latencies(&values).summary().expect("values");
        assert_eq!((summary.min * 1e9).round().to_bits(), 1_200_000_007_f64.to_bits());
        assert!(summary.p50 >= summary.min && summary.p999 <= summary.max);
    }

    #[test]
    fn percentiles_are_within_three_digits() {
        let summary = latencies(&(1..=10_000).map(|value| value * 100).collect::<Vec<_>>())
            .summary()
            .expect("values");
        assert!((summary.p50 - 500e-6).abs() < 0.5e-6);
        assert!((summary.p99 - 990e-6).abs() < 1e-6);
        assert!((summary.max - 1e-3).abs() < 1e-6);
    }

    #[test]
    fn the_share_within_one_deviation_is_counted() {
        assert_eq!(Latency::default().share_within_stddev(), None);
        assert_eq!(latencies(&[1_000]).share_within_stddev(), Some(1.0));
        // Mean 3.7 µs, standard deviation 8.1 µs: all but the last.
        let spread =
            latencies(&[1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 28_000]);
        assert_eq!(spread.share_within_stddev(), Some(0.9));
        assert_eq!(latencies(&[1_000, 9_000]).share_within_stddev(), Some(1.0));
        assert_eq!(spread.quantile(0.75).map(|seconds| (seconds * 1e6).round()), Some(1.0));
    }

    #[test]
    fn joined_flows_count_together() {
        let mut joined = latencies(&[5]);
        joined.join(&latencies(&[7, 9]));
        assert_eq!(joined.count(), 3);
        assert!((joined.summary().expect("values").mean - 7e-9).abs() < 1e-18);
    }

    #[test]
    fn the_encoded_form_holds_every_latency() {
        let text = latencies(&[1_000, 2_000, 2_000]).encoded().expect("encodes");
        assert_eq!(Latency::encoded_count(&text).expect("decodes"), 3);
        assert!(Latency::encoded_count("no histogram").is_err());
    }
}
