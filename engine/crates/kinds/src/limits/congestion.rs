//! Whether the path's congestion window limited a stream.

use proto::{Evidence, LimitedBy, reason};

use super::known::Known;
use super::rules::LIMITED_SHARE;
use super::words::{percent, time};
use super::{Verdict, evidence};

/// Loss from which on TCP's window stays small.
const SOME_RETRANSMITS: f64 = 0.0005;
/// A queue on the path: the round trip is longer than the least by this much, absolutely and relatively.
const QUEUE_SECONDS: f64 = 0.0005;
const QUEUE_GROWTH: f64 = 1.5;
/// Less in flight than this share of the congestion window: the window holds nobody back, and acknowledgements that wait
/// (RFC 1122, 4.2.3.2) make the round trip longer, not a queue.
const WINDOW_HELD: f64 = 0.25;

/// The congestion window held the sender back, and loss or a queue shows why.
pub fn path(known: &Known) -> Option<Verdict> {
    if let Some(busy) = known.busy {
        let others =
            known.receiver_limited.unwrap_or(0.0) + known.send_buffer_limited.unwrap_or(0.0);
        if busy - others < LIMITED_SHARE {
            return None;
        }
    }
    let lost = known.retransmit_ratio.filter(|&ratio| ratio >= SOME_RETRANSMITS);
    let queue = queue(known);
    let why = match (lost, queue) {
        (Some(lost), Some((rtt, least))) => reason!(
            "limit_loss_and_queue",
            lost = percent(lost),
            least = time(least),
            time = time(rtt)
        ),
        (Some(lost), None) => reason!("limit_loss", lost = percent(lost)),
        (None, Some((rtt, least))) => {
            reason!("limit_queue", least = time(least), time = time(rtt))
        }
        (None, None) => return None,
    };
    Some(Verdict {
        by: LimitedBy::Path,
        summary: reason!("limit_congestion", why = why),
        evidence: path_evidence(known, lost),
    })
}

fn queue(known: &Known) -> Option<(f64, f64)> {
    let (rtt, least) = (known.rtt_seconds?, known.minimum_rtt_seconds?);
    let is_longer = rtt - least >= QUEUE_SECONDS && rtt >= QUEUE_GROWTH * least;
    let is_held = window_use(known).is_none_or(|share| share >= WINDOW_HELD);
    (is_longer && is_held).then_some((rtt, least))
}

/// What each flow had in flight as a share of its congestion window.
pub fn window_use(known: &Known) -> Option<f64> {
    let window = known.congestion_window_bytes.filter(|&window| window > 0.0)?;
    Some(in_flight_bytes(known)? / window)
}

/// Each flow's payload in flight: its rate times the round trip.
pub fn in_flight_bytes(known: &Known) -> Option<f64> {
    Some(known.throughput_bps? / 8.0 * known.rtt_seconds? / known.flows.max(1.0))
}

fn path_evidence(known: &Known, lost: Option<f64>) -> Vec<Evidence> {
    let lost =
        lost.map(|ratio| evidence("segments sent again", ratio, "ratio", Some(SOME_RETRANSMITS)));
    let queue = queue(known).map(|(rtt, least)| {
        let threshold = (least + QUEUE_SECONDS).max(least * QUEUE_GROWTH);
        evidence("smoothed round trip", rtt, "s", Some(threshold))
    });
    let least =
        known.minimum_rtt_seconds.map(|least| evidence("least round trip", least, "s", None));
    let window = known.congestion_window_bytes;
    let window = window.map(|bytes| evidence("congestion window", bytes, "B", None));
    [lost, queue, least, window].into_iter().flatten().collect()
}
