//! A result for people: what was measured, what limited it, and what qualifies it.

use std::fmt::Write as _;

use proto::{Catalog, CoreShares, Flow, HostWindow, Limit, Outage, RunResult};

use crate::run::plan::shown;
use crate::run::report::style::Style;
use crate::run::report::table::Table;
use crate::run::report::units::with_unit;

/// Outages that the summary tells the times of; the document has up to a hundred.
const OUTAGES_SHOWN: usize = 10;

/// The result's text.
pub fn of(
    result: &RunResult,
    catalog: &Catalog,
    peer: &str,
    shown_flows: usize,
    style: Style,
) -> String {
    let mut lines = vec![style.bold(&heading(result, catalog, peer))];
    lines.extend(parameters(result, catalog).map(|line| style.dim(&line)));
    lines.extend(metrics(result, catalog, style));
    lines.extend(result.limits.iter().flat_map(|limit| limited(limit, style)));
    lines.extend(flows(result, shown_flows));
    lines.extend(hosts(result));
    lines.extend(result.flags.iter().map(|flag| {
        let more = match (flag.as_str(), &result.path_fault) {
            ("outage", _) => outage_times(&result.outages),
            ("black_hole" | "reverse_black_hole" | "udp_blocked", Some(fault)) => {
                format!(" ({fault})")
            }
            _ => String::new(),
        };
        style.notice(&format!("  {}{more}", explain(catalog, flag)))
    }));
    lines.join("\n")
}

/// A flag in words: `same_host: both ends on one host: no wire was measured`.
pub fn explain(catalog: &Catalog, flag: &str) -> String {
    catalog.flags.get(flag).map_or_else(|| flag.to_owned(), |words| format!("{flag}: {words}"))
}

/// When outages were, the first of them: ` (4.2 to 7.4 s)`.
fn outage_times(outages: &[Outage]) -> String {
    let times: Vec<String> = outages
        .iter()
        .take(OUTAGES_SHOWN)
        .map(|outage| format!("{:.1} to {:.1} s", outage.from_seconds, outage.until_seconds))
        .collect();
    let more = if outages.len() > times.len() { ", and more" } else { "" };
    format!(" ({}{more})", times.join(", "))
}

/// The middle one, or the mean of the two in the middle.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

fn heading(result: &RunResult, catalog: &Catalog, peer: &str) -> String {
    let label = catalog.kinds.get(&result.kind).map_or(&result.kind, |kind| &kind.label);
    let seconds = result.window.as_ref().map_or(0.0, |window| window.elapsed_seconds);
    if let Some(test) = &result.host_test {
        let host = result.source.as_ref().map_or("", |facts| facts.hostname.as_str());
        return format!("{label} of {host}, {seconds:.3} s measured by {}", who(&test.variant));
    }
    let names = result.source.as_ref().zip(result.sink.as_ref());
    let hosts = names.map(|(source, sink)| format!(" ({} to {})", source.hostname, sink.hostname));
    format!("{label}, {seconds:.3} s measured with {peer}{}", hosts.unwrap_or_default())
}

fn who(variant: &str) -> &str {
    if variant == "native" { "this engine" } else { variant }
}

/// Those that are not as the catalog has them.
fn parameters(result: &RunResult, catalog: &Catalog) -> Option<String> {
    let kind = catalog.kinds.get(&result.kind)?;
    let changed: Vec<String> = catalog
        .parameters_of(kind)
        .filter_map(|(name, parameter)| {
            let (_, value) = result.params.iter().find(|(known, _)| *known == name)?;
            (*value != parameter.schema.default).then(|| format!("{name}={}", shown(value)))
        })
        .collect();
    (!changed.is_empty()).then(|| format!("  {}", changed.join(" ")))
}

fn metrics(result: &RunResult, catalog: &Catalog, style: Style) -> Vec<String> {
    let Some(kind) = catalog.kinds.get(&result.kind) else { return Vec::new() };
    let rows = kind.metrics.iter().filter_map(|key| {
        let (metric, value) = (catalog.metrics.get(key)?, result.metrics.get(key)?);
        let line = format!("  {:<40} {}", metric.label, with_unit(*value, &metric.unit));
        Some(if *key == kind.headline { style.bold(&line) } else { line })
    });
    rows.collect()
}

fn limited(limit: &Limit, style: Style) -> Vec<String> {
    let mut lines =
        vec![style.bold(&format!("  What limited it ({}): {}", limit.direction, limit.summary))];
    lines.extend(limit.evidence.iter().map(|evidence| {
        let value = with_unit(evidence.value, &evidence.unit);
        let threshold = evidence.threshold.map(|threshold| {
            format!("   (speaks from {} on)", with_unit(threshold, &evidence.unit))
        });
        format!("    {:<38} {value}{}", evidence.what, threshold.unwrap_or_default())
    }));
    lines
}

