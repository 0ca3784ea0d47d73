//! Several tests for people: a row for each combination, or for each metric where there is only one.

use std::collections::BTreeMap;

use proto::Catalog;

use crate::run::ledger::{Ledger, Track};
use crate::run::plan::shown;
use crate::run::report::style::Style;
use crate::run::report::summary::{explain, median};
use crate::run::report::table::Table;
use crate::run::report::units::with_unit;

/// What a row shows beside the headline, where the kind measures it: too many columns are no overview.
const BESIDE: [&str; 12] = [
    "latency_p50_seconds",
    "latency_p99_seconds",
    "loss_ratio",
    "retransmits",
    "jitter_seconds",
    "errors",
    "source_send_buffer_bytes",
    "source_receive_buffer_bytes",
    "sink_send_buffer_bytes",
    "sink_receive_buffer_bytes",
    "source_cpu_ratio",
    "sink_cpu_ratio",
];

/// All tests' text.
pub fn of(ledger: &Ledger<'_>, catalog: &Catalog, peer: &str, style: Style) -> String {
    let kind = &ledger.plan.kind;
    let label = catalog.kinds.get(kind).map_or(kind, |kind| &kind.label);
    let count: usize = ledger.tracks.iter().map(Track::attempts).sum();
    let tests = if count == 1 { "test" } else { "tests" };
    let mut lines = vec![style.bold(&format!("{label} with {peer}, {count} {tests}"))];
    let table = match ledger.tracks.as_slice() {
        [track] => metrics(track, kind, catalog),
        _ => combinations(ledger, catalog),
    };
    let mut rows = table.lines().into_iter();
    lines.extend(rows.next().map(|heading| style.dim(&format!("  {heading}"))));
    lines.extend(rows.map(|row| format!("  {row}")));
    lines.extend(confidence(ledger, catalog));
    lines.extend(flags(ledger).into_iter().map(|(flag, count)| {
        style.notice(&format!("  {} ({count} of {} tests)", explain(catalog, flag), total(ledger)))
    }));
    lines.extend(failures(ledger).map(|line| style.alarm(&line)));
    lines.join("\n")
}

/// netperf's block of exclamation marks, where the confidence was not reached.
pub fn warning(ledger: &Ledger<'_>, catalog: &Catalog) -> Option<String> {
    let (asked, _) = ledger.plan.rule.confidence?;
    let missed: Vec<usize> =
        (0..ledger.tracks.len()).filter(|&index| !ledger.is_reached(index)).collect();
    if missed.is_empty() {
        return None;
    }
    let (level, width) = (asked.level_percent, asked.width_percent);
    let mut lines = vec![
        "!!! WARNING".to_owned(),
        format!("!!! The confidence asked for was not reached: a {level} % interval no wider than {width} % of the mean."),
        "!!! Something varies in the surroundings of the test. Look into it before you rely on these figures.".to_owned(),
    ];
    for index in missed {
        let name = ledger.plan.combinations[index].name();
        let name = if name.is_empty() { ledger.plan.kind.clone() } else { name };
        let reached = widths(ledger, index, catalog);
        let count = ledger.tracks[index].finished.len();
        lines.push(format!("!!!   {name}, {count} repetitions: {reached}"));
    }
    Some(lines.join("\n"))
}

