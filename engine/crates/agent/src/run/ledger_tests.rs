use proto::{EngineVersions, Metrics, Params};
use serde_json::Value;

use super::*;
use crate::cli::AskedConfidence;
use crate::run::plan::Combination;

pub fn result(metrics: &[(&str, f64)]) -> RunResult {
    RunResult {
        schema: RunResult::SCHEMA,
        kind: "tcp_stream".to_owned(),
        params: Params::default(),
        metrics: metrics
            .iter()
            .map(|(key, value)| ((*key).to_owned(), *value))
            .collect::<Metrics>(),
        intervals: Vec::new(),
        window: None,
        outages: Vec::new(),
        addresses: None,
        reply_addresses: Vec::new(),
        path_fault: None,
        largest_payload_bytes: None,
        largest_reverse_payload_bytes: None,
        unanswered_hellos: None,
        histogram: None,
        loaded_histogram: None,
        load: None,
        flows: Vec::new(),
        source: None,
        sink: None,
        flags: Vec::new(),
        engine: EngineVersions::default(),
        cpu_per_core: None,
        limits: Vec::new(),
        hosts: None,
        host_test: None,
    }
}

fn plan(sizes: &[u64], rule: Rule, order: Order) -> Plan {
    let combination = |size: &u64| {
        let varied = vec![("message_size_bytes".to_owned(), Value::from(*size))];
        Combination { params: Params::default(), varied }
    };
    let combinations = sizes.iter().map(combination).collect();
    Plan { kind: "tcp_stream".to_owned(), combinations, rule, order }
}

fn fixed(count: usize) -> Rule {
    Rule { minimum: count, maximum: count, confidence: None }
}

fn until_confident(on: ConfidenceOn) -> Rule {
    let asked = AskedConfidence { level_percent: 99.0, width_percent: 5.0 };
    Rule { minimum: 3, maximum: 5, confidence: Some((asked, on)) }
}

/// Runs the plan with `measure(index, attempt)` and tells the order in which combinations were run.
fn run(ledger: &mut Ledger<'_>, measure: impl Fn(usize, usize) -> Option<f64>) -> Vec<usize> {
    let mut order = Vec::new();
    while let Some(index) = ledger.next() {
        let track = &mut ledger.tracks[index];
        match measure(index, track.attempts()) {
            Some(value) => track.finished.push(result(&[("throughput_bps", value)])),
            None => track.failures.push("it broke".to_owned()),
        }
        order.push(index);
    }
    order
}

#[test]
fn interleaved_runs_every_combination_once_and_then_again() {
    let plan = plan(&[1, 64], fixed(2), Order::Interleaved);
    assert_eq!(run(&mut Ledger::new(&plan), |_, _| Some(1.0)), [0, 1, 0, 1]);
}

#[test]
fn sequential_finishes_a_combination_first() {
    let plan = plan(&[1, 64], fixed(2), Order::Sequential);
    assert_eq!(run(&mut Ledger::new(&plan), |_, _| Some(1.0)), [0, 0, 1, 1]);
}

#[test]
fn a_failed_test_counts_as_tried_and_the_others_go_on() {
    let plan = plan(&[1, 64], fixed(2), Order::Interleaved);
    let mut ledger = Ledger::new(&plan);
    assert_eq!(run(&mut ledger, |index, _| (index == 1).then_some(1.0)), [0, 1, 0, 1]);
    assert_eq!((ledger.tracks[0].failures.len(), ledger.tracks[1].finished.len()), (2, 2));
}

#[test]
fn steady_values_need_the_minimum_and_unsteady_ones_go_to_the_maximum() {
    let plan = plan(&[1, 64], until_confident(ConfidenceOn::Headline), Order::Interleaved);
    let mut ledger = Ledger::new(&plan);
    let unsteady = [100.0, 50.0, 150.0, 80.0, 120.0];
    let order =
        run(&mut ledger, |index, attempt| Some(if index == 0 { 100.0 } else { unsteady[attempt] }));
    assert_eq!(order, [0, 1, 0, 1, 0, 1, 1, 1]);
    assert!(ledger.is_reached(0) && !ledger.is_reached(1));
    let width = ledger.intervals(1)[0].width_percent.unwrap();
    // mean 100, s² = 1450, t(99 %, 4) = 4.604: 2 · 4.604 · √(1450 / 5) %.
    assert!((width - 156.81).abs() < 0.02, "{width}");
}

#[test]
fn the_confidence_is_reached_as_soon_as_the_interval_is_narrow() {
    let plan = plan(&[1], until_confident(ConfidenceOn::Headline), Order::Interleaved);
    let mut ledger = Ledger::new(&plan);
    // After three: 2 · 9.925 · √(1/3) = 11.5 %; after four: s² = 2/3, 2 · 5.841 · √(1/6) = 4.77 %.
    let order = run(&mut ledger, |_, attempt| Some([99.0, 100.0, 101.0, 100.0, 0.0][attempt]));
    assert_eq!(order.len(), 4);
    assert!(ledger.is_reached(0));
}

#[test]
fn the_cpu_use_counts_too_unless_the_headline_alone_was_asked_for() {
    for (on, is_reached) in [(ConfidenceOn::Headline, true), (ConfidenceOn::HeadlineAndCpu, false)]
    {
        let plan = plan(&[1], until_confident(on), Order::Interleaved);
        let mut ledger = Ledger::new(&plan);
        for ratio in [0.1, 0.5, 0.9] {
            let metrics = [("throughput_bps", 1.0), ("sink_cpu_ratio", ratio)];
            ledger.tracks[0].finished.push(result(&metrics));
        }
        assert_eq!(ledger.is_reached(0), is_reached, "{on:?}");
    }
}

#[test]
fn steady_cpu_use_is_no_confidence_in_a_result_that_is_missing() {
    let plan = plan(&[1], until_confident(ConfidenceOn::HeadlineAndCpu), Order::Interleaved);
    let mut ledger = Ledger::new(&plan);
    let result = result(&[("sink_cpu_ratio", 0.5)]);
    ledger.tracks[0].finished.extend([result.clone(), result.clone(), result]);
    assert_eq!(ledger.intervals(0).len(), 1);
    assert!(!ledger.is_reached(0));
}

#[test]
fn what_only_fails_is_not_tried_to_the_maximum() {
    let plan = plan(&[1], until_confident(ConfidenceOn::Headline), Order::Interleaved);
    let mut ledger = Ledger::new(&plan);
    assert_eq!(run(&mut ledger, |_, _| None), [0, 0, 0]);
    assert!(!ledger.is_reached(0));
}
