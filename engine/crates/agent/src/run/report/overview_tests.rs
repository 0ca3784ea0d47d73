use super::*;
use crate::cli::{AskedConfidence, ConfidenceOn, Order};
use crate::run::ledger::tests::result;
use crate::run::plan::{Combination, Plan, Rule};

fn plan(sizes: &[u64], rule: Rule) -> Plan {
    let combination = |size: &u64| {
        let mut varied = vec![("message_size_bytes".to_owned(), (*size).into())];
        varied.retain(|_| sizes.len() > 1);
        Combination { params: proto::Params::default(), varied }
    };
    let combinations = sizes.iter().map(combination).collect();
    Plan { kind: "tcp_stream".to_owned(), combinations, rule, order: Order::Interleaved }
}

fn confident(width_percent: f64) -> Rule {
    let asked = AskedConfidence { level_percent: 99.0, width_percent };
    Rule { minimum: 3, maximum: 3, confidence: Some((asked, ConfidenceOn::Headline)) }
}

fn measured<'a>(plan: &'a Plan, values: &[&[f64]]) -> Ledger<'a> {
    let mut ledger = Ledger::new(plan);
    for (track, values) in ledger.tracks.iter_mut().zip(values) {
        track.finished = values.iter().map(|value| result(&[("throughput_bps", *value)])).collect();
    }
    ledger
}

fn text(ledger: &Ledger<'_>) -> String {
    of(ledger, Catalog::embedded(), "peer", Style::plain())
}

#[test]
fn each_combination_has_its_row() {
    let plan = plan(&[64, 1024], Rule { minimum: 2, maximum: 2, confidence: None });
    let mut ledger = measured(&plan, &[&[1e9, 3e9], &[8e9]]);
    ledger.tracks[1].failures.push("the test failed (peer_lost): silence".to_owned());
    ledger.tracks[0].finished[0].flags.push("same_host".to_owned());
    assert_eq!(
        text(&ledger),
        "TCP stream with peer, 4 tests
  message_size_bytes   Throughput, received        minimum        maximum    spread   n
  64                           2.000 Gbit/s   1.000 Gbit/s   3.000 Gbit/s   100.0 %   2
  1024                         8.000 Gbit/s   8.000 Gbit/s   8.000 Gbit/s     0.0 %   1
  same_host: both ends on one host: no wire was measured (1 of 3 tests)
  failed: message_size_bytes=1024: the test failed (peer_lost): silence"
    );
}

#[test]
fn a_sweep_without_repetitions_has_no_spread() {
    let plan = plan(&[64, 1024], Rule { minimum: 1, maximum: 1, confidence: None });
    let ledger = measured(&plan, &[&[1e9], &[]]);
    let text = text(&ledger);
    assert!(text.contains("  message_size_bytes   Throughput, received\n"), "{text}");
    assert!(text.ends_with("  1024                                    -"), "{text}");
}

#[test]
fn one_combination_lists_its_metrics() {
    let plan = plan(&[64], Rule { minimum: 3, maximum: 3, confidence: None });
    let text = text(&measured(&plan, &[&[1e9, 2e9, 4e9]]));
    let row = "  Throughput, received   2.000 Gbit/s   1.000 Gbit/s   4.000 Gbit/s   150.0 %   3";
    assert!(text.ends_with(row), "{text}");
}

#[test]
fn a_confidence_that_was_not_reached_is_told_loudly_and_one_that_was_is_not() {
    let plan = plan(&[64, 1024], confident(5.0));
    let ledger = measured(&plan, &[&[1e9, 1e9, 1e9], &[99.0, 100.0, 101.0]]);
    let warning = warning(&ledger, Catalog::embedded()).unwrap();
    assert!(warning.starts_with("!!! WARNING\n!!! The confidence asked for was not reached: a 99 % interval no wider than 5 % of the mean.\n"));
    assert!(
        warning.ends_with(
            "!!!   message_size_bytes=1024, 3 repetitions: Throughput, received 11.46 %"
        ),
        "{warning}"
    );
    let text = text(&ledger);
    assert!(
        text.contains(
            "    message_size_bytes=64: reached after 3 repetitions (Throughput, received 0.00 %)"
        ),
        "{text}"
    );
    assert!(
        text.contains("    message_size_bytes=1024: NOT REACHED after 3 repetitions"),
        "{text}"
    );
}

#[test]
fn without_a_miss_there_is_no_warning() {
    let reached = plan(&[64], confident(12.0));
    let ledger = measured(&reached, &[&[99.0, 100.0, 101.0]]);
    assert_eq!(warning(&ledger, Catalog::embedded()), None);
    let unasked = plan(&[64], Rule { minimum: 3, maximum: 3, confidence: None });
    assert_eq!(warning(&measured(&unasked, &[&[1.0, 9.0]]), Catalog::embedded()), None);
}
