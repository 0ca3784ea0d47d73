//! CPU use of the host, core by core, from `/proc/stat`.

use std::fs;

use proto::CoreShares;

/// A core that can't be: a line of `/proc/stat` that names one is not believed.
const GREATEST_CPU: usize = 1 << 16;

/// Time of one CPU so far, in clock ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ticks {
    user: u64,
    system: u64,
    idle: u64,
    interrupt: u64,
    softirq: u64,
    steal: u64,
}

/// All CPUs' time so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostTicks {
    /// The kernel's own sum, for a host that tells no single core.
    all: Ticks,
    /// By CPU number; none where a core is offline.
    cores: Vec<Option<Ticks>>,
}

/// Shares of a window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostShares {
    /// Of all cores together: the mean of those that were on.
    pub all: CoreShares,
    /// Of each core, by CPU number; zero for a core that was offline.
    pub cores: Vec<CoreShares>,
}

impl HostTicks {
    /// Reads this host's; none where it can't be read.
    pub fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("cpu"));
        let mut ticks = Self { all: Ticks::parse(lines.next()?)?, cores: Vec::new() };
        for line in lines {
            let (number, rest) = line.split_once(' ')?;
            let number: usize = number.parse().ok().filter(|&number| number < GREATEST_CPU)?;
            ticks.cores.resize(ticks.cores.len().max(number + 1), None);
            ticks.cores[number] = Ticks::parse(rest);
        }
        Some(ticks)
    }

    /// How many cores are known, offline ones between them included.
    pub fn cores(&self) -> usize {
        self.cores.len()
    }

    /// Shares of the time since `before`; none when no time has passed.
    ///
    /// The kernel cuts each of its figures to whole ticks, its sum of all cores too: that sum differs from the cores'
    /// own by a tick here and there, which a short window shows. What is said of all is therefore the cores' mean.
    pub fn since(&self, before: &Self) -> Option<HostShares> {
        let cores: Vec<_> = self.cores.iter().zip(&before.cores).map(core_since).collect();
        let known: Vec<_> = cores.iter().flatten().collect();
        let all = if known.is_empty() { self.all.since(&before.all)? } else { mean(&known) };
        Some(HostShares { all, cores: cores.into_iter().map(Option::unwrap_or_default).collect() })
    }
}

fn core_since((after, before): (&Option<Ticks>, &Option<Ticks>)) -> Option<CoreShares> {
    after.as_ref()?.since(before.as_ref()?)
}

fn mean(cores: &[&CoreShares]) -> CoreShares {
    let of = |part: fn(&CoreShares) -> f64| {
        cores.iter().map(|core| part(core)).sum::<f64>() / cores.len() as f64
    };
    CoreShares {
        busy: of(|core| core.busy),
        user: of(|core| core.user),
        system: of(|core| core.system),
        interrupt: of(|core| core.interrupt),
        softirq: of(|core| core.softirq),
        steal: of(|core| core.steal),
    }
}

impl Ticks {
    /// `user nice system idle iowait irq softirq steal guest guest_nice`; guests are in user already.
    fn parse(line: &str) -> Option<Self> {
        let mut values = line.split_whitespace().map(str::parse::<u64>);
        let mut next = || values.next().transpose().ok();
        let user = next()?? + next()??;
        let (system, idle) = (next()??, next()??);
        // Old kernels end early: what they don't count is in the others.
        let mut rest = || next().flatten().unwrap_or(0);
        let (iowait, interrupt, softirq, steal) = (rest(), rest(), rest(), rest());
        Some(Self { user, system, idle: idle + iowait, interrupt, softirq, steal })
    }