fn widths(ledger: &Ledger<'_>, index: usize, catalog: &Catalog) -> String {
    let intervals = ledger.intervals(index);
    if intervals.is_empty() {
        return "no interval: fewer than two whole results".to_owned();
    }
    let parts = intervals.iter().map(|interval| {
        let label =
            catalog.metrics.get(&interval.key).map_or(&interval.key, |metric| &metric.label);
        match interval.width_percent {
            Some(width) => format!("{label} {width:.2} %"),
            None => format!("{label} varies around 0"),
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn confidence(ledger: &Ledger<'_>, catalog: &Catalog) -> Vec<String> {
    let Some((asked, _)) = ledger.plan.rule.confidence else { return Vec::new() };
    let (level, width) = (asked.level_percent, asked.width_percent);
    let mut lines = vec![format!("  {level} % intervals of the mean, {width} % wide at most:")];
    lines.extend((0..ledger.tracks.len()).map(|index| {
        let name = ledger.plan.combinations[index].name();
        let colon = if name.is_empty() { "" } else { ": " };
        let verdict = if ledger.is_reached(index) { "reached" } else { "NOT REACHED" };
        let count = ledger.tracks[index].finished.len();
        let reached = widths(ledger, index, catalog);
        format!("    {name}{colon}{verdict} after {count} repetitions ({reached})")
    }));
    lines
}

/// One combination: every metric over its repetitions.
fn metrics(track: &Track, kind: &str, catalog: &Catalog) -> Table {
    let mut table = Table::new(["", "median", "minimum", "maximum", "spread", "n"]);
    let keys = catalog.kinds.get(kind).map_or(&[][..], |kind| &kind.metrics);
    for key in keys {
        let values = track.values(key);
        if let (Some(metric), false) = (catalog.metrics.get(key), values.is_empty()) {
            let mut row = vec![metric.label.clone()];
            row.extend(figures(&values, &metric.unit));
            table.push(row);
        }
    }
    table
}

/// Several combinations: a row for each.
fn combinations(ledger: &Ledger<'_>, catalog: &Catalog) -> Table {
    let (plan, kind) = (ledger.plan, catalog.kinds.get(&ledger.plan.kind));
    let headline = kind.map_or("", |kind| kind.headline.as_str());
    let beside: Vec<&str> = BESIDE
        .into_iter()
        .filter(|key| ledger.tracks.iter().any(|track| !track.values(key).is_empty()))
        .collect();
    let names = plan.combinations.first().map_or(&[][..], |combination| &combination.varied);
    let mut heading: Vec<String> = names.iter().map(|(name, _)| name.clone()).collect();
    let label = |key: &str| catalog.metrics.get(key).map_or(key, |metric| &metric.label).to_owned();
    heading.push(label(headline));
    let is_repeated = plan.rule.maximum > 1;
    if is_repeated {
        heading.extend(["minimum", "maximum", "spread", "n"].map(str::to_owned));
    }
    heading.extend(beside.iter().map(|key| label(key)));
    let mut table = Table::new(heading);
    for (combination, track) in plan.combinations.iter().zip(&ledger.tracks) {
        let mut row: Vec<String> =
            combination.varied.iter().map(|(_, value)| shown(value)).collect();
        let unit = |key: &str| catalog.metrics.get(key).map_or("", |metric| metric.unit.as_str());
        let figures = figures(&track.values(headline), unit(headline));
        row.extend(figures.into_iter().take(if is_repeated { 5 } else { 1 }));
        row.extend(beside.iter().map(|key| middle(&track.values(key), unit(key))));
        table.push(row);
    }
    table
}

/// Median, minimum, maximum, their distance in percent of the median, and the count.
fn figures(values: &[f64], unit: &str) -> Vec<String> {
    let minimum = values.iter().copied().fold(f64::INFINITY, f64::min);
    let maximum = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let spread = (maximum - minimum) / median(values).abs() * 100.0;
    let bound =
        |bound: f64| if values.is_empty() { "-".to_owned() } else { with_unit(bound, unit) };
    let spread = if spread.is_finite() { format!("{spread:.1} %") } else { "-".to_owned() };
    vec![middle(values, unit), bound(minimum), bound(maximum), spread, values.len().to_string()]
}

fn middle(values: &[f64], unit: &str) -> String {
    if values.is_empty() { "-".to_owned() } else { with_unit(median(values), unit) }
}

fn total(ledger: &Ledger<'_>) -> usize {
    ledger.tracks.iter().map(|track| track.finished.len()).sum()
}

fn flags<'a>(ledger: &'a Ledger<'_>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for flag in ledger.tracks.iter().flat_map(Track::flags) {
        *counts.entry(flag).or_insert(0) += 1;
    }
    counts
}

fn failures<'a>(ledger: &'a Ledger<'_>) -> impl Iterator<Item = String> + 'a {
    let plan = ledger.plan;
    plan.combinations.iter().zip(&ledger.tracks).flat_map(|(combination, track)| {
        let name = combination.name();
        track.failures.iter().map(move |reason| {
            let colon = if name.is_empty() { "" } else { ": " };
            format!("  failed: {name}{colon}{reason}")
        })
    })
}

#[cfg(test)]
#[path = "overview_tests.rs"]
mod tests;
