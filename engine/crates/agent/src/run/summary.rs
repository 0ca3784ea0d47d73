//! A result for people: each metric with its name and unit.

use std::fmt::Write as _;

use proto::{Catalog, RunResult};

/// Units that are scaled by a thousand at a time.
const SCALED_UNITS: [&str; 5] = ["bit/s", "pkt/s", "transactions/s", "connections/s", "requests/s"];
const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
const SMALL_SECONDS: [(f64, &str); 3] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];

/// The result's text: a heading, and its metrics in the kind's order.
pub fn of(result: &RunResult, catalog: &Catalog) -> String {
    let seconds = result.window.as_ref().map_or(0.0, |window| window.elapsed_seconds);
    let label = catalog.kinds.get(&result.kind).map_or(&result.kind, |kind| &kind.label);
    let mut text = format!("{label}, {seconds:.3} s measured");
    let keys = catalog.kinds.get(&result.kind).map_or(&[][..], |kind| &kind.metrics);
    for key in keys {
        let (Some(metric), Some(value)) = (catalog.metrics.get(key), result.metrics.get(key))
        else {
            continue;
        };
        // Writing to a String can't fail.
        let _ = write!(text, "\n  {:<40} {}", metric.label, with_unit(*value, &metric.unit));
    }
    if !result.flags.is_empty() {
        let _ = write!(text, "\n  flags: {}", result.flags.join(", "));
    }
    text
}

/// A value with its unit, scaled where that reads better: "16.3 Gbit/s", "12.5 µs", "3 pkt".
pub fn with_unit(value: f64, unit: &str) -> String {
    if SCALED_UNITS.contains(&unit) {
        let (factor, prefix) =
            PREFIXES.into_iter().find(|(factor, _)| value >= *factor).unwrap_or((1.0, ""));
        let space = if prefix.is_empty() || unit.starts_with("bit") { "" } else { " " };
        return format!("{:.3} {prefix}{space}{unit}", value / factor);
    }
    if unit == "s" {
        let scaled = SMALL_SECONDS.into_iter().find(|(factor, _)| value >= *factor);
        let (factor, name) = scaled.unwrap_or((1e-9, "ns"));
        return format!("{:.3} {name}", value / factor);
    }
    if unit == "ratio" {
        return format!("{:.2} %", value * 100.0);
    }
    if value.fract() == 0.0 { format!("{value} {unit}") } else { format!("{value:.4} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_scaled_to_read_well() {
        assert_eq!(with_unit(16_300_000_000.0, "bit/s"), "16.300 Gbit/s");
        assert_eq!(with_unit(950.0, "bit/s"), "950.000 bit/s");
        assert_eq!(with_unit(193_000.0, "transactions/s"), "193.000 k transactions/s");
        assert_eq!(with_unit(0.000_012_5, "s"), "12.500 µs");
        assert_eq!(with_unit(0.0, "s"), "0.000 ns");
        assert_eq!(with_unit(3.0, "pkt"), "3 pkt");
        assert_eq!(with_unit(0.123_45, "ratio"), "12.35 %");
    }
}
