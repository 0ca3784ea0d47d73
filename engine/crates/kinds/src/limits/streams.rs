//! What limited a stream.

use proto::{Evidence, LimitedBy, Reason, reason};

use super::congestion::{in_flight_bytes, path, window_use};
use super::known::Known;
use super::rules::{
    AWAKE, LIMITED_SHARE, REACHED, confined, receiver_cpu, receiver_interrupts, saturated_host,
    sender_cpu, unknown,
};
use super::words::{percent, rate};
use super::{Verdict, evidence};

/// From this share of the payload ceiling on, or of the link's rate with all traffic on it, the link is full.
const FULL: f64 = 0.94;
/// A receiver whose window closes and whose thread is awake this much is slow itself.
const SLOW_RECEIVER_AWAKE: f64 = 0.75;
/// Less closing of the window than this is no sign against a sender that is always awake.
const WINDOW_CLOSES: f64 = 0.2;
/// Loss from which on datagrams are what a run lacks.
const SOME_LOSS: f64 = 0.005;
/// A sender with data in flight almost all the time.
const MOSTLY_BUSY: f64 = 0.8;
/// Payload in a full send buffer, or more: the kernel counts its own memory for packets, and lets the last one overshoot.
const BUFFER_HELD: f64 = 0.5;
/// Less in flight than this share of the congestion window was held back by something else.
const WINDOW_USED: f64 = 0.8;

/// The first rule that applies, from what is certain to what is concluded.
pub fn verdict(known: &Known) -> Verdict {
    let rules = [
        pacing,
        link_rate,
        lost_datagrams,
        confined,
        closed_by_slow_receiver,
        sender_cpu,
        saturated_host,
        receiver_window,
        receiver_cpu,
        receiver_interrupts,
        send_buffer,
        path,
        full_queue,
        full_send_buffer,
    ];
    rules.iter().find_map(|rule| rule(known)).unwrap_or_else(|| unknown_stream(known))
}

fn pacing(known: &Known) -> Option<Verdict> {
    let (asked, reached) = (known.asked_bps?, known.throughput_bps?);
    (reached >= REACHED * asked).then(|| Verdict {
        by: LimitedBy::Pacing,
        summary: reason!("limit_rate_arrived", part = percent(reached / asked), rate = rate(asked)),
        evidence: vec![evidence(
            "throughput per rate asked for",
            reached / asked,
            "ratio",
            Some(REACHED),
        )],
    })
}

fn link_rate(known: &Known) -> Option<Verdict> {
    let ceiling = known.ceiling_bps.map(|ceiling| known.throughput_bps.unwrap_or(0.0) / ceiling);
    let link_use = [known.sender.link_use, known.receiver.link_use].into_iter().flatten();
    let link_use = link_use.reduce(f64::max);
    let full = |share: Option<f64>| share.filter(|&share| share >= FULL);
    let (what, share) =
        full(ceiling).map(|share| ("throughput per payload ceiling", share)).or_else(|| {
            full(link_use).map(|share| ("all traffic on the interface per link rate", share))
        })?;
    let summary = match known.ceiling_bps {
        Some(bps) if full(ceiling).is_some() => {
            reason!("limit_payload_arrived", part = percent(share), rate = rate(bps))
        }
        _ => reason!("limit_link_full", part = percent(share)),
    };
    let mut figures = vec![evidence(what, share, "ratio", Some(FULL))];
    figures.extend(known.ceiling_bps.map(|bps| evidence("payload ceiling", bps, "bit/s", None)));
    Some(Verdict { by: LimitedBy::LinkRate, summary, evidence: figures })
}

/// So much of the loss happened in the receiving sockets: they are where it is to be looked for.
const MOST: f64 = 0.5;

/// Datagrams are lost where they can't be taken: at a busy receiver, or before it.
fn lost_datagrams(known: &Known) -> Option<Verdict> {
    let loss = known.loss_ratio.filter(|&loss| loss >= SOME_LOSS)?;
    let lost = evidence("datagrams lost", loss, "ratio", Some(SOME_LOSS));
    if let Some(mut verdict) = receiver_cpu(known).or_else(|| receiver_interrupts(known)) {
        let also = reason!("limit_datagrams_lost", part = percent(loss));
        verdict.summary = Reason::joined([verdict.summary, also], " ");
        verdict.evidence.push(lost);
        return Some(verdict);
    }
    if let Some(overflow) = known.overflow_ratio.filter(|&overflow| overflow >= MOST) {
        return Some(overflowed(loss, lost, overflow));
    }
    let awake = known.receiver.awake?;
    Some(Verdict {
        by: LimitedBy::Path,
        summary: reason!("limit_lost_on_the_way", lost = percent(loss), awake = percent(awake)),
        evidence: vec![
            lost,
            evidence("receiving thread running or waiting for a CPU", awake, "ratio", None),
        ],
    })
}

