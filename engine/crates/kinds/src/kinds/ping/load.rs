//! The load beside the probes: when it runs, and on what part of it probes are sent.

use std::time::{Duration, Instant};

use proto::{EventBody, Params, Reason, RunResult, reason};

use super::Plan;
use crate::end::End;
use crate::flow::gate::Phase;
use crate::load::{Load, RunningLoad};
use crate::measurements::{Finished, Outcome};
use crate::task::Cue;

/// Traffic before the first probe and after the last, in which the load finds and leaves its pace.
const RAMP: Duration = Duration::from_secs(1);
/// What a load may take to connect all of its flows, and to end after its time.
const SET_UP_LIMIT: Duration = Duration::from_secs(90);
/// How often the session's own end is looked for.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// A cancelled load may take so long to end: a cancel is promised within 500 ms.
pub const CANCEL_LIMIT: Duration = Duration::from_millis(250);

/// The load's warm-up, which no probe sees: its own, at least a ramp.
fn warmup(load: &Params) -> Duration {
    let own = load.number("warmup_seconds").unwrap_or(0.0);
    Duration::try_from_secs_f64(own).unwrap_or_default().max(RAMP)
}

/// The load's parameters: a warm-up and a time that hold all probes, whatever its own say.
pub fn params(plan: &Plan, load: &Params) -> Params {
    let mut params = load.clone();
    let mut duration = plan.cadence() + RAMP;
    if load.has("warmup_seconds") {
        params.set("warmup_seconds", warmup(load).as_secs_f64());
    } else {
        duration += RAMP;
    }
    params.set("duration_seconds", duration.as_secs_f64());
    params
}

/// The longest that the part of the test under load may take.
pub fn longest(plan: &Plan, load: &Params) -> Duration {
    SET_UP_LIMIT + warmup(load) + plan.cadence() + RAMP + super::tally::LONGEST_WAIT
}

/// Waits until the load runs and its ramp is over; none when the session ends before.
///
/// # Errors
/// Why the load did not get so far.
pub fn wait_for_plateau(
    cue: &Cue,
    load: &Load,
    running: &RunningLoad,
) -> Result<Option<Instant>, Reason> {
    while cue.pulse.phase() != Phase::Over {
        if let Some(event) = running.final_event(Duration::ZERO) {
            return Err(reason!("load_failed", kind = load.kind(), why = why_ended(event)));
        }
        let plateau = running.began_at().map(|at| at + warmup(load.params()));
        if plateau.is_some_and(|plateau| Instant::now() >= plateau) {
            return Ok(plateau);
        }
        running.wait(LOOK_INTERVAL);
    }
    Ok(None)
}

fn why_ended(event: EventBody) -> Reason {
    match event {
        EventBody::Failure { reason, .. } => reason,
        _ => reason!("load_too_short"),
    }
}

/// Waits for the load's end; what it measured, without the facts that the test's own result has.
pub fn finish(cue: &Cue, running: &RunningLoad) -> Option<Box<RunResult>> {
    while running.ended_at().is_none() {
        if cue.pulse.phase() == Phase::Over {
            running.cancel(CANCEL_LIMIT);
            break;
        }
        running.wait(LOOK_INTERVAL);
    }
    let result = match running.final_event(Duration::ZERO)? {
        EventBody::Result { result, .. } => Some(result),
        EventBody::Failure { partial, .. } => partial,
        _ => None,
    };
    result.map(|result| Box::new(RunResult { source: None, sink: None, ..*result }))
}

/// The sink's end of the load, for as long as the session runs.
pub fn serve(end: &End, cue: &Cue, plan: &Plan) -> Finished {
    if let Some(load) = &end.load {
        // The load's source comes when all idle probes are answered or given up.
        let patience = plan.cadence() + super::tally::LONGEST_WAIT;
        let running = load.start(params(plan, load.params()), patience);
        while running.ended_at().is_none() && cue.pulse.phase() != Phase::Over {
            running.wait(LOOK_INTERVAL);
        }
        running.cancel(CANCEL_LIMIT);
    }
    Finished { outcome: Outcome::Served, fault: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan::read(&Params::from([("count", 50.into()), ("probe_interval_seconds", 0.1.into())]))
    }

    fn seconds(params: &Params) -> (f64, f64) {
        let number = |name| (params.number(name).unwrap() * 1e3).round() / 1e3;
        (number("warmup_seconds"), number("duration_seconds"))
    }

    #[test]
    fn a_load_outlasts_the_probes_by_a_ramp_on_either_side() {
        let load = Params::from([("warmup_seconds", 0.into()), ("duration_seconds", 10.into())]);
        let (warmup, duration) = seconds(&params(&plan(), &load));
        assert_eq!((warmup.to_bits(), duration.to_bits()), (1_f64.to_bits(), 6_f64.to_bits()));
    }

    #[test]
    fn a_longer_warm_up_of_the_loads_own_is_kept() {
        let load = Params::from([("warmup_seconds", 4.into())]);
        let (warmup, duration) = seconds(&params(&plan(), &load));
        assert_eq!((warmup.to_bits(), duration.to_bits()), (4_f64.to_bits(), 6_f64.to_bits()));
        assert!(longest(&plan(), &load) > Duration::from_secs(10));
    }

    #[test]
    fn a_kind_without_warm_up_runs_both_ramps_within_its_time() {
        let given = params(&plan(), &Params::default());
        let seconds = given.number("duration_seconds").expect("a number");
        assert!((seconds - 7.0).abs() < 1e-9, "{seconds}");
        assert!(!given.has("warmup_seconds"));
    }
}
