//! What limited requests: their round trip, unless an end's CPU did.

use proto::{LimitedBy, reason};

use super::known::Known;
use super::rules::{
    REACHED, confined, receiver_cpu, receiver_interrupts, saturated_host, sender_cpu, unknown,
};
use super::words::{per_second, percent, time};
use super::{Verdict, evidence};

/// As much of the clients' time spent on lost transactions' time-outs is the cause.
const LOST_TIME: f64 = 0.3;
/// Rate × latency per transaction in flight: what is left of a client's time went elsewhere.
const CLOSED_LOOP: f64 = 0.8;

/// The first rule that applies.
pub fn verdict(known: &Known) -> Verdict {
    let rules = [
        pacing,
        lost_transactions,
        confined,
        sender_cpu,
        receiver_cpu,
        receiver_interrupts,
        full_hosts,
        round_trip,
    ];
    rules
        .iter()
        .find_map(|rule| rule(known))
        .unwrap_or_else(|| unknown(reason!("limit_none_of_rate"), Vec::new()))
}

/// Probes at a cadence are limited by nothing else.
pub fn cadence(known: &Known) -> Option<Verdict> {
    let interval = known.probe_interval_seconds?;
    Some(Verdict {
        by: LimitedBy::Pacing,
        summary: reason!("limit_probe_interval", interval = time(interval)),
        evidence: vec![evidence("probe interval", interval, "s", None)],
    })
}

fn pacing(known: &Known) -> Option<Verdict> {
    let (asked, reached) = (known.asked_rate?, known.transaction_rate?);
    (reached >= REACHED * asked).then(|| Verdict {
        by: LimitedBy::Pacing,
        summary: reason!(
            "limit_rate_answered",
            part = percent(reached / asked),
            rate = per_second(asked)
        ),
        evidence: vec![evidence(
            "rate per rate asked for",
            reached / asked,
            "ratio",
            Some(REACHED),
        )],
    })
}

/// Share of the clients' time that answered transactions account for.
fn accounted(known: &Known) -> Option<f64> {
    Some(known.transaction_rate? * known.latency_mean_seconds? / known.in_flight)
}

/// A lost request or response is waited for until its time-out.
fn lost_transactions(known: &Known) -> Option<Verdict> {
    let loss = known.loss_ratio.filter(|&loss| loss > 0.0)?;
    let waited = 1.0 - accounted(known)?;
    (waited >= LOST_TIME).then(|| Verdict {
        by: LimitedBy::Path,
        summary: reason!("limit_lost_transactions", lost = percent(loss), part = percent(waited)),
        evidence: vec![
            evidence("time spent on lost transactions", waited, "ratio", Some(LOST_TIME)),
            evidence("transactions lost", loss, "ratio", None),
        ],
    })
}

/// One transaction at a time leaves each end idle while the other works: only many can fill a host.
fn full_hosts(known: &Known) -> Option<Verdict> {
    (known.in_flight > 1.0).then(|| saturated_host(known))?
}

fn round_trip(known: &Known) -> Option<Verdict> {
    let (rate, latency) = (known.transaction_rate?, known.latency_mean_seconds?);
    let accounted = accounted(known)?;
    (accounted >= CLOSED_LOOP && known.asked_rate.is_none()).then(|| Verdict {
        by: LimitedBy::RoundTrip,
        summary: reason!(
            "limit_round_trip",
            count = format!("{:.0}", known.in_flight),
            time = time(latency),
            rate = per_second(rate)
        ),
        evidence: vec![
            evidence(
                "rate × mean latency per transaction in flight",
                accounted,
                "ratio",
                Some(CLOSED_LOOP),
            ),
            evidence("mean latency", latency, "s", None),
        ],
    })
}

#[cfg(test)]
mod tests {
    use proto::LimitedBy;

    use super::{cadence, verdict};
    use crate::limits::known::{EndUse, Known};

    fn one_at_a_time() -> Known {
        Known {
            transaction_rate: Some(20_000.0),
            latency_mean_seconds: Some(49e-6),
            in_flight: 1.0,
            sender: EndUse {
                awake: Some(0.5),
                threads: 1,
                host_busy: Some(1.0),
                process_cpus: Some(1.0),
                cores: 2,
                ..EndUse::default()
            },
            receiver: EndUse {
                awake: Some(0.4),
                threads: 1,
                host_busy: Some(1.0),
                ..EndUse::default()
            },
            ..Known::default()
        }
    }

    #[test]
    fn one_transaction_at_a_time_is_limited_by_its_round_trip_even_on_a_busy_host() {
        let verdict = verdict(&one_at_a_time());
        assert_eq!(verdict.by, LimitedBy::RoundTrip);
        assert_eq!(
            &*verdict.summary,
            "Each transaction waited for an answer: 1 in flight, each 49.0 µs long, make 20.0 k/s."
        );
        assert!((verdict.evidence[0].value - 0.98).abs() < 1e-9);
    }

    #[test]
    fn many_transactions_at_once_can_fill_a_server_or_a_host() {
        let many = Known { in_flight: 64.0, latency_mean_seconds: Some(3.2e-3), ..one_at_a_time() };
        assert_eq!(verdict(&many).by, LimitedBy::SenderCpu);
        let awake = EndUse { awake: Some(0.97), threads: 64, ..EndUse::default() };
        let slow_server = Known { receiver: awake, ..many };
        assert_eq!(verdict(&slow_server).by, LimitedBy::ReceiverCpu);
    }

    #[test]
    fn a_rate_that_was_asked_for_and_reached_is_the_limit_and_one_not_reached_is_not() {
        let asked = Known { asked_rate: Some(20_100.0), ..one_at_a_time() };
        assert_eq!(verdict(&asked).by, LimitedBy::Pacing);
        let missed = Known { asked_rate: Some(40_000.0), ..one_at_a_time() };
        assert_eq!(verdict(&missed).by, LimitedBy::Unknown);
    }

    #[test]
    fn time_spent_on_lost_transactions_is_the_paths() {
        let lossy =
            Known { loss_ratio: Some(0.01), transaction_rate: Some(5_000.0), ..one_at_a_time() };
        let verdict = verdict(&lossy);
        assert_eq!(verdict.by, LimitedBy::Path);
        assert!((verdict.evidence[0].value - 0.755).abs() < 1e-9);
    }

    #[test]
    fn without_a_latency_nothing_is_concluded() {
        let bare = Known { latency_mean_seconds: None, ..one_at_a_time() };
        assert_eq!(verdict(&bare).by, LimitedBy::Unknown);
    }

    #[test]
    fn probes_are_limited_by_their_cadence() {
        assert_eq!(cadence(&Known::default()), None);
        let probes = Known { probe_interval_seconds: Some(0.1), ..Known::default() };
        assert_eq!(
            cadence(&probes).map(|verdict| verdict.summary).as_deref(),
            Some("One probe was sent each 100.0 ms, as asked for.")
        );
    }
}
