//! What a host did lately: in the times in which no session of the engine ran, and in all of the last minute.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use proto::{HostBackground, InterfaceBackground};

use super::cpu::HostTicks;
use super::interfaces::{self, Counters};

/// Quiet times longer ago say little of now.
const KEPT: Duration = Duration::from_secs(60);
/// So much quiet time is looked back on; the newest counts.
const LOOK_BACK_SECONDS: f64 = 10.0;
/// Less than this is too short for a rate.
const LEAST_SECONDS: f64 = 0.5;
/// So much is looked back on, sessions or not: who asks once a minute misses nothing.
const RECENT: Duration = Duration::from_secs(60);
/// A look back begins at one of the samples that are kept, so far apart.
const STEP: Duration = Duration::from_secs(10);

/// A reading of the host's counters.
#[derive(Debug, Clone)]
pub struct Sample {
    at: Instant,
    counters: Vec<Counters>,
    ticks: Option<HostTicks>,
}

impl Sample {
    /// Reads this host's counters; none where they can't be read.
    #[must_use]
    pub fn read() -> Option<Self> {
        let counters = interfaces::read()?;
        Some(Self { at: Instant::now(), counters, ticks: HostTicks::read() })
    }
}

/// The quiet times between samples, newest last.
#[derive(Debug, Default)]
pub struct History {
    last: Option<Sample>,
    /// A finished session's result is fetched in the time after it: that time counts as its own.
    is_settling: bool,
    quiet: VecDeque<Stretch>,
    /// Samples of the last minute, oldest first.
    steps: VecDeque<Sample>,
}

/// What was counted between two samples.
#[derive(Debug)]
struct Stretch {
    end: Instant,
    seconds: f64,
    counters: Vec<Counters>,
    cpu_ratio: Option<f64>,
}

impl History {
    /// Adds a sample; `was_ours` tells whether a session of the engine ran since the one before.
    pub fn add(&mut self, sample: Sample, was_ours: bool) {
        while self.quiet.front().is_some_and(|quiet| sample.at - quiet.end > KEPT) {
            self.quiet.pop_front();
        }
        while self.steps.front().is_some_and(|step| sample.at - step.at > RECENT) {
            self.steps.pop_front();
        }
        if self.steps.back().is_none_or(|step| sample.at - step.at >= STEP) {
            self.steps.push_back(sample.clone());
        }
        let was_settling = std::mem::replace(&mut self.is_settling, was_ours);
        let is_quiet = !was_ours && !was_settling;
        if let Some(before) = self.last.as_ref().filter(|_| is_quiet) {
            self.quiet.push_back(Stretch::between(before, &sample));
        }
        self.last = Some(sample);
    }

    /// The newest quiet times together; none when there were hardly any.
    #[must_use]
    pub fn background(&self, now: Instant) -> Option<HostBackground> {
        let (mut seconds, mut busy_seconds) = (0.0, Some(0.0));
        let mut sums: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
        for quiet in self.quiet.iter().rev() {
            if seconds >= LOOK_BACK_SECONDS || now.saturating_duration_since(quiet.end) > KEPT {
                break;
            }
            seconds += quiet.seconds;
            let busy = quiet.cpu_ratio.map(|ratio| ratio * quiet.seconds);
            busy_seconds = busy_seconds.zip(busy).map(|(sum, busy)| sum + busy);
            for counted in &quiet.counters {
                let sum = sums.entry(&counted.name).or_default();
                sum.iter_mut().zip(traffic(counted)).for_each(|(sum, value)| *sum += value);
            }
        }
        let interfaces = sums.into_iter().map(|(name, sums)| rates(name, sums, seconds));
        (seconds >= LEAST_SECONDS).then(|| HostBackground {
            seconds,
            cpu_ratio: busy_seconds.map(|busy| busy / seconds),
            interfaces: interfaces.collect(),
        })
    }

    /// What the host did in the last minute, sessions included; none before the second look.
    #[must_use]
    pub fn recent(&self) -> Option<HostBackground> {
        let (first, last) = self.steps.front().zip(self.last.as_ref())?;
        let Stretch { seconds, counters, cpu_ratio, .. } = Stretch::between(first, last);
        let interfaces =
            counters.iter().map(|counted| rates(&counted.name, traffic(counted), seconds));
        (seconds >= LEAST_SECONDS).then(|| HostBackground {
            seconds,
            cpu_ratio,
            interfaces: interfaces.collect(),
        })
    }
}

/// Bytes and packets, received and sent.
fn traffic(counted: &Counters) -> [u64; 4] {
    [counted.rx_bytes, counted.tx_bytes, counted.rx_packets, counted.tx_packets]
}

