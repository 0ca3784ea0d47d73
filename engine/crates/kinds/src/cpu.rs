//! CPU use over the measured window: of the whole host, and of this process.

use std::fs;

/// Busy and total time of one CPU, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    total: u64,
}

/// Readings at the beginning of a window.
#[derive(Debug)]
pub struct CpuMeter {
    host: Option<(Ticks, Vec<Ticks>)>,
    process_seconds: f64,
}

/// CPU use of a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CpuUse {
    /// Of the whole host, 0 to 1; absent where it can't be read.
    pub host_ratio: Option<f64>,
    /// Of each core, 0 to 1.
    pub per_core: Vec<f64>,
    /// User and system time of this process, in seconds.
    pub process_seconds: f64,
}

impl CpuMeter {
    /// Begins a window.
    pub fn start() -> Self {
        Self { host: read_host(), process_seconds: net::process_cpu_seconds() }
    }

    /// Use since the beginning.
    pub fn finish(&self) -> CpuUse {
        let process_seconds = net::process_cpu_seconds() - self.process_seconds;
        let Some(((all_before, cores_before), (all_after, cores_after))) =
            self.host.as_ref().zip(read_host())
        else {
            return CpuUse { process_seconds, ..CpuUse::default() };
        };
        let per_core = cores_before
            .iter()
            .zip(&cores_after)
            .map(|(&before, &after)| ratio(before, after).unwrap_or(0.0))
            .collect();
        CpuUse { host_ratio: ratio(*all_before, all_after), per_core, process_seconds }
    }
}

fn ratio(before: Ticks, after: Ticks) -> Option<f64> {
    let total = after.total.checked_sub(before.total).filter(|&total| total > 0)?;
    Some((after.busy.saturating_sub(before.busy) as f64 / total as f64).min(1.0))
}

fn read_host() -> Option<(Ticks, Vec<Ticks>)> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    parse(&text)
}

fn parse(text: &str) -> Option<(Ticks, Vec<Ticks>)> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("cpu"));
    let all = ticks(lines.next()?)?;
    let cores = lines
        .filter_map(|line| ticks(line.trim_start_matches(|digit: char| digit.is_ascii_digit())));
    Some((all, cores.collect()))
}

/// `user nice system idle iowait irq softirq steal guest guest_nice`; guests are in user already.
fn ticks(line: &str) -> Option<Ticks> {
    const COUNTED: usize = 8;
    const IDLE: usize = 3;
    const IOWAIT: usize = 4;
    let values: Vec<u64> =
        line.split_whitespace().take(COUNTED).map(str::parse).collect::<Result<_, _>>().ok()?;
    let idle = values.get(IDLE)? + values.get(IOWAIT).copied().unwrap_or(0);
    let total: u64 = values.iter().sum();
    Some(Ticks { busy: total - idle, total })
}

#[cfg(test)]
mod tests {
    use super::{Ticks, parse, ratio};

    #[test]
    fn idle_and_iowait_are_not_busy_and_guests_count_once() {
        let text = "cpu  10 0 20 60 10 0 0 0 5 0\ncpu0 10 0 20 60 10 0 0 0 5 0\nintr 1\n";
        let (all, cores) = parse(text).expect("a first line");
        assert_eq!(all, Ticks { busy: 30, total: 100 });
        assert_eq!(cores, [Ticks { busy: 30, total: 100 }]);
    }

    #[test]
    fn no_time_passed_is_no_ratio() {
        let ticks = Ticks { busy: 1, total: 2 };
        assert_eq!(ratio(ticks, ticks), None);
        assert_eq!(ratio(ticks, Ticks { busy: 2, total: 6 }), Some(0.25));
    }
}
