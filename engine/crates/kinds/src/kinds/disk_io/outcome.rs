//! What a job came to, whoever measured it: reads and writes apart, and together.

use proto::{Histogram, HostTest, Metrics};
use serde_json::Value;
use stats::Latency;

use super::job::Job;
use crate::host_kind::HostReport;
use crate::outcome::distribution;

/// Metrics of one direction begin so.
const PREFIXES: [&str; 2] = ["read_", "write_"];

/// What was read, or what was written.
#[derive(Debug, Default)]
pub struct Direction {
    /// Operations in the measured window.
    pub operations: f64,
    /// Per second.
    pub iops: f64,
    /// Payload per second.
    pub bytes_per_second: f64,
    /// Seconds by the end of the metric's name, such as `mean`.
    pub latency: Vec<(&'static str, f64)>,
    /// The distribution, where this engine measured.
    pub distribution: Option<Latency>,
}

impl Direction {
    /// Of latencies that this engine measured over so many seconds.
    pub fn of_latency(latency: Latency, job: &Job, seconds: f64) -> Self {
        let count = latency.count() as f64;
        if count <= 0.0 || seconds <= 0.0 {
            return Self::default();
        }
        let iops = count / seconds;
        Self {
            operations: count,
            iops,
            bytes_per_second: iops * job.block_bytes as f64,
            latency: distribution::figures(&latency),
            distribution: Some(latency),
        }
    }

    /// Of one direction of a job in fio's JSON.
    pub fn of_fio(document: &Value) -> Self {
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        let latency = &document["lat_ns"];
        let nanoseconds = |value: &Value| value.as_f64().filter(|value| *value > 0.0);
        let percentile = |name: &str| nanoseconds(&latency["percentile"][name]);
        let values = [
            ("min", nanoseconds(&latency["min"])),
            ("mean", nanoseconds(&latency["mean"])),
            ("p50", percentile("50.000000")),
            ("p90", percentile("90.000000")),
            ("p99", percentile("99.000000")),
            ("p999", percentile("99.900000")),
            ("max", nanoseconds(&latency["max"])),
            ("stddev", nanoseconds(&latency["stddev"])),
        ];
        let known = values.into_iter().filter_map(|(name, value)| Some((name, value? / 1e9)));
        Self {
            operations: number(&document["total_ios"]),
            iops: number(&document["iops"]),
            bytes_per_second: number(&document["bw_bytes"]),
            latency: known.collect(),
            distribution: None,
        }
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.latency.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// The report of a job; `directions` are reads and writes.
pub fn report(directions: &[Direction; 2], job: &Job, test: HostTest) -> HostReport {
    let [reads, writes] = directions;
    let mut metrics = Metrics::new();
    let mut add = |key: String, value: f64| {
        metrics.insert(key, value);
    };
    add("iops".to_owned(), reads.iops + writes.iops);
    add("bytes_per_second".to_owned(), reads.bytes_per_second + writes.bytes_per_second);
    for (key, value) in together(reads, writes) {
        add(format!("latency_{key}_seconds"), value);
    }
    if (1..100).contains(&job.reads_of_hundred()) {
        for (direction, prefix) in directions.iter().zip(PREFIXES) {
            add(format!("{prefix}iops"), direction.iops);
            add(format!("{prefix}bytes_per_second"), direction.bytes_per_second);
            for (key, value) in &direction.latency {
                add(format!("{prefix}latency_{key}_seconds"), *value);
            }
        }
    }
    let (histogram, flags) = histogram(directions);
    let operations: f64 = directions.iter().map(|direction| direction.operations).sum();
    // A count of operations is no negative number, and below 2^53.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let operations = operations as u64;
    let bytes = operations * job.block_bytes as u64;
    HostReport { metrics, bytes, histogram, flags, cpu_seconds: 0.0, test }
}

/// Latencies of all operations: of one direction all that is known; of two what can be told of both together.
fn together(reads: &Direction, writes: &Direction) -> Vec<(&'static str, f64)> {
    match (reads.operations > 0.0, writes.operations > 0.0) {
        (true, false) => return reads.latency.clone(),
        (false, true) => return writes.latency.clone(),
        (false, false) => return Vec::new(),
        (true, true) => {}
    }
    if let Some((one, other)) = reads.distribution.as_ref().zip(writes.distribution.as_ref()) {
        let mut joined = one.clone();
        joined.join(other);
        return distribution::figures(&joined);
    }
    let both = |name| reads.value(name).zip(writes.value(name));
    let operations = reads.operations + writes.operations;
    let mean = both("mean")
        .map(|(read, write)| (read * reads.operations + write * writes.operations) / operations);
    let values = [
        ("min", both("min").map(|(read, write)| read.min(write))),
        ("mean", mean),
        ("max", both("max").map(|(read, write)| read.max(write))),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The distribution of all operations, and the flag of one that could not be written.
fn histogram(directions: &[Direction; 2]) -> (Option<Histogram>, Vec<String>) {
    let mut known = directions.iter().filter_map(|direction| direction.distribution.as_ref());
    let Some(first) = known.next() else { return (None, Vec::new()) };
    let mut joined = first.clone();
    known.for_each(|other| joined.join(other));
    let histogram = distribution::histogram(&joined);
    let is_missing = histogram.is_none();
    (histogram, is_missing.then(|| distribution::NOT_ENCODED.to_owned()).into_iter().collect())
}

/// Metrics of an interval of `seconds`, in which so many reads and writes were done.
pub fn moved(operations: [u64; 2], job: &Job, seconds: f64) -> Metrics {
    let iops = operations.iter().sum::<u64>() as f64 / seconds;
    crate::host_kind::metrics([("iops", iops), ("bytes_per_second", iops * job.block_bytes as f64)])
}
