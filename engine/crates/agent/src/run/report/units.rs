//! Values with their units, scaled where that reads better.

/// Units that are scaled by a thousand at a time.
const SCALED_UNITS: [&str; 8] =
    ["bit/s", "B/s", "B", "pkt/s", "transactions/s", "connections/s", "requests/s", "operations/s"];
const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
const SMALL_SECONDS: [(f64, &str); 3] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];

/// A value with its unit: "16.3 Gbit/s", "12.5 µs", "3 pkt".
pub fn with_unit(value: f64, unit: &str) -> String {
    if SCALED_UNITS.contains(&unit) {
        let prefix = PREFIXES.into_iter().find(|(factor, _)| value.abs() >= *factor);
        return match prefix {
            None if value.fract() == 0.0 => format!("{value} {unit}"),
            None => format!("{value:.3} {unit}"),
            Some((factor, prefix)) => {
                let space = if unit.starts_with(['b', 'B']) { "" } else { " " };
                format!("{:.3} {prefix}{space}{unit}", value / factor)
            }
        };
    }
    match unit {
        "s" => seconds(value),
        "ratio" => format!("{:.2} %", value * 100.0),
        _ if value.fract() == 0.0 => format!("{} {unit}", grouped(value)),
        _ => format!("{value:.4} {unit}"),
    }
}

fn seconds(value: f64) -> String {
    if value == 0.0 {
        return "0 s".to_owned();
    }
    let scaled = SMALL_SECONDS.into_iter().find(|(factor, _)| value.abs() >= *factor);
    let (factor, name) = scaled.unwrap_or((1e-9, "ns"));
    format!("{:.3} {name}", value / factor)
}

/// A whole number with its thousands set apart.
fn grouped(value: f64) -> String {
    let text = value.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_scaled_to_read_well() {
        assert_eq!(with_unit(16_300_000_000.0, "bit/s"), "16.300 Gbit/s");
        assert_eq!(with_unit(950.5, "bit/s"), "950.500 bit/s");
        assert_eq!(with_unit(0.0, "bit/s"), "0 bit/s");
        assert_eq!(with_unit(916_762.0, "B"), "916.762 kB");
        assert_eq!(with_unit(64.0, "B"), "64 B");
        assert_eq!(with_unit(193_000.0, "transactions/s"), "193.000 k transactions/s");
        assert_eq!(with_unit(0.000_012_5, "s"), "12.500 µs");
        assert_eq!(with_unit(-0.002, "s"), "-2.000 ms");
        assert_eq!(with_unit(0.0, "s"), "0 s");
        assert_eq!(with_unit(3.0, "pkt"), "3 pkt");
        assert_eq!(with_unit(1_234_567.0, "pkt"), "1,234,567 pkt");
        assert_eq!(with_unit(-1000.0, "errors"), "-1,000 errors");
        assert_eq!(with_unit(0.123_45, "ratio"), "12.35 %");
        assert_eq!(with_unit(0.352_41, "s/GB"), "0.3524 s/GB");
    }
}
