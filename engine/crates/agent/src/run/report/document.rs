//! The JSON of several tests: a line for each, and a summary line for each combination.

use std::collections::BTreeMap;

use proto::{Params, RunResult};
use serde::Serialize;

use crate::failure::Failure;
use crate::run::ledger::{Ledger, MetricInterval};
use crate::run::plan::Plan;
use crate::run::report::summary::median;

/// One of several tests that ended well: the result document, with its repetition.
#[derive(Debug, Serialize)]
pub struct Repeated<'a> {
    /// From 1, within its combination.
    pub repetition: usize,
    /// What it measured.
    #[serde(flatten)]
    pub result: &'a RunResult,
}

/// One of several tests that failed.
#[derive(Debug, Serialize)]
pub struct Failed<'a> {
    failure: Attempt<'a>,
    partial: Option<&'a RunResult>,
}

#[derive(Debug, Serialize)]
struct Attempt<'a> {
    kind: &'a str,
    params: &'a Params,
    repetition: usize,
    exit_code: u8,
    reason: String,
}

impl<'a> Failed<'a> {
    /// The line of a failed test.
    pub fn new(
        plan: &'a Plan,
        index: usize,
        repetition: usize,
        failure: &Failure,
        partial: Option<&'a RunResult>,
    ) -> Self {
        let failure = Attempt {
            kind: &plan.kind,
            params: &plan.combinations[index].params,
            repetition,
            exit_code: failure.exit_code(),
            reason: failure.to_string(),
        };
        Self { failure, partial }
    }
}

/// The line that sums up a combination.
#[derive(Debug, Serialize)]
pub struct Conclusion<'a> {
    summary: Summary<'a>,
}

#[derive(Debug, Serialize)]
struct Summary<'a> {
    kind: &'a str,
    params: &'a Params,
    repetitions: usize,
    failed: usize,
    metrics: BTreeMap<String, Spread>,
    flags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<Confidence>,
}

/// A metric's values over the repetitions.
#[derive(Debug, Serialize)]
struct Spread {
    count: usize,
    median: f64,
    mean: f64,
    minimum: f64,
    maximum: f64,
}

#[derive(Debug, Serialize)]
struct Confidence {
    level_percent: f64,
    width_percent: f64,
    minimum_repetitions: usize,
    maximum_repetitions: usize,
    repetitions: usize,
    is_reached: bool,
    metrics: BTreeMap<String, MetricInterval>,
}

impl<'a> Conclusion<'a> {
    /// The summary of one combination.
    pub fn new(ledger: &Ledger<'a>, index: usize) -> Self {
        let (plan, track) = (ledger.plan, &ledger.tracks[index]);
        let mut flags: Vec<String> = track.flags().map(str::to_owned).collect();
        if !ledger.is_reached(index) {
            flags.push("confidence_not_reached".to_owned());
        }
        flags.sort();
        flags.dedup();
        let keys = track.finished.iter().flat_map(|result| result.metrics.keys());
        let metrics = keys.map(|key| (key.clone(), Spread::of(&track.values(key)))).collect();
        Self {
            summary: Summary {
                kind: &plan.kind,
                params: &plan.combinations[index].params,
                repetitions: track.finished.len(),
                failed: track.failures.len(),
                metrics,
                flags,
                confidence: confidence(ledger, index),
            },
        }
    }
}

impl Spread {
    fn of(values: &[f64]) -> Self {
        Self {
            count: values.len(),
            median: median(values),
            mean: values.iter().sum::<f64>() / values.len() as f64,
            minimum: values.iter().copied().fold(f64::INFINITY, f64::min),
            maximum: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

fn confidence(ledger: &Ledger<'_>, index: usize) -> Option<Confidence> {
    let rule = ledger.plan.rule;
    let (asked, _) = rule.confidence?;
    let intervals = ledger.intervals(index);
    Some(Confidence {
        level_percent: asked.level_percent,
        width_percent: asked.width_percent,
        minimum_repetitions: rule.minimum,
        maximum_repetitions: rule.maximum,
        repetitions: ledger.tracks[index].finished.len(),
        is_reached: ledger.is_reached(index),
        metrics: intervals.into_iter().map(|interval| (interval.key.clone(), interval)).collect(),
    })
}
