//! Confidence interval of a mean, as netperf states it: its full width over the mean.

/// Mean of repetitions with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    /// Arithmetic mean.
    pub mean: f64,
    /// Half of the interval's width, in the values' unit.
    pub half_width: f64,
}

impl Confidence {
    /// Full width over the mean: netperf's "-I 95,5" wants this at most 0.05.
    #[must_use]
    pub fn relative_width(&self) -> f64 {
        2.0 * self.half_width / self.mean
    }
}

/// Two-sided 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom.
const STUDENT_T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];
const NORMAL: f64 = 1.960;

/// The 95 % interval of the mean of at least two values; fewer say nothing.
#[must_use]
pub fn confidence_95(values: &[f64]) -> Option<Confidence> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let quantile = STUDENT_T.get(values.len() - 2).copied().unwrap_or(NORMAL);
    Some(Confidence { mean, half_width: quantile * (variance / count).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::{Confidence, confidence_95};

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(confidence_95(&[1.0]), None);
    }

    #[test]
    fn equal_values_have_an_interval_of_no_width() {
        assert_eq!(
            confidence_95(&[3.0, 3.0, 3.0]),
            Some(Confidence { mean: 3.0, half_width: 0.0 })
        );
    }

    #[test]
    fn three_values_use_two_degrees_of_freedom() {
        let interval = confidence_95(&[9.0, 10.0, 11.0]).expect("three values have an interval");
        assert!((interval.half_width - 4.303 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert!((interval.relative_width() - 2.0 * 4.303 / 3.0_f64.sqrt() / 10.0).abs() < 1e-12);
    }
}