fn overflowed(loss: f64, lost: Evidence, overflow: f64) -> Verdict {
    Verdict {
        by: LimitedBy::ReceiverCpu,
        summary: reason!("limit_lost_in_socket", lost = percent(loss), part = percent(overflow)),
        evidence: vec![
            evidence(
                "lost datagrams that found the receiving socket full",
                overflow,
                "ratio",
                Some(MOST),
            ),
            lost,
        ],
    }
}

/// The window closes because the receiver's CPU doesn't keep up.
fn closed_by_slow_receiver(known: &Known) -> Option<Verdict> {
    let closed = known.receiver_limited.filter(|&share| share >= WINDOW_CLOSES)?;
    let awake = known.receiver.awake.filter(|&awake| awake >= SLOW_RECEIVER_AWAKE)?;
    let sender_sleeps = known.sender.awake.is_none_or(|awake| awake < AWAKE);
    let is_cause = awake >= AWAKE || (sender_sleeps && closed >= LIMITED_SHARE);
    is_cause.then(|| Verdict {
        by: LimitedBy::ReceiverCpu,
        summary: reason!(
            "limit_receiver_window_closed",
            awake = percent(awake),
            part = percent(closed)
        ),
        evidence: vec![
            evidence(
                "receiving thread running or waiting for a CPU",
                awake,
                "ratio",
                Some(SLOW_RECEIVER_AWAKE),
            ),
            evidence("sender out of receive window", closed, "ratio", Some(WINDOW_CLOSES)),
        ],
    })
}

fn receiver_window(known: &Known) -> Option<Verdict> {
    let share = known.receiver_limited.filter(|&share| share >= LIMITED_SHARE)?;
    let mut figures =
        vec![evidence("sender out of receive window", share, "ratio", Some(LIMITED_SHARE))];
    figures.extend(awake_receiver(known));
    Some(Verdict {
        by: LimitedBy::ReceiverWindow,
        summary: reason!("limit_receive_buffer", part = percent(share)),
        evidence: figures,
    })
}

fn send_buffer(known: &Known) -> Option<Verdict> {
    let share = known.send_buffer_limited.filter(|&share| share >= LIMITED_SHARE)?;
    let figures = vec![evidence("sender out of send buffer", share, "ratio", Some(LIMITED_SHARE))];
    Some(Verdict {
        by: LimitedBy::SendBuffer,
        summary: reason!("limit_send_buffer", part = percent(share)),
        evidence: figures,
    })
}

/// A sender of datagrams sleeps only when its own host's queue takes no more: that is as fast as the device sends.
fn full_queue(known: &Known) -> Option<Verdict> {
    let (loss, awake) = (known.loss_ratio?, known.sender.awake?);
    (awake < AWAKE).then(|| Verdict {
        by: LimitedBy::Path,
        summary: reason!("limit_queue_of_sender", awake = percent(awake), lost = percent(loss)),
        evidence: vec![
            evidence("sending thread running or waiting for a CPU", awake, "ratio", None),
            evidence("datagrams lost", loss, "ratio", None),
        ],
    })
}

/// The chronograph misses buffers that are always full: then little is in flight beside the congestion window, and it
/// is as much as the buffer holds.
fn full_send_buffer(known: &Known) -> Option<Verdict> {
    let busy = known.busy.filter(|&busy| busy >= MOSTLY_BUSY)?;
    let in_flight = in_flight_bytes(known)?;
    let buffer = known.send_buffer_bytes?;
    let of_buffer = in_flight / buffer;
    let of_window = window_use(known)?;
    (of_buffer >= BUFFER_HELD && of_window < WINDOW_USED).then(|| Verdict {
        by: LimitedBy::SendBuffer,
        summary: reason!(
            "limit_send_buffer_of_flows",
            in_flight = format!("{in_flight:.0}"),
            part = percent(of_window),
            buffer = format!("{buffer:.0}")
        ),
        evidence: vec![
            evidence("in flight per send buffer", of_buffer, "ratio", Some(BUFFER_HELD)),
            evidence("in flight per congestion window", of_window, "ratio", None),
            evidence("sender busy", busy, "ratio", Some(MOSTLY_BUSY)),
        ],
    })
}

fn awake_receiver(known: &Known) -> Option<Evidence> {
    let awake = known.receiver.awake?;
    Some(evidence("receiving thread running or waiting for a CPU", awake, "ratio", None))
}

fn unknown_stream(known: &Known) -> Verdict {
    let figure =
        |what: &str, value: Option<f64>| value.map(|value| evidence(what, value, "ratio", None));
    let figures = [
        figure("sending thread running or waiting for a CPU", known.sender.awake),
        figure("receiving thread running or waiting for a CPU", known.receiver.awake),
        figure("sender busy", known.busy),
        figure("sender out of receive window", known.receiver_limited),
        figure("sender out of send buffer", known.send_buffer_limited),
    ];
    unknown(reason!("limit_none_of_throughput"), figures.into_iter().flatten().collect())
}

#[cfg(test)]
#[path = "streams_tests.rs"]
mod tests;