    fn since(&self, before: &Self) -> Option<CoreShares> {
        // The kernel's idle time can step back by a tick.
        let spent = |now: u64, then: u64| now.saturating_sub(then);
        let idle = spent(self.idle, before.idle);
        let (user, system) = (spent(self.user, before.user), spent(self.system, before.system));
        let interrupt = spent(self.interrupt, before.interrupt);
        let softirq = spent(self.softirq, before.softirq);
        let steal = spent(self.steal, before.steal);
        let busy = user + system + interrupt + softirq + steal;
        let total = busy + idle;
        let share = |part: u64| part as f64 / total as f64;
        (total > 0).then(|| CoreShares {
            busy: share(busy),
            user: share(user),
            system: share(system),
            interrupt: share(interrupt),
            softirq: share(softirq),
            steal: share(steal),
        })
    }
}

#[cfg(test)]
mod tests {
    use proto::CoreShares;

    use super::{HostShares, HostTicks};

    const BEFORE: &str = "cpu  10 5 20 60 10 0 0 0 5 0\ncpu0 10 5 20 60 10 0 0 0 5 0\nintr 1\n";
    const AFTER: &str = "cpu  20 10 45 95 15 5 10 5 9 0\ncpu0 20 10 45 95 15 5 10 5 9 0\nintr 1\n";

    fn ticks(text: &str) -> HostTicks {
        HostTicks::parse(text).expect("a first line")
    }

    #[test]
    fn shares_are_of_the_window_idle_and_iowait_are_not_busy_and_guests_count_once() {
        let shares = ticks(AFTER).since(&ticks(BEFORE)).expect("time has passed");
        let expected = CoreShares {
            busy: 0.6,
            user: 0.15,
            system: 0.25,
            interrupt: 0.05,
            softirq: 0.1,
            steal: 0.05,
        };
        assert_eq!(shares.all, expected);
        assert_eq!(shares.cores, [expected]);
    }

    #[test]
    fn no_time_passed_is_no_share() {
        assert_eq!(ticks(BEFORE).since(&ticks(BEFORE)), None);
    }

    #[test]
    fn a_core_keeps_its_number_when_one_before_it_is_offline() {
        let before = ticks("cpu 0 0 0 0 0\ncpu0 0 0 0 0 0\ncpu2 0 0 0 0 0\n");
        let after = ticks("cpu 4 0 0 4 0\ncpu0 1 0 0 3 0\ncpu2 3 0 0 1 0\n");
        let HostShares { all, cores } = after.since(&before).expect("time has passed");
        let busy = |core: &CoreShares| core.busy;
        assert_eq!(cores.iter().map(busy).collect::<Vec<_>>(), [0.25, 0.0, 0.75]);
        // A core that is off is no idle core.
        assert_eq!(all, CoreShares { busy: 0.5, user: 0.5, ..CoreShares::default() });
    }

    #[test]
    fn all_cores_together_are_their_mean_where_the_kernels_sum_differs_by_a_tick() {
        // Each core was robbed of half a tick, which it can't tell; their sum is a whole one.
        let before = ticks("cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n");
        let after =
            ticks("cpu 0 0 81 102 0 0 16 1\ncpu0 0 0 40 51 0 0 8 0\ncpu1 0 0 40 52 0 0 8 0\n");
        let HostShares { all, cores } = after.since(&before).expect("time has passed");
        let mean = |part: fn(&CoreShares) -> f64| f64::midpoint(part(&cores[0]), part(&cores[1]));
        let expected = CoreShares {
            busy: mean(|core| core.busy),
            system: mean(|core| core.system),
            softirq: mean(|core| core.softirq),
            ..CoreShares::default()
        };
        assert_eq!(all, expected);
    }

    #[test]
    fn a_kernel_that_counts_no_steal_is_read_too_and_nonsense_is_not() {
        assert_eq!(
            ticks("cpu 1 2 3 4\n").since(&ticks("cpu 0 0 0 0\n")).map(|all| all.all.busy),
            Some(0.6)
        );
        assert_eq!(HostTicks::parse("cpu 1 2\n"), None);
        assert_eq!(HostTicks::parse("cpu 1 2 3 4\ncpu99999999 1 2 3 4\n"), None);
        assert_eq!(HostTicks::parse(""), None);
    }
}
