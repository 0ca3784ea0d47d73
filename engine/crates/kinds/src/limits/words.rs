//! Figures in words.

/// "16.3 Gbit/s".
pub fn rate(bps: f64) -> String {
    scaled(bps, "bit/s")
}

/// "85 %", with digits more below one and where something is missing from a hundred: "99.98 %" is not all.
pub fn percent(ratio: f64) -> String {
    let percent = ratio * 100.0;
    let is_nearly_all = (99.5..100.0).contains(&percent);
    let digits = if !is_nearly_all && (percent >= 1.0 || percent <= 0.0) { 0 } else { 2 };
    let shown = if is_nearly_all { percent.min(99.99) } else { percent };
    format!("{shown:.digits$} %")
}

/// "34.2 µs".
pub fn time(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1e-3 => format!("{:.1} µs", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.1} s"),
    }
}

/// "29.2 k/s".
pub fn per_second(rate: f64) -> String {
    scaled(rate, "/s")
}

fn scaled(value: f64, unit: &str) -> String {
    let (scale, letter) = match value {
        value if value >= 1e9 => (1e9, "G"),
        value if value >= 1e6 => (1e6, "M"),
        value if value >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{:.1} {letter}{unit}", value / scale)
}

#[cfg(test)]
mod tests {
    use super::{per_second, percent, rate, time};

    #[test]
    fn figures_are_scaled_to_what_people_read() {
        assert_eq!((rate(16.34e9), rate(999.0)), ("16.3 Gbit/s".into(), "999.0 bit/s".into()));
        assert_eq!((percent(0.854), percent(0.0012)), ("85 %".into(), "0.12 %".into()));
        assert_eq!((percent(0.999_88), percent(0.999_999)), ("99.99 %".into(), "99.99 %".into()));
        assert_eq!((percent(1.0), percent(1.004)), ("100 %".into(), "100 %".into()));
        assert_eq!(
            (time(34.2e-6), time(0.012), time(2.0)),
            ("34.2 µs".into(), "12.0 ms".into(), "2.0 s".into())
        );
        assert_eq!(per_second(29_240.0), "29.2 k/s");
    }
}
