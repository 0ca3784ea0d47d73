//! Two sessions on loopback, with as much of an agent between them as they need.

#![allow(dead_code)] // Each test file uses a part of it.

mod agent;
pub mod stalls;
pub mod web;

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kinds::{Outbox, Supply, run_session};
use proto::{
    Catalog, Cookie, EventBody, FailureCode, Lane, Params, Peer, Role, RunResult, SessionSpec,
};

pub use agent::Agent;

const PATIENCE: Duration = Duration::from_secs(60);

/// What a session told.
#[derive(Default)]
pub struct Told {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_prepared: bool,
    events: Vec<EventBody>,
}

impl Told {
    /// Waits until `is_met` holds of the events.
    pub fn wait_until(&self, is_met: impl Fn(&[EventBody]) -> bool) {
        self.wait(|state| is_met(&state.events));
    }

    pub fn wait_until_running(&self) {
        self.wait_until(|events| {
            events.iter().any(|event| matches!(event, EventBody::State { .. }))
        });
    }

    fn wait(&self, is_met: impl Fn(&State) -> bool) {
        let state = self.state.lock().unwrap();
        let (_state, timeout) =
            self.changed.wait_timeout_while(state, PATIENCE, |state| !is_met(state)).unwrap();
        assert!(!timeout.timed_out(), "nothing of the kind was told within {PATIENCE:?}");
    }

    pub fn events(&self) -> Vec<EventBody> {
        self.state.lock().unwrap().events.clone()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }
}

/// An outbox that remembers, and lends its agent's listener.
struct Notes {
    told: Arc<Told>,
    agent: Option<(Arc<Agent>, Sender<Supply>)>,
}

impl Outbox for Notes {
    fn prepared(&self) {
        self.told.change(|state| state.is_prepared = true);
    }

    fn event(&self, event: EventBody) {
        self.told.change(|state| state.events.push(event));
    }

    fn register_ports(&self, lane: Lane, _address: IpAddr, _first: u16, _last: u16) {
        if let Some((agent, supply)) = &self.agent {
            supply.send(Supply::Listener(agent.lend()).on(lane)).unwrap();
        }
    }

    fn release_ports(&self, _lane: Lane) {}

    fn foreign(&self, _fd: OwnedFd) {}
}

/// A source and a sink at work.
pub struct Pair {
    pub source: Arc<Told>,
    pub sink: Arc<Told>,
    pub agent: Arc<Agent>,
    source_supply: Sender<Supply>,
    sink_supply: Sender<Supply>,
    threads: Vec<JoinHandle<()>>,
    _alone: MutexGuard<'static, ()>,
}

impl Pair {
    /// Starts both ends of a test.
    pub fn start(kind: &str, params: &Params) -> Self {
        Self::start_as(kind, params, |_| {})
    }

    /// The same with parameters changed beyond what the catalog allows.
    pub fn start_as(kind: &str, params: &Params, change: impl FnOnce(&mut Params)) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let cookie = Cookie::new([7; 32]);
        let mut params =
            Catalog::embedded().fill(kind, params).expect("the test's parameters are valid");
        change(&mut params);
        let (sink_supply, sink_receiver) = channel();
        let (source_supply, source_receiver) = channel();
        let agent = Arc::new(Agent::start(cookie.clone(), sink_supply.clone()));
        let spec = |role, peer| SessionSpec {
            role,
            kind: kind.to_owned(),
            params: params.clone(),
            cookie: cookie.clone(),
            peer,
            bind: None,
            lease_seconds: 60.0,
        };
        let (source, sink) = (Arc::new(Told::default()), Arc::new(Told::default()));
        let port = agent.port();
        let sink_notes = Notes {
            told: Arc::clone(&sink),
            agent: Some((Arc::clone(&agent), sink_supply.clone())),
        };
        let sink_spec = spec(Role::Sink, None);
        let mut threads = vec![thread::spawn(move || {
            run_session(sink_spec, Vec::new(), sink_receiver, Arc::new(sink_notes));
        })];
        sink.wait(|state| state.is_prepared || !state.events.is_empty());
        let peer = Peer { address: [127, 0, 0, 1].into(), data_port: port };
        let source_spec = spec(Role::Source, Some(peer));
        let source_notes = Notes { told: Arc::clone(&source), agent: None };
        threads.push(thread::spawn(move || {
            run_session(source_spec, Vec::new(), source_receiver, Arc::new(source_notes));
        }));
        Self { source, sink, agent, source_supply, sink_supply, threads, _alone: alone }
    }

    /// Cancels one end; how long it takes until it has ended.
    pub fn cancel(&self, role: Role) -> Duration {
        let (supply, told) = match role {
            Role::Source => (&self.source_supply, &self.source),
            Role::Sink => (&self.sink_supply, &self.sink),
        };
        let begin = Instant::now();
        supply
            .send(Supply::Cancel { code: FailureCode::Cancelled, reason: "enough".into() })
            .unwrap();
        told.wait_until(|events| events.last().is_some_and(EventBody::is_final));
        begin.elapsed()
    }

    /// Waits for both ends; the final event of source and sink.
    pub fn join(mut self) -> (EventBody, EventBody) {
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
        let last = |told: &Told| told.events().pop().expect("a session ends with an event");
        (last(&self.source), last(&self.sink))
    }
}

/// Parameters from pairs of name and JSON value.
pub fn params(text: &str) -> Params {
    proto::parse_json(text.as_bytes()).expect("the test's parameters are JSON")
}

/// One test at a time: a flood beside it makes a paced stream lose datagrams in truth.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs a test to its end: the results of source and sink.
pub fn results(kind: &str, text: &str) -> (RunResult, RunResult) {
    let (source, sink) = Pair::start(kind, &params(text)).join();
    (finished(source), finished(sink))
}

/// The source's result of a test run to its end.
pub fn result(kind: &str, text: &str) -> RunResult {
    results(kind, text).0
}

/// The result of a session that must have finished.
pub fn finished(event: EventBody) -> RunResult {
    match event {
        EventBody::Result { result, .. } => *result,
        other => panic!("expected a result, got {other:?}"),
    }
}

/// Code, reason and partial result of a session that must have failed.
pub fn failed(event: EventBody) -> (FailureCode, String, Option<RunResult>) {
    match event {
        EventBody::Failure { code, reason, partial, .. } => {
            (code, reason.to_string(), partial.map(|result| *result))
        }
        other => panic!("expected a failure, got {other:?}"),
    }
}

/// What a test measured of which nothing arrived, and which therefore must have failed.
pub fn unanswered(kind: &str, text: &str) -> RunResult {
    let (code, reason, partial) = failed(Pair::start(kind, &params(text)).join().0);
    assert_eq!(code, FailureCode::NothingArrived, "{reason}");
    partial.expect("the counts are kept")
}

/// A test of this kind with a few flows, whatever the kind calls them.
pub fn text(kind: &str, duration_seconds: f64) -> String {
    let flows = if kind == "http_load" { "connections" } else { "flows" };
    format!(r#"{{"duration_seconds": {duration_seconds}, "{flows}": 3}}"#)
}
