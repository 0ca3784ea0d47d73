//! One session as its agent sees it: its events, its process and who may connect to it.

use std::collections::HashSet;
use std::net::IpAddr;
use std::ops::Deref;
use std::process::Child;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use proto::{
    AgentMessage, Cookie, EventBody, FailureCode, Lane, Neighbours, Reason, ReasonData, Role,
    SessionSpec, SessionState,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::channel::ChannelSender;
use crate::serve::locked::locked;
use crate::serve::sessions::event_log::EventLog;

/// What waiting controllers are woken by.
#[derive(Debug, Clone, Copy, Default)]
pub struct Progress {
    /// The id of the newest event; 0 when there is none.
    pub last_event_id: u64,
    /// Whether the process is ready for connections.
    pub is_prepared: bool,
    /// Whether the final event is there.
    pub is_final: bool,
}

/// What `GET /v1/sessions/ID` answers.
#[derive(Debug, Serialize)]
pub struct SessionDocument {
    id: String,
    role: Role,
    state: SessionState,
    code: Option<FailureCode>,
    reason: Option<String>,
    reason_data: Option<ReasonData>,
    last_event_id: u64,
    data_port: u16,
}

/// What stays of a session's request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Name {
    pub id: String,
    pub role: Role,
    /// The token that made it, as [`crate::serve::admission::tokens::Holder::owner`]; empty from an engine that knew but one.
    #[serde(default)]
    pub owner: String,
    /// SHA-256 of the filled-in specification: tells a repeated PUT from a clash without keeping the cookie on disk.
    pub digest: String,
}

/// One session.
pub struct Session {
    pub name: Name,
    /// The process and what belongs to it; none for a session read from disk.
    pub live: Option<Live>,
    progress: watch::Sender<Progress>,
    log: Mutex<EventLog>,
    last_contact: Mutex<Instant>,
    is_acknowledged: Mutex<bool>,
}

/// A session's running process.
pub struct Live {
    pub spec: SessionSpec,
    /// What it may take of the host's memory.
    pub memory_bytes: f64,
    pub channel: ChannelSender,
    pub child: Mutex<Child>,
    /// Which other sessions its process was last told of.
    pub neighbours: Mutex<Option<Neighbours>>,
    /// Where the session's own connections come in, and its load's.
    doors: Vec<Door>,
    /// Why the agent itself ends the session, when it does.
    ending: Mutex<Option<(FailureCode, Reason)>>,
}

/// Where the connections of one of a session's tests come in.
pub struct Door {
    pub lane: Lane,
    pub tag: [u8; proto::wire::TAG_LENGTH],
    pub cookie: Cookie,
    /// Flows that the test has at most.
    pub flows: u64,
    pub network: Mutex<Network>,
}

impl Door {
    fn new(lane: Lane, spec: &SessionSpec) -> Self {
        Self {
            lane,
            tag: spec.cookie.tag(),
            cookie: spec.cookie.clone(),
            flows: spec.params.flow_count(),
            network: Mutex::new(Network {
                peer: spec.peer.map(|peer| peer.address),
                ..Network::default()
            }),
        }
    }
}

/// Who may connect to a sink.
#[derive(Debug, Default)]
pub struct Network {
    /// The one address that data may come from; the link's, when the controller named none.
    pub peer: Option<IpAddr>,
    pub has_link: bool,
    /// Source ports (inclusive) whose connections carry no preamble.
    pub registered: Option<(IpAddr, u16, u16)>,
    /// Flows that have come: each comes once.
    pub tcp_flows: HashSet<u32>,
    pub udp_flows: HashSet<u32>,
}

impl Live {
    pub fn new(spec: SessionSpec, memory_bytes: f64, channel: ChannelSender, child: Child) -> Self {
        let own = Door::new(Lane::Test, &spec);
        let load = spec.load().map(|load| Door::new(Lane::Load, &load));
        Self {
            doors: std::iter::once(own).chain(load).collect(),
            spec,
            memory_bytes,
            channel,
            child: Mutex::new(child),
            neighbours: Mutex::default(),
            ending: Mutex::new(None),
        }
    }

    /// The door of a test; the session's own where it has no other.
    pub fn door(&self, lane: Lane) -> &Door {
        self.doors.iter().find(|door| door.lane == lane).unwrap_or(&self.doors[0])
    }

    /// The session's own door and its load's.
    pub fn doors(&self) -> impl Iterator<Item = &Door> {
        self.doors.iter()
    }

