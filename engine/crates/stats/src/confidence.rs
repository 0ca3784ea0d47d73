//! Confidence interval of a mean, as netperf states it: its full width over the mean.

use crate::student::two_sided_quantile;

/// Mean of repetitions with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    /// Arithmetic mean.
    pub mean: f64,
    /// Half of the interval's width, in the values' unit.
    pub half_width: f64,
}

impl Confidence {
    /// The interval of the mean of at least two values at `level` (0 to 1, exclusive); fewer say nothing.
    ///
    /// t(level, n − 1)·√(s²/n) on each side of the mean, s² with n − 1 below. netperf (`calculate_confidence` in
    /// `src/netlib.c`) writes √(var/(n − 1)) with a variance that has n below: the same number.
    #[must_use]
    pub fn of(values: &[f64], level: f64) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let variance = squares / (count - 1.0);
        let quantile = two_sided_quantile(level, values.len() - 1);
        Some(Self { mean, half_width: quantile * (variance / count).sqrt() })
    }

    /// Full width over the mean: netperf's `-I 99,5` wants this at most 0.05, which is ±2.5 %.
    ///
    /// Infinite when the values vary around 0: no width is small beside it.
    #[must_use]
    pub fn relative_width(&self) -> f64 {
        if self.half_width == 0.0 { 0.0 } else { 2.0 * self.half_width / self.mean.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::Confidence;

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(Confidence::of(&[1.0], 0.95), None);
    }

    #[test]
    fn equal_values_have_an_interval_of_no_width() {
        let interval = Confidence::of(&[3.0, 3.0, 3.0], 0.99);
        assert_eq!(interval, Some(Confidence { mean: 3.0, half_width: 0.0 }));
        assert_eq!(
            Confidence::of(&[0.0, 0.0], 0.99).map(|found| found.relative_width()),
            Some(0.0)
        );
    }

    #[test]
    fn values_around_zero_are_never_narrow() {
        let interval = Confidence::of(&[-1.0, 1.0], 0.95).expect("two values have an interval");
        assert!(interval.relative_width().is_infinite());
    }

    #[test]
    fn three_values_use_two_degrees_of_freedom() {
        let interval = Confidence::of(&[9.0, 10.0, 11.0], 0.95).expect("three have an interval");
        let half_width = 0.95 * (2.0 / (1.0 - 0.95_f64.powi(2))).sqrt() / 3.0_f64.sqrt();
        assert!((interval.half_width - half_width).abs() < 1e-9);
        assert!((interval.relative_width() - 2.0 * half_width / 10.0).abs() < 1e-10);
    }

    /// netperf's own arithmetic: sums, a variance over n, and √(var/(n − 1)).
    #[test]
    fn the_width_is_the_one_that_netperf_computes() {
        let values = [941.2, 938.7, 940.1, 935.9];
        let count = 4.0;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| value * value).sum::<f64>() / count - mean * mean;
        let netperf = 2.0 * 5.841 * (variance / (count - 1.0)).sqrt() / mean;
        let own = Confidence::of(&values, 0.99).expect("four have an interval").relative_width();
        assert!((own - netperf).abs() < 1e-6, "{own} {netperf}");
    }
}