/// Each flow's share, or how evenly they shared where there are many; one flow is the result itself.
fn flows(result: &RunResult, shown_flows: usize) -> Vec<String> {
    let seconds = result.window.as_ref().map_or(0.0, |window| window.elapsed_seconds);
    let rates: Vec<f64> = result.flows.iter().map(|flow| rate(flow, seconds)).collect();
    let sum: f64 = rates.iter().sum();
    if result.flows.len() < 2 || seconds <= 0.0 || sum <= 0.0 {
        return Vec::new();
    }
    if result.flows.len() > shown_flows {
        return vec![evenness(&rates)];
    }
    let mut table = Table::new(["flow", "received", "share", "retransmits", "rtt"]);
    for (flow, rate) in result.flows.iter().zip(&rates) {
        let tcp = flow.source_tcp.or(flow.sink_tcp).unwrap_or_default();
        table.push([
            flow.index.to_string(),
            with_unit(*rate, "bit/s"),
            with_unit(rate / sum, "ratio"),
            tcp.retransmits.map_or_else(|| "-".to_owned(), |count| count.to_string()),
            tcp.rtt_seconds.map_or_else(|| "-".to_owned(), |seconds| with_unit(seconds, "s")),
        ]);
    }
    table.lines().into_iter().map(|line| format!("  {line}")).collect()
}

fn rate(flow: &Flow, seconds: f64) -> f64 {
    (flow.bytes + flow.reverse_bytes) as f64 * 8.0 / seconds
}

/// Least, median and greatest, and Jain's index: (Σx)² / (n·Σx²), 1 when all are alike.
fn evenness(rates: &[f64]) -> String {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = rates.iter().copied().fold(0.0, f64::max);
    format!(
        "  {} flows: {} to {} each, median {}, fairness {:.3} (Jain)",
        rates.len(),
        with_unit(least, "bit/s"),
        with_unit(greatest, "bit/s"),
        with_unit(median(rates), "bit/s"),
        sum * sum / (rates.len() as f64 * squares),
    )
}

fn hosts(result: &RunResult) -> Vec<String> {
    let Some(windows) = &result.hosts else { return Vec::new() };
    let ends = [("source", &windows.source), ("sink", &windows.sink)];
    ends.into_iter()
        .filter_map(|(role, window)| Some(host(role, window.as_ref()?)))
        .flatten()
        .collect()
}

fn host(role: &str, window: &HostWindow) -> Vec<String> {
    let mut parts = cores(&window.cores);
    parts.extend(
        window.process_cpu_seconds.map(|seconds| format!("process {}", with_unit(seconds, "s"))),
    );
    let mut lines = Vec::new();
    if !parts.is_empty() {
        lines.push(format!("  {:<12} {}", format!("{role} CPU"), parts.join(", ")));
    }
    for interface in window.interfaces.iter().filter(|interface| interface.carries_test) {
        let per_second = |count: u64, unit| with_unit(count as f64 / window.seconds, unit);
        let mut line = format!(
            "  {:<12} {}: rx {}, {}; tx {}, {}",
            format!("{role} NIC"),
            interface.name,
            per_second(interface.rx_packets, "pkt/s"),
            per_second(interface.rx_bytes, "B/s"),
            per_second(interface.tx_packets, "pkt/s"),
            per_second(interface.tx_bytes, "B/s"),
        );
        if interface.rx_dropped + interface.tx_dropped > 0 {
            // Writing to a String can't fail.
            let _ =
                write!(line, "; dropped {} rx, {} tx", interface.rx_dropped, interface.tx_dropped);
        }
        lines.push(line);
    }
    lines
}

fn cores(cores: &[CoreShares]) -> Vec<String> {
    let busiest = cores.iter().enumerate().max_by(|one, other| one.1.busy.total_cmp(&other.1.busy));
    let Some((number, busiest)) = busiest else { return Vec::new() };
    let mean =
        |share: fn(&CoreShares) -> f64| cores.iter().map(share).sum::<f64>() / cores.len() as f64;
    vec![
        with_unit(mean(|core| core.busy), "ratio"),
        format!("busiest core {number} {}", with_unit(busiest.busy, "ratio")),
        format!("softirq {}", with_unit(mean(|core| core.softirq), "ratio")),
        format!("steal {}", with_unit(mean(|core| core.steal), "ratio")),
    ]
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
