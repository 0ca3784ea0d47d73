//! A whole session of another kind that runs within this one as its load.
//!
//! Both ends run it in the same process as the session itself, with a link, flows and a cookie of its own: any kind
//! can be a load, and its connections are admitted as any session's are.

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use proto::{EventBody, FailureCode, Lane, Params, Reason, Role, SessionSpec, reason};

use crate::supply::{Outbox, Supply};

/// What runs a session to its end; a sink waits for its source by the given time longer than usual.
pub type Runner =
    Arc<dyn Fn(SessionSpec, Receiver<Supply>, &Arc<dyn Outbox>, Duration) + Send + Sync>;

/// A load that may be started once.
pub struct Load {
    spec: SessionSpec,
    supplies: Sender<Supply>,
    supply: Mutex<Option<Receiver<Supply>>>,
    outbox: Arc<dyn Outbox>,
    run: Runner,
}

impl Load {
    /// A load whose registrations go through the session's own outbox.
    pub fn new(spec: SessionSpec, outbox: Arc<dyn Outbox>, run: Runner) -> Self {
        let (supplies, supply) = channel();
        Self { spec, supplies, supply: Mutex::new(Some(supply)), outbox, run }
    }

    /// The kind's name.
    pub fn kind(&self) -> &str {
        &self.spec.kind
    }

    /// Its parameters as they were asked for.
    pub fn params(&self) -> &Params {
        &self.spec.params
    }

    /// Hands on what the agent has for it; kept until it is started.
    pub fn supply(&self, supply: Supply) {
        // A load that has ended takes nothing more.
        let _ = self.supplies.send(supply);
    }

    /// Starts it with these parameters; a sink waits `patience` longer than usual for its source.
    pub fn start(&self, params: Params, patience: Duration) -> RunningLoad {
        let told = Arc::new(Told::default());
        let outbox: Arc<dyn Outbox> =
            Arc::new(LoadOutbox { told: Arc::clone(&told), session: Arc::clone(&self.outbox) });
        let spec = SessionSpec { params, ..self.spec.clone() };
        let lends = spec.role == Role::Sink;
        let supply = self.supply.lock().unwrap_or_else(PoisonError::into_inner).take();
        let run = Arc::clone(&self.run);
        let (session, told_at_end) = (Arc::clone(&self.outbox), Arc::clone(&told));
        let started = supply.ok_or_else(|| reason!("load_runs")).and_then(|supply| {
            let thread = thread::Builder::new().name("load".into()).spawn(move || {
                run(spec, supply, &outbox, patience);
                if lends {
                    session.release_ports(Lane::Load);
                }
                told_at_end.change(|state| state.has_left = true);
            });
            thread.map(|_| ()).map_err(|error| Reason::from(error.to_string()))
        });
        if let Err(reason) = started {
            told.end(EventBody::failure(FailureCode::Internal, reason, None));
        }
        RunningLoad { told, supplies: self.supplies.clone() }
    }
}

/// A load that was started.
pub struct RunningLoad {
    told: Arc<Told>,
    supplies: Sender<Supply>,
}

impl RunningLoad {
    /// When its traffic began, once it has.
    pub fn began_at(&self) -> Option<Instant> {
        self.told.lock().began_at
    }

    /// When it ended, once it has.
    pub fn ended_at(&self) -> Option<Instant> {
        self.told.lock().ended.as_ref().map(|(at, _)| *at)
    }

    /// Its final event, if it comes within `limit`.
    pub fn final_event(&self, limit: Duration) -> Option<EventBody> {
        self.told.wait(limit, |state| state.ended.is_some());
        self.told.lock().ended.as_ref().map(|(_, event)| event.clone())
    }

    /// Waits until something happens, at most for `limit`.
    pub fn wait(&self, limit: Duration) {
        let before = self.told.lock().changes;
        self.told.wait(limit, |state| state.changes != before);
    }

    /// Stops it, and waits a moment for its last word.
    pub fn cancel(&self, limit: Duration) {
        let reason = reason!("says_load_over");
        let _ = self.supplies.send(Supply::Cancel { code: FailureCode::Cancelled, reason });
        self.told.wait(limit, |state| state.has_left);
    }
}

/// What a load has told so far.
#[derive(Default)]
struct Told {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    changes: u64,
    began_at: Option<Instant>,
    ended: Option<(Instant, EventBody)>,
    has_left: bool,
}

impl Told {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        state.changes += 1;
        self.changed.notify_all();
    }

    fn end(&self, event: EventBody) {
        self.change(|state| state.ended = Some((Instant::now(), event)));
    }

    fn wait(&self, limit: Duration, is_met: impl Fn(&State) -> bool) {
        // Whoever waits looks at the state afterwards, whatever woke it.
        let _state = self.changed.wait_timeout_while(self.lock(), limit, |state| !is_met(state));
    }
}

/// Keeps a load's events from the session's controller and marks its registrations as the load's.
struct LoadOutbox {
    told: Arc<Told>,
    session: Arc<dyn Outbox>,
}

impl Outbox for LoadOutbox {
    fn prepared(&self) {}

    fn event(&self, event: EventBody) {
        match event {
            EventBody::State { .. } => {
                self.told.change(|state| state.began_at = Some(Instant::now()));
            }
            EventBody::Interval { .. } => {}
            event => self.told.end(event),
        }
    }

    fn register_ports(&self, _lane: Lane, address: IpAddr, first: u16, last: u16) {
        self.session.register_ports(Lane::Load, address, first, last);
    }

    fn release_ports(&self, _lane: Lane) {
        self.session.release_ports(Lane::Load);
    }

    fn foreign(&self, fd: OwnedFd) {
        self.session.foreign(fd);
    }
}
