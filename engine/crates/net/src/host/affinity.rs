//! Which CPUs a thread runs on.

use std::num::NonZeroU64;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};

/// CPU numbers of a list such as `0,2-3`; empty for an empty list, none when it is no list.
#[must_use]
pub fn parse_cpu_list(text: &str) -> Option<Vec<usize>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if last < first || last >= CpuSet::MAX_CPU {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// The CPUs that this process may run on, by number; empty where the kernel doesn't tell.
#[must_use]
pub fn allowed_cpus() -> Vec<usize> {
    let allowed = sched_getaffinity(None);
    allowed.map_or_else(
        |_| Vec::new(),
        |set| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect(),
    )
}

/// Keeps the calling thread on one CPU.
///
/// # Errors
/// `EINVAL` when the host has no such CPU or the process may not use it.
pub fn pin_this_thread(cpu: usize) -> Result<(), Errno> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(Errno::INVAL);
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set)
}

/// Lets the calling thread's sleeps end on time: the default slack of 50 µs is a burst at high rates.
pub fn tighten_timer_slack() {
    const SLACK_NANOSECONDS: u64 = 1_000;
    // Without it sleeps are late, and the pacer catches up: not worth failing for.
    let _ = set_current_timer_slack(NonZeroU64::new(SLACK_NANOSECONDS));
}

#[cfg(test)]
mod tests {
    use super::parse_cpu_list;

    #[test]
    fn a_list_names_single_cpus_and_ranges() {
        assert_eq!(parse_cpu_list("0,2-4,7"), Some(vec![0, 2, 3, 4, 7]));
        assert_eq!(parse_cpu_list(""), Some(vec![]));
    }

    #[test]
    fn a_list_backwards_or_of_no_numbers_is_none() {
        assert_eq!(parse_cpu_list("3-2"), None);
        assert_eq!(parse_cpu_list("0,,1"), None);
        assert_eq!(parse_cpu_list("999999"), None);
    }
}
