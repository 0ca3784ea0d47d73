//! Making a session: checked first, then a process of its own.

use std::sync::Arc;

use hyper::StatusCode;
use proto::{AgentMessage, Catalog, Role, SessionSpec, is_session_id, reason};
use sha2::{Digest as _, Sha256};

use crate::channel::{self, ChannelReceiver, ChannelSender};
use crate::serve::admission::demand::Demand;
use crate::serve::admission::limits::Whose;
use crate::serve::admission::tokens::Holder;
use crate::serve::engine::Engine;
use crate::serve::processes::process;
use crate::serve::refusal::Refusal;
use crate::serve::sessions::event_log::EventLog;
use crate::serve::sessions::session::{Live, Name, Session};

/// A lease shorter than this would end sessions of a healthy controller; a longer one keeps a dead one's for too long.
const LEASE_BOUNDS_SECONDS: std::ops::RangeInclusive<f64> = 1.0..=3_600.0;
/// IFNAMSIZ less the final zero.
const DEVICE_NAME_LIMIT: usize = 15;

impl Engine {
    /// Makes the session, or finds the one that the same request made before; answers whether it is new.
    pub async fn create(
        self: &Arc<Self>,
        holder: &Holder,
        id: &str,
        body: &[u8],
    ) -> Result<(Arc<Session>, bool), Refusal> {
        if !is_session_id(id) {
            let message = reason!("request_session_id");
            return Err(Refusal::new(StatusCode::BAD_REQUEST, "malformed", message));
        }
        let spec = self.checked(body)?;
        let demand = Demand::of(&spec);
        self.limits.check(Whose::Engine, &demand)?;
        holder.limits.check(Whose::Token, &demand)?;
        let digest = digest(&spec);
        let _only_one = self.creation.lock().await;
        if let Some(session) = self.sessions.find(id) {
            let is_same = session.digest == digest && self.tokens.may_see(holder, &session.owner);
            return if is_same { Ok((session, false)) } else { Err(clash(id)) };
        }
        self.limits.check_count(Whose::Engine, self.sessions.running())?;
        let owner = holder.owner.as_str();
        holder.limits.check_count(Whose::Token, self.sessions.running_of(owner))?;
        self.memory.check(&demand, self.sessions.demanded_memory_bytes())?;
        let session = self.start(owner, id, spec, digest, demand).await.map_err(|error| {
            let message = reason!("request_no_process", why = error.to_string());
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "internal", message)
        })?;
        Ok((session, true))
    }

    /// The specification with all parameters, or why it can't be run here.
    fn checked(&self, body: &[u8]) -> Result<SessionSpec, Refusal> {
        let mut spec: SessionSpec = proto::parse_json(body).map_err(|error| {
            let message = reason!("request_no_specification", why = error.to_string());
            Refusal::new(StatusCode::BAD_REQUEST, "malformed", message)
        })?;
        spec.params = Catalog::embedded().fill(&spec.kind, &spec.params)?;
        self.check_peer(&spec)?;
        self.allowed_urls.check(&spec)?;
        if !LEASE_BOUNDS_SECONDS.contains(&spec.lease_seconds) {
            return Err(Refusal::invalid("lease_seconds", reason!("request_lease")));
        }
        let device = spec.bind.as_ref().and_then(|bind| bind.device.as_deref());
        if device.is_some_and(|device| !is_device_name(device)) {
            return Err(Refusal::invalid("bind.device", reason!("request_device")));
        }
        Ok(spec)
    }

    fn check_peer(&self, spec: &SessionSpec) -> Result<(), Refusal> {
        let Some(peer) = spec.peer else {
            return match spec.role {
                Role::Sink => Ok(()),
                // A test of one host has no peer.
                Role::Source if is_of_one_host(spec) => Ok(()),
                Role::Source => Err(Refusal::invalid("peer", reason!("request_no_peer"))),
            };
        };
        self.check_place(peer.address)
    }

    async fn start(
        self: &Arc<Self>,
        owner: &str,
        id: &str,
        spec: SessionSpec,
        digest: String,
        demand: Demand,
    ) -> anyhow::Result<Arc<Session>> {
        let (ours, theirs) = channel::pair()?;
        let child = self.spawner.spawn(theirs).await?;
        let receiver = ChannelReceiver::new(ours.try_clone()?);
        let sender = ChannelSender::new(ours);
        let config = AgentMessage::Config {
            spec: Box::new(spec.clone()),
            data_port: self.data.port,
            background: self.sampler.background().map(Box::new),
            disk_places: self.disk_places.clone(),
        };
        self.sampler.note_session();
        sender.send(&config, None)?;
        let name = Name { id: id.to_owned(), role: spec.role, owner: owner.to_owned(), digest };
        let live = Live::new(spec, demand.memory_bytes, sender, child);
        let session = Session::new(name, EventLog::default(), Some(live));
        let session = Arc::new(session);
        // First of all: a session that nobody listens to would never end, and hold its place for ever.
        process::listen(Arc::clone(self), Arc::clone(&session), receiver)
            .inspect_err(|_| session.live.iter().for_each(process::end))?;
        self.sessions.add(Arc::clone(&session));
        self.tell_neighbours();
        self.persist(&session);
        Ok(session)
    }
}

/// Waits until a sink is ready for connections, or has failed to be; a source needs no waiting for.
pub async fn wait_until_prepared(session: &Session) {
    if session.role == Role::Sink {
        let mut progress = session.progress();
        // The session holds the sender, so it can't close while we wait.
        let _ = progress.wait_for(|progress| progress.is_prepared || progress.is_final).await;
    }
}

fn is_of_one_host(spec: &SessionSpec) -> bool {
    Catalog::embedded().kinds.get(&spec.kind).is_some_and(proto::Kind::is_of_one_host)
}

fn digest(spec: &SessionSpec) -> String {
    let bytes = serde_json::to_vec(spec).unwrap_or_default();
    proto::hex(&Sha256::digest(bytes))
}

fn clash(id: &str) -> Refusal {
    let message = reason!("request_clash", session = id);
    Refusal::new(StatusCode::CONFLICT, "clash", message)
}

fn is_device_name(name: &str) -> bool {
    (1..=DEVICE_NAME_LIMIT).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/')
}
