//! A test of which nothing arrived: its verdict, and why it is failed.

use proto::{
    Facts, HostWindow, LimitedBy, Metrics, Params, Reason, ReasonValue, RunResult, reason,
};

use super::known::{Known, carrier, told_unanswered};
use super::{Verdict, evidence};

/// What was sent without anything of it arriving limits nothing but the path.
pub(super) fn verdict(known: &Known) -> Option<Verdict> {
    let sent = known.unanswered?;
    if sent <= 0.0 {
        let summary = reason!("limit_nothing_arrived");
        return Some(Verdict { by: LimitedBy::Path, summary, evidence: Vec::new() });
    }
    Some(Verdict {
        by: LimitedBy::Path,
        summary: reason!("limit_no_packet_arrived", packets = grouped(sent)),
        evidence: vec![evidence("sent without anything arriving", sent, "packets", None)],
    })
}

/// The word that qualifies a result of which a part, or all, arrived nowhere.
pub fn flag(result: &RunResult, is_silent: bool, has_silent_flow: bool) -> Option<String> {
    let flag = if is_silent {
        "nothing_arrived"
    } else if has_silent_phase(&result.metrics) {
        "phase_without_reply"
    } else if has_silent_flow {
        "flow_without_data"
    } else {
        return None;
    };
    Some(flag.to_owned())
}

/// Probes of which only those with load, or only those without, were answered.
fn has_silent_phase(metrics: &Metrics) -> bool {
    let is_lost = |key: &str| metrics.get(key).is_some_and(|&ratio| ratio >= 1.0);
    metrics.contains_key("sent_probes") && (is_lost("loss_ratio") || is_lost("loaded_loss_ratio"))
}

/// Whether nothing arrived on one of a stream's flows.
pub fn has_silent_flow(result: &RunResult) -> bool {
    let (forward, reverse) = directions(&result.params);
    let is_silent = |bytes: u64, is_used: bool| is_used && bytes == 0;
    result
        .flows
        .iter()
        .any(|flow| is_silent(flow.bytes, forward) || is_silent(flow.reverse_bytes, reverse))
}

/// Whether data goes from source to sink, and whether it goes back.
fn directions(params: &Params) -> (bool, bool) {
    match params.text("direction").unwrap_or("forward") {
        "reverse" => (false, true),
        "bidirectional" => (true, true),
        _ => (true, false),
    }
}

/// Why a test that came to its end is failed all the same, with what may explain it.
pub fn failure(silence: Reason, result: &RunResult) -> Reason {
    let (source, sink) = hosts(result);
    let mtus = match (mtu(result.source.as_ref(), source), mtu(result.sink.as_ref(), sink)) {
        (Some([bytes, interface]), Some([bytes_2, interface_2])) => reason!(
            "says_mtus",
            bytes = bytes,
            interface = interface,
            bytes_2 = bytes_2,
            interface_2 = interface_2
        ),
        (Some([bytes, interface]), None) => {
            reason!("says_mtu_of_source", bytes = bytes, interface = interface)
        }
        (None, Some([bytes, interface])) => {
            reason!("says_mtu_of_sink", bytes = bytes, interface = interface)
        }
        (None, None) => return Reason::joined([silence, reason!("says_look_at_firewall")], "; "),
    };
    Reason::joined([silence, reason!("says_look_at_firewall_and_mtu"), mtus], "; ")
}

fn hosts(result: &RunResult) -> (Option<&HostWindow>, Option<&HostWindow>) {
    let hosts = result.hosts.as_ref();
    (hosts.and_then(|hosts| hosts.source.as_ref()), hosts.and_then(|hosts| hosts.sink.as_ref()))
}

/// Of a stream, the first direction in which nothing arrived, as `how` says of the metrics with a prefix.
pub fn silent_direction(
    result: &RunResult,
    how: impl Fn(&str) -> Option<Reason>,
) -> Option<Reason> {
    let (forward, reverse) = directions(&result.params);
    let back = if forward { "reverse_" } else { "" };
    let of_way = |is_used: bool, prefix| how(prefix).filter(|_| is_used);
    of_way(forward, "")
        .map(|how| reason!("says_nothing_arrived_forward", how = how))
        .or_else(|| Some(reason!("says_nothing_arrived_reverse", how = of_way(reverse, back)?)))
}

/// Of requests or probes of which none was answered, as `how` says of their number.
pub fn unanswered(result: &RunResult, how: impl Fn(String) -> Reason) -> Option<Reason> {
    sent_in_vain(result, "").map(|count| reason!("says_nothing_arrived", how = how(count)))
}

/// How many were sent, where none of them came through.
pub fn sent_in_vain(result: &RunResult, prefix: &str) -> Option<String> {
    told_unanswered(&result.metrics, prefix).map(grouped)
}

/// Bytes and name of the interface that carried the test.
fn mtu(facts: Option<&Facts>, host: Option<&HostWindow>) -> Option<[ReasonValue; 2]> {
    let interface = carrier(host?)?;
    let told = || {
        let known = facts?.interfaces.iter().find(|known| known.name == interface.name)?;
        known.mtu
    };
    let bytes = interface.mtu_bytes.or_else(told)?;
    Some([grouped(f64::from(bytes)).into(), interface.name.as_str().into()])
}

/// "12,345".
fn grouped(count: f64) -> String {
    let digits = format!("{count:.0}");
    let mut said = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            said.push(',');
        }
        said.push(digit);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!((grouped(7.0), grouped(1_500.0)), ("7".to_owned(), "1,500".to_owned()));
        assert_eq!(grouped(1_234_567.0), "1,234,567");
    }
}
