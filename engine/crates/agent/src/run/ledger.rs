//! What was measured so far, and which combination is next.

use proto::{Catalog, RunResult};
use serde::Serialize;
use stats::Confidence;

use crate::cli::{ConfidenceOn, Order};
use crate::run::plan::{Plan, Rule};

/// The metrics that netperf's confidence is about beside the result itself.
const CPU_METRICS: [&str; 2] = ["source_cpu_ratio", "sink_cpu_ratio"];

/// The tests of a plan as far as they were run.
#[derive(Debug)]
pub struct Ledger<'a> {
    /// What is to be run.
    pub plan: &'a Plan,
    /// One per combination.
    pub tracks: Vec<Track>,
}

/// One combination's tests.
#[derive(Debug, Default)]
pub struct Track {
    /// The whole results.
    pub finished: Vec<RunResult>,
    /// Why each of the others failed.
    pub failures: Vec<String>,
}

/// The interval of one metric's mean.
#[derive(Debug, Clone, Serialize)]
pub struct MetricInterval {
    /// The metric's key.
    #[serde(skip)]
    pub key: String,
    /// The mean of the repetitions.
    pub mean: f64,
    /// Full width in percent of the mean; none when the values vary around 0.
    pub width_percent: Option<f64>,
    /// Whether it is as narrow as asked.
    pub is_reached: bool,
}

impl<'a> Ledger<'a> {
    /// An empty one.
    pub fn new(plan: &'a Plan) -> Self {
        let tracks = plan.combinations.iter().map(|_| Track::default()).collect();
        Self { plan, tracks }
    }

    /// The combination to run next; none when all are done.
    pub fn next(&self) -> Option<usize> {
        let mut open = (0..self.tracks.len()).filter(|&index| self.needs_more(index));
        match self.plan.order {
            Order::Sequential => open.next(),
            Order::Interleaved => open.min_by_key(|&index| self.tracks[index].attempts()),
        }
    }

    fn needs_more(&self, index: usize) -> bool {
        let (track, rule) = (&self.tracks[index], &self.plan.rule);
        if track.attempts() < rule.minimum {
            return true;
        }
        // What fails again and again would fail up to the maximum.
        track.attempts() < rule.maximum
            && track.failures.len() < rule.minimum
            && !self.is_reached(index)
    }

    /// Whether every interval that was asked for is as narrow as asked; true when none was.
    pub fn is_reached(&self, index: usize) -> bool {
        if self.plan.rule.confidence.is_none() {
            return true;
        }
        let intervals = self.intervals(index);
        // Steady CPU use says nothing where the result itself is missing, as of a stream that lost all.
        let headline = Catalog::embedded().kinds.get(&self.plan.kind).map(|kind| &kind.headline);
        let has_headline = intervals.iter().any(|interval| Some(&interval.key) == headline);
        has_headline && intervals.iter().all(|interval| interval.is_reached)
    }

    /// The interval of each metric that the confidence is about; empty while there is none.
    pub fn intervals(&self, index: usize) -> Vec<MetricInterval> {
        self.tracks[index].intervals(&self.plan.rule, &self.plan.kind)
    }
}

impl Track {
    /// How often the combination was tried.
    pub fn attempts(&self) -> usize {
        self.finished.len() + self.failures.len()
    }

    /// The values of one metric, of those repetitions that have it.
    pub fn values(&self, key: &str) -> Vec<f64> {
        self.finished.iter().filter_map(|result| result.metrics.get(key).copied()).collect()
    }

    /// Every flag with the number of results that have it.
    pub fn flags(&self) -> impl Iterator<Item = &str> {
        self.finished.iter().flat_map(|result| result.flags.iter().map(String::as_str))
    }

    fn intervals(&self, rule: &Rule, kind: &str) -> Vec<MetricInterval> {
        let Some((asked, on)) = rule.confidence else { return Vec::new() };
        keys(kind, on)
            .iter()
            .filter_map(|key| {
                let interval = Confidence::of(&self.values(key), asked.level_percent / 100.0)?;
                let width_percent = interval.relative_width() * 100.0;
                Some(MetricInterval {
                    key: key.clone(),
                    mean: interval.mean,
                    width_percent: width_percent.is_finite().then_some(width_percent),
                    is_reached: width_percent <= asked.width_percent,
                })
            })
            .collect()
    }
}

/// The headline, of both directions where there are two, and the CPU use where that counts too.
fn keys(kind: &str, on: ConfidenceOn) -> Vec<String> {
    let headline = Catalog::embedded().kinds.get(kind).map(|kind| kind.headline.clone());
    let mut keys: Vec<String> = headline.into_iter().collect();
    keys.extend(keys.first().map(|headline| format!("reverse_{headline}")));
    if on == ConfidenceOn::HeadlineAndCpu {
        keys.extend(CPU_METRICS.map(str::to_owned));
    }
    keys
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
pub mod tests;