fn rates(
    name: &str,
    [rx, tx, rx_packets, tx_packets]: [u64; 4],
    seconds: f64,
) -> InterfaceBackground {
    let rate = |count: u64| count as f64 / seconds;
    InterfaceBackground {
        name: name.to_owned(),
        rx_bps: 8.0 * rate(rx),
        tx_bps: 8.0 * rate(tx),
        rx_packets_per_second: rate(rx_packets),
        tx_packets_per_second: rate(tx_packets),
    }
}

impl Stretch {
    fn between(before: &Sample, after: &Sample) -> Self {
        let shares = before.ticks.as_ref().zip(after.ticks.as_ref());
        Self {
            end: after.at,
            seconds: after.at.saturating_duration_since(before.at).as_secs_f64(),
            counters: interfaces::differences(&before.counters, &after.counters),
            cpu_ratio: shares
                .and_then(|(before, after)| after.since(before))
                .map(|shares| shares.all.busy),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Counters, History, Sample};

    /// A history of samples one second apart: received bytes so far, and whether a session ran before it.
    fn history(begin: Instant, samples: &[(u64, bool)]) -> History {
        let mut history = History::default();
        for (second, &(rx_bytes, was_ours)) in (0_u64..).zip(samples) {
            let counters = Counters {
                name: "eth0".to_owned(),
                rx_bytes,
                rx_packets: rx_bytes / 100,
                ..Counters::default()
            };
            let at = begin + Duration::from_secs(second);
            history.add(Sample { at, counters: vec![counters], ticks: None }, was_ours);
        }
        history
    }

    fn received_bps(history: &History, now: Instant) -> Option<(f64, f64)> {
        let background = history.background(now)?;
        Some((background.seconds, background.interfaces[0].rx_bps))
    }

    #[test]
    fn times_with_a_session_and_the_time_right_after_it_do_not_count() {
        let begin = Instant::now();
        let samples =
            [(0, false), (1_000, false), (90_000, true), (95_000, false), (98_000, false)];
        let history = history(begin, &samples);
        // 1,000 bytes before the session and 3,000 after it, in two seconds.
        assert_eq!(received_bps(&history, begin), Some((2.0, 16_000.0)));
        let background = history.background(begin).expect("two seconds are enough");
        assert!((background.interfaces[0].rx_packets_per_second - 20.0).abs() < 1e-9);
        assert_eq!(background.cpu_ratio, None);
    }

    #[test]
    fn only_the_newest_ten_quiet_seconds_count() {
        let begin = Instant::now();
        let samples: Vec<_> = (0..30_u64).map(|second| (second.pow(3), false)).collect();
        let expected = 8.0 * f64::from(29_u32.pow(3) - 19_u32.pow(3)) / 10.0;
        let (seconds, received) =
            received_bps(&history(begin, &samples), begin).expect("there was quiet time");
        assert!((seconds - 10.0).abs() < 1e-9, "{seconds}");
        assert!((received - expected).abs() < 8.0, "{received} is not {expected}");
    }

    #[test]
    fn quiet_times_of_over_a_minute_ago_are_forgotten() {
        let begin = Instant::now();
        let history = history(begin, &[(0, false), (1_000, false)]);
        assert_eq!(received_bps(&history, begin + Duration::from_secs(62)), None);
        assert_eq!(received_bps(&history, begin + Duration::from_secs(60)), Some((1.0, 8_000.0)));
    }

    #[test]
    fn the_last_minute_counts_whole_with_its_sessions() {
        let begin = Instant::now();
        let samples: Vec<_> = (0..90_u64).map(|second| (second.pow(2), second > 40)).collect();
        let recent = history(begin, &samples).recent().expect("ninety seconds are enough");
        // The newest sample is of second 89; the oldest that is kept within a minute of it, of second 30.
        assert!((recent.seconds - 59.0).abs() < 1e-9, "{}", recent.seconds);
        let expected = 8.0 * f64::from(89_u32.pow(2) - 30_u32.pow(2)) / 59.0;
        assert!((recent.interfaces[0].rx_bps - expected).abs() < 1e-6);
    }

    #[test]
    fn one_look_tells_no_rate() {
        let begin = Instant::now();
        assert_eq!(history(begin, &[(5, false)]).recent(), None);
        assert_eq!(super::History::default().recent(), None);
    }

    #[test]
    fn without_any_quiet_time_there_is_no_background() {
        let begin = Instant::now();
        assert_eq!(received_bps(&history(begin, &[(0, false)]), begin), None);
        assert_eq!(received_bps(&history(begin, &[(0, true), (5, true), (9, true)]), begin), None);
    }
}
