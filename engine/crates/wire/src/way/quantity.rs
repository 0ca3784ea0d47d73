//! Durations, bytes, rates and shares as people write them.

use anyhow::{Context, Result, bail};

const NANOSECONDS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];
const BYTES: [(&str, f64); 6] =
    [("KiB", 1024.0), ("MiB", 1_048_576.0), ("kB", 1e3), ("KB", 1e3), ("MB", 1e6), ("B", 1.0)];
const BITS: [(&str, f64); 4] = [("Gbit", 1e9), ("Mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)];

/// Nanoseconds of "600ms", "1.2s"; a bare number is seconds.
pub fn nanoseconds(text: &str) -> Result<u64> {
    whole(text, &NANOSECONDS, 1e9)
}

/// Bytes of "1MB", "64KiB"; a bare number is bytes.
pub fn bytes(text: &str) -> Result<u64> {
    whole(text, &BYTES, 1.0)
}

/// Bits per second of "1Mbit", "250kbit"; a bare number is bits.
pub fn bits(text: &str) -> Result<u64> {
    whole(text, &BITS, 1.0)
}

/// A share from 0 to 1 of "2%" or "0.02".
pub fn share(text: &str) -> Result<f64> {
    let share = match text.strip_suffix('%') {
        Some(percent) => number(percent)? / 100.0,
        None => number(text)?,
    };
    if !(0.0..=1.0).contains(&share) {
        bail!("{text:?} is no share from 0 to 1 or percentage to 100%");
    }
    Ok(share)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Checked to be positive; a float as large saturates.
fn whole(text: &str, units: &[(&str, f64)], bare: f64) -> Result<u64> {
    let unit = units.iter().find(|(unit, _)| text.ends_with(unit));
    let value = match unit {
        Some((unit, factor)) => number(&text[..text.len() - unit.len()])? * factor,
        None => number(text)? * bare,
    };
    if value < 0.0 {
        bail!("{text:?} is below 0");
    }
    Ok(value.round() as u64)
}

fn number(text: &str) -> Result<f64> {
    let number: f64 =
        text.parse().with_context(|| format!("{text:?} is no number with a known unit"))?;
    if !number.is_finite() {
        bail!("{text:?} is no number");
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_and_without_their_units() {
        assert_eq!(nanoseconds("600ms").unwrap(), 600_000_000);
        assert_eq!(nanoseconds("1.2s").unwrap(), 1_200_000_000);
        assert_eq!(nanoseconds("3").unwrap(), 3_000_000_000);
        assert_eq!(bytes("64KiB").unwrap(), 65_536);
        assert_eq!(bytes("1MB").unwrap(), 1_000_000);
        assert_eq!(bytes("1500").unwrap(), 1_500);
        assert_eq!(bits("250kbit").unwrap(), 250_000);
        assert!((share("2%").unwrap() - 0.02).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in ["", "ms", "-1s", "1 parsec", "inf"] {
            assert!(nanoseconds(text).is_err(), "{text}");
        }
        assert!(share("101%").is_err());
    }
}
