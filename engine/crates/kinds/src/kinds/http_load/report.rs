//! What the threads measured, joined.

use proto::{EndReport, Metrics, Window};
use stats::Latency;

use super::tally::Loaded;
use crate::end::End;
use crate::flow::counter::Count;
use crate::measurements::{Measured, own_figures};
use crate::outcome::requests::add_latency;
use crate::outcome::streams::joint_seconds;
use crate::outcome::window;

/// A rate below this share of the asked one is flagged.
const REACHED_SHARE: f64 = 0.98;

/// Metrics of an interval.
pub fn interval(count: Count, seconds: f64) -> Metrics {
    Metrics::from([
        ("requests_per_second".to_owned(), count.units as f64 / seconds),
        ("received_bytes_per_second".to_owned(), count.bytes as f64 / seconds),
    ])
}

/// The source's half, of a test at so many requests per second; the sink's is empty: it answers and measures nothing.
pub fn report(end: &End, asked: f64, measured: &Measured) -> EndReport {
    let mut report = EndReport::default();
    let loads: Vec<&Loaded> = own_figures(measured).collect();
    let spans = || loads.iter().filter_map(|loaded| loaded.span);
    let Some(seconds) = joint_seconds(spans()) else {
        return report;
    };
    let mut latency = Latency::default();
    for loaded in &loads {
        latency.join(&loaded.latency);
    }
    let rate = latency.count() as f64 / seconds;
    let bytes: u64 = loads.iter().map(|loaded| loaded.bytes).sum();
    report.metrics.insert("requests_per_second".to_owned(), rate);
    report.metrics.insert("received_bytes_per_second".to_owned(), bytes as f64 / seconds);
    add_errors(&mut report.metrics, &loads);
    add_latency(&mut report, &latency);
    add_spread(&mut report.metrics, &latency);
    report.flags.extend(flags(asked, &loads, rate).map(str::to_owned));
    let window = window::window(end, spans().map(|span| span.0).min(), seconds, 0);
    report.window = window.map(|window| Window { reverse_bytes: None, ..window });
    report
}

fn add_errors(metrics: &mut Metrics, loads: &[&Loaded]) {
    let sum = |count: fn(&Loaded) -> u64| loads.iter().map(|loaded| count(loaded)).sum::<u64>();
    let kinds = [
        ("connect_errors", sum(|loaded| loaded.connect_errors)),
        ("read_errors", sum(|loaded| loaded.read_errors)),
        ("write_errors", sum(|loaded| loaded.write_errors)),
        ("timeout_errors", sum(|loaded| loaded.timeout_errors)),
    ];
    let all: u64 = kinds.iter().map(|(_, count)| count).sum();
    let failed = ("failed_responses", sum(|loaded| loaded.failed_responses));
    for (key, count) in kinds.into_iter().chain([("errors", all), failed]) {
        metrics.insert(key.to_owned(), count as f64);
    }
}

/// What wrk prints and the other kinds don't.
fn add_spread(metrics: &mut Metrics, latency: &Latency) {
    if let Some((p75, share)) = latency.quantile(0.75).zip(latency.share_within_stddev()) {
        metrics.insert("latency_p75_seconds".to_owned(), p75);
        metrics.insert("latency_within_stddev_ratio".to_owned(), share);
    }
}

fn flags(asked: f64, loads: &[&Loaded], rate: f64) -> impl Iterator<Item = &'static str> {
    let is_fixed = asked > 0.0;
    [
        is_fixed.then_some("coordinated_omission_corrected"),
        (is_fixed && rate < REACHED_SHARE * asked).then_some("rate_not_reached"),
        loads.iter().any(|loaded| loaded.ports_exhausted).then_some("ports_exhausted"),
    ]
    .into_iter()
    .flatten()
}
