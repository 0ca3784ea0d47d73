//! Rules that streams and requests share, and the values from which on a figure speaks.

use proto::{LimitedBy, Reason, reason};

use super::known::{EndUse, Known};
use super::words::percent;
use super::{Verdict, evidence};

/// As much of the sender's time that the kernel put down to one cause is the cause.
pub const LIMITED_SHARE: f64 = 0.4;
/// Threads that are awake this much of their time have no time to wait for the other end.
pub const AWAKE: f64 = 0.85;
/// A core that spends this much in interrupts takes packets as fast as it can.
pub const INTERRUPTED: f64 = 0.8;
/// All cores together, beyond which threads wait for each other.
pub const SATURATED: f64 = 0.95;
/// So much of a busy host's CPU is the test's own; else other programs fill the host, which says nothing of the test.
pub const OWN_SHARE: f64 = 0.4;
/// So much of what a control group allows is all of it: the process is stopped and started in whole periods.
pub const CONFINED: f64 = 0.9;
/// As much of the rate asked for, or of the ceiling, is all of it.
pub const REACHED: f64 = 0.98;

/// The end that does the sending, or asks.
pub fn sender_cpu(known: &Known) -> Option<Verdict> {
    let awake = known.sender.awake.filter(|&awake| awake >= AWAKE)?;
    Some(cpu(LimitedBy::SenderCpu, "sending", &known.sender, awake))
}

/// The end that does the receiving, or answers.
pub fn receiver_cpu(known: &Known) -> Option<Verdict> {
    let awake = known.receiver.awake.filter(|&awake| awake >= AWAKE)?;
    Some(cpu(LimitedBy::ReceiverCpu, "receiving", &known.receiver, awake))
}

fn cpu(by: LimitedBy, what: &str, end: &EndUse, awake: f64) -> Verdict {
    let threads = if end.threads == 1 { "thread" } else { "threads" };
    let mut figures = vec![evidence(
        &format!("{what} {threads} running or waiting for a CPU"),
        awake,
        "ratio",
        Some(AWAKE),
    )];
    let (code, told_awake) = (format!("limit_{what}_{threads}"), percent(awake).into());
    let summary = if let Some(running) = end.running {
        figures.push(evidence(&format!("{what} {threads} on a CPU"), running, "ratio", None));
        let part = percent((running / awake).min(1.0)).into();
        Reason::new(&code, [("awake", told_awake), ("part", part)])
    } else {
        Reason::new(&(code + "_awake"), [("awake", told_awake)])
    };
    if let Some(busy) = end.host_busy {
        figures.push(evidence("all cores of that host busy", busy, "ratio", None));
    }
    Verdict { by, summary, evidence: figures }
}

/// A core that is taken up by packets' arrival.
pub fn receiver_interrupts(known: &Known) -> Option<Verdict> {
    let share = known.receiver.interrupted.filter(|&share| share >= INTERRUPTED)?;
    Some(Verdict {
        by: LimitedBy::ReceiverCpu,
        summary: reason!("limit_interrupts", part = percent(share)),
        evidence: vec![evidence("busiest core in interrupts", share, "ratio", Some(INTERRUPTED))],
    })
}

/// A host without a free CPU, where each thread alone is often asleep.
pub fn saturated_host(known: &Known) -> Option<Verdict> {
    let (sender, receiver) = (&known.sender, &known.receiver);
    let is_full = |end: &EndUse| {
        let own = end.process_cpus.map_or(0.0, |cpus| cpus / f64::from(end.cores.max(1)));
        end.host_busy.is_some_and(|busy| busy >= SATURATED) && own >= OWN_SHARE
    };
    let uses_more = sender.process_cpus >= receiver.process_cpus;
    let is_sender = match (is_full(sender), is_full(receiver)) {
        (true, true) => uses_more,
        (false, true) => false,
        (true, false) => true,
        (false, false) => return None,
    };
    let (by, end, name) = if is_sender {
        (LimitedBy::SenderCpu, sender, "sending")
    } else {
        (LimitedBy::ReceiverCpu, receiver, "receiving")
    };
    let busy = end.host_busy?;
    let part = percent(busy);
    let summary = if is_sender {
        reason!("limit_sender_cores", part = part)
    } else {
        reason!("limit_receiver_cores", part = part)
    };
    let mut figures = vec![evidence(
        &format!("all cores of the {name} host busy"),
        busy,
        "ratio",
        Some(SATURATED),
    )];
    let cpus = end.process_cpus;
    figures
        .extend(cpus.map(|cpus| evidence("CPUs that the test's process used", cpus, "CPUs", None)));
    Some(Verdict { by, summary, evidence: figures })
}

/// An end that has used up what its control group allows.
pub fn confined(known: &Known) -> Option<Verdict> {
    let ends = [
        (LimitedBy::SenderCpu, "sender", &known.sender),
        (LimitedBy::ReceiverCpu, "receiver", &known.receiver),
    ];
    ends.into_iter().find_map(|(by, name, end)| {
        let used = end.process_cpus?;
        let is_full = |limit: &Option<f64>| limit.is_some_and(|limit| used >= CONFINED * limit);
        let (limit, what) = if is_full(&end.quota_cpus) {
            (end.quota_cpus?, "quota")
        } else if is_full(&end.cpuset_cpus) {
            (end.cpuset_cpus?, "cpuset")
        } else {
            return None;
        };
        Some(Verdict {
            by,
            summary: Reason::new(
                &format!("limit_{name}_{what}"),
                [("used", format!("{used:.2}").into()), ("limit", limit.to_string().into())],
            ),
            evidence: vec![evidence(
                "CPUs that the test's process used",
                used,
                "CPUs",
                Some(CONFINED * limit),
            )],
        })
    })
}

/// Names the control group's limits beside a verdict about a CPU.
pub fn with_confines(mut verdict: Verdict, known: &Known) -> Verdict {
    let end = match verdict.by {
        LimitedBy::SenderCpu => &known.sender,
        LimitedBy::ReceiverCpu => &known.receiver,
        _ => return verdict,
    };
    let limits = [
        ("CPU quota of its control group", end.quota_cpus),
        ("CPUs in the cpuset of its control group", end.cpuset_cpus),
    ];
    let named = limits.into_iter().filter_map(|(what, cpus)| Some((what, cpus?)));
    verdict.evidence.extend(named.map(|(what, cpus)| evidence(what, cpus, "CPUs", None)));
    verdict
}

/// No rule applies.
pub fn unknown(summary: Reason, evidence: Vec<proto::Evidence>) -> Verdict {
    Verdict { by: LimitedBy::Unknown, summary, evidence }
}
