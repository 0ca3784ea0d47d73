//! A latency distribution as a result carries it.

use proto::Histogram;
use stats::Latency;

/// The flag of a distribution that is missing.
pub const NOT_ENCODED: &str = "histogram_not_encoded";

/// Its figures, in seconds by the middle of the metric's name; none of nothing.
pub fn figures(latency: &Latency) -> Vec<(&'static str, f64)> {
    let Some(summary) = latency.summary() else { return Vec::new() };
    vec![
        ("min", summary.min),
        ("mean", summary.mean),
        ("p50", summary.p50),
        ("p90", summary.p90),
        ("p99", summary.p99),
        ("p999", summary.p999),
        ("max", summary.max),
        ("stddev", summary.stddev),
    ]
}

/// The distribution itself; none where it can't be written.
pub fn histogram(latency: &Latency) -> Option<Histogram> {
    let data = latency.encoded().ok()?;
    Some(Histogram {
        metric: "latency".to_owned(),
        unit: "ns".to_owned(),
        encoding: "hdr-v2-deflate-base64".to_owned(),
        data,
    })
}