    pub fn kill(&self) {
        // A child that has been reaped can't be killed, and needn't be.
        let _ = locked(&self.child).kill();
    }

    /// Ends a process that doesn't listen any more.
    pub fn give_up(&self, code: FailureCode, reason: impl Into<Reason>) {
        locked(&self.ending).get_or_insert_with(|| (code, reason.into()));
        self.kill();
    }

    /// The event that stands for a process that ended without a final one.
    pub fn end_without_result(&self, status: &str) -> EventBody {
        match locked(&self.ending).take() {
            Some((code, reason)) => EventBody::failure(code, reason, None),
            None => crate::session_process::silent_end(status),
        }
    }
}

impl Session {
    pub fn new(name: Name, log: EventLog, live: Option<Live>) -> Self {
        let progress = Progress {
            last_event_id: log.last_id(),
            is_prepared: live.is_none(),
            is_final: log.state().is_final(),
        };
        Self {
            name,
            live,
            progress: watch::Sender::new(progress),
            log: Mutex::new(log),
            last_contact: Mutex::new(Instant::now()),
            is_acknowledged: Mutex::new(false),
        }
    }

    pub fn log(&self) -> MutexGuard<'_, EventLog> {
        locked(&self.log)
    }

    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    pub fn is_final(&self) -> bool {
        self.progress.borrow().is_final
    }

    pub fn mark_prepared(&self) {
        self.progress.send_modify(|progress| progress.is_prepared = true);
    }

    /// Adds an event; none follows the final one.
    pub fn push(&self, body: EventBody) {
        let body = self.as_stopped(body);
        let mut log = self.log();
        if log.state().is_final() {
            return;
        }
        log.push(body);
        let (last_event_id, is_final) = (log.last_id(), log.state().is_final());
        drop(log);
        self.progress.send_modify(|progress| {
            progress.last_event_id = last_event_id;
            progress.is_final = is_final;
        });
    }

    /// A failure that comes after the process was asked to stop is that stop's doing: a link that the other end's
    /// cancel has cut looks like a refusal.
    fn as_stopped(&self, body: EventBody) -> EventBody {
        let ending = self.live.as_ref().and_then(|live| locked(&live.ending).clone());
        match (body, ending) {
            (EventBody::Failure { code, partial, .. }, Some((stop, reason))) if code != stop => {
                EventBody::failure(stop, reason, partial.map(|partial| *partial))
            }
            (body, _) => body,
        }
    }

    /// Renews the controller's lease.
    pub fn renew_lease(&self) {
        *locked(&self.last_contact) = Instant::now();
    }

    pub fn is_lease_over(&self) -> bool {
        let Some(live) = &self.live else { return false };
        let lease = Duration::from_secs_f64(live.spec.lease_seconds);
        !self.is_final() && locked(&self.last_contact).elapsed() > lease
    }

    /// Tells the process to stop; answers whether there is one to wait for.
    pub fn ask_to_stop(&self, code: FailureCode, reason: &Reason) -> bool {
        let Some(live) = self.live.as_ref().filter(|_| !self.is_final()) else { return false };
        locked(&live.ending).get_or_insert_with(|| (code, reason.clone()));
        let message = AgentMessage::Cancel { code, reason: reason.clone() };
        // A process that doesn't even take this line won't stop by itself.
        if !matches!(live.channel.try_send(&message, None), Ok(true)) {
            live.kill();
        }
        true
    }

    /// Marks the result as no longer wanted, so that it isn't written to disk again.
    pub fn acknowledge(&self) {
        *locked(&self.is_acknowledged) = true;
    }

    /// Runs `write` unless the result was acknowledged; an acknowledgement waits until it is done.
    pub fn unless_acknowledged(&self, write: impl FnOnce()) {
        let is_acknowledged = locked(&self.is_acknowledged);
        if !*is_acknowledged {
            write();
        }
    }

    pub fn document(&self, data_port: u16) -> SessionDocument {
        let log = self.log();
        let (code, reason) = log.failure().cloned().unzip();
        let (reason, reason_data) = reason.map(Reason::into_parts).unzip();
        SessionDocument {
            id: self.id.clone(),
            role: self.role,
            state: log.state(),
            code,
            reason,
            reason_data: reason_data.flatten(),
            last_event_id: log.last_id(),
            data_port,
        }
    }
}

/// A session is known by its name's parts.
impl Deref for Session {
    type Target = Name;

    fn deref(&self) -> &Name {
        &self.name
    }
}
