//! One session from its specification to its final event.

pub mod compose;
mod conduct;
mod cuts;
mod datagram_samples;
mod drain;
mod intervals;
mod outages;
mod quiet;
mod setup;
mod tcp_samples;
mod threads;

pub use outages::{LEAST as SHORTEST_OUTAGE, SPACINGS as SPACINGS_MISSING};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use proto::{EventBody, FailureCode, SessionSpec, reason};

use crate::failure::Failure;
use crate::host_window::Surroundings;
use crate::kind::{Kind, Read};
use crate::line::Line;
use crate::line::signal::Signal;
use crate::load::Load;
use crate::settings::Settings;
use crate::supply::{Outbox, Supply};
use crate::transport::{Plan, Transport};

/// How often the forwarding thread looks whether its session is over.
const FORWARD_INTERVAL: Duration = Duration::from_millis(100);

/// What a session is about, checked.
pub struct Brief {
    /// The specification.
    pub spec: SessionSpec,
    /// The test kind.
    pub kind: Arc<dyn Kind>,
    /// How its traffic is connected.
    pub transport: &'static dyn Transport,
    /// The settings that every kind has.
    pub settings: Settings,
    /// Where events go.
    pub outbox: Arc<dyn Outbox>,
    /// What the agent tells of other sessions and of the time before.
    pub surroundings: Arc<Surroundings>,
    /// The test that runs within this one.
    pub load: Option<Arc<Load>>,
    /// How much longer than others a sink waits for its source.
    pub patience: Duration,
}

impl Brief {
    /// What connecting the traffic needs to know.
    fn connection_plan(&self) -> Plan<'_> {
        Plan { cookie: &self.spec.cookie, settings: &self.settings, outbox: &self.outbox }
    }
}

/// Looks up by its name how a kind is read.
pub type Find = fn(&str) -> Option<Read>;

/// Runs one session of a kind that `find` knows to its end.
pub fn run(spec: SessionSpec, supply: Receiver<Supply>, outbox: &Arc<dyn Outbox>, find: Find) {
    run_patiently(spec, supply, outbox, (find, Duration::ZERO));
}

/// As [`run`], for a sink whose source comes later by up to `patience`.
fn run_patiently(
    spec: SessionSpec,
    supply: Receiver<Supply>,
    outbox: &Arc<dyn Outbox>,
    (find, patience): (Find, Duration),
) {
    let load = spec.load().map(|load| {
        let run = move |spec, supply, outbox: &Arc<dyn Outbox>, patience| {
            run_patiently(spec, supply, outbox, (find, patience));
        };
        Arc::new(Load::new(load, Arc::clone(outbox), Arc::new(run)))
    });
    let mut line = Line::new();
    let is_over = Arc::new(AtomicBool::new(false));
    let surroundings = Arc::new(Surroundings::default());
    forward(supply, line.sender(), load.clone(), Arc::clone(&surroundings), Arc::clone(&is_over));
    let event = brief(spec, outbox, surroundings, find)
        .map(|brief| Brief { load, patience, ..brief })
        .and_then(|brief| run_brief(brief, &mut line))
        .unwrap_or_else(|failure| EventBody::failure(failure.code, failure.reason, None));
    is_over.store(true, Ordering::Relaxed);
    drop(line);
    outbox.event(event);
}

fn brief(
    spec: SessionSpec,
    outbox: &Arc<dyn Outbox>,
    surroundings: Arc<Surroundings>,
    find: Find,
) -> Result<Brief, Failure> {
    let read = find(&spec.kind).ok_or_else(|| {
        let kind = format!("{:?}", spec.kind);
        Failure::new(FailureCode::Invalid, reason!("setup_no_kind", kind = kind))
    })?;
    let invalid = |reason| Failure::new(FailureCode::Invalid, reason);
    let mut settings = Settings::read(&spec.params).map_err(invalid)?;
    let kind = read(&spec.params, &settings).map_err(invalid)?;
    settings.duration = kind.longest().unwrap_or(settings.duration);
    setup::check_host(settings.end(spec.role), spec.role)?;
    kind.check(&spec, &settings).map_err(invalid)?;
    setup::check_descriptors(settings.flows, spec.role)?;
    Ok(Brief {
        spec,
        transport: kind.transport(),
        kind,
        settings,
        outbox: Arc::clone(outbox),
        surroundings,
        load: None,
        patience: Duration::ZERO,
    })
}

fn run_brief(brief: Brief, line: &mut Line) -> Result<EventBody, Failure> {
    let setup = setup::prepare(&brief, line).inspect_err(|failure| tell_failure(line, failure))?;
    Ok(conduct::Conduct::new(brief, setup, line).run())
}

/// Lets the peer end too; if it is gone already, there is nobody to tell.
fn tell_failure(line: &mut Line, failure: &Failure) {
    if failure.code != FailureCode::PeerLost && line.link().is_some() {
        let _ = line.tell(&proto::LinkMessage::Failure {
            code: failure.code,
            reason: failure.reason.clone(),
        });
    }
}

/// Joins the agent's supplies to the session's other signals; what is the load's goes to it, and what only tells of the
/// surroundings goes there.
fn forward(
    supply: Receiver<Supply>,
    signals: Sender<Signal>,
    load: Option<Arc<Load>>,
    surroundings: Arc<Surroundings>,
    is_over: Arc<AtomicBool>,
) {
    thread::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            let signal = match supply.recv_timeout(FORWARD_INTERVAL) {
                Ok(Supply::Load(supplied)) => {
                    if let Some(load) = &load {
                        load.supply(*supplied);
                    }
                    continue;
                }
                Ok(Supply::Background(background)) => {
                    surroundings.set_background(*background);
                    continue;
                }
                Ok(Supply::Neighbours(neighbours)) => {
                    surroundings.set_neighbours(neighbours);
                    continue;
                }
                Ok(supplied) => Signal::Supply(supplied),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if signals.send(signal).is_err() {
                return;
            }
        }
    });
}
