//! What every part of a serving engine shares.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use proto::{DiskPlace, Lane, Reason, Role, reason};
use tokio::runtime::Handle;

use crate::serve::admission::access::Allowed;
use crate::serve::admission::identity::Identities;
use crate::serve::admission::limits::Limits;
use crate::serve::admission::memory::MemoryShare;
use crate::serve::admission::successors::Successors;
use crate::serve::admission::tokens::{Holder, Tokens};
use crate::serve::admission::urls::AllowedUrls;
use crate::serve::admission::waiting_room::WaitingRoom;
use crate::serve::locked::locked;
use crate::serve::ports::data_ports::DataPorts;
use crate::serve::ports::path_checks::PathChecks;
use crate::serve::sampler::Sampler;
use crate::serve::sessions::session::{Door, Session};
use crate::serve::sessions::spawner::Spawner;
use crate::serve::sessions::store::{RETAINED_BYTES, RETAINED_SESSIONS, Store};

/// A process that was told to stop has so long to say its last word; controllers are promised half a second.
const CANCEL_GRACE: Duration = Duration::from_millis(400);

/// A serving engine.
pub struct Engine {
    pub tokens: Tokens,
    /// What took the place of tokens in the file.
    pub successors: Successors,
    pub identities: Identities,
    pub allowed: Allowed,
    pub allowed_urls: AllowedUrls,
    /// Where disks may be measured.
    pub disk_places: Vec<DiskPlace>,
    pub sessions: Sessions,
    /// What any session may ask for.
    pub limits: Limits,
    pub memory: MemoryShare,
    pub store: Store,
    pub spawner: Spawner,
    pub data: DataPorts,
    /// Control connections that have shown no token yet.
    pub strangers: Arc<WaitingRoom>,
    /// Data connections whose preamble is still to come.
    pub half_open: Arc<WaitingRoom>,
    /// Binds UDP challenges to this engine; new with each start.
    pub challenge_key: [u8; 32],
    pub runtime: Handle,
    /// What the host does between tests.
    pub sampler: Arc<Sampler>,
    /// When it was started.
    pub started: Instant,
    /// Looks at paths, without a test.
    pub path_checks: PathChecks,
    /// Held while sessions are told of each other.
    pub neighbours: std::sync::Mutex<()>,
    /// Held while a session is made, so that one id never makes two.
    pub creation: tokio::sync::Mutex<()>,
}

impl Engine {
    /// Writes a session to disk, unless its result was acknowledged meanwhile.
    pub fn persist(&self, session: &Session) {
        session.unless_acknowledged(|| {
            if let Err(error) = self.store.write(session) {
                note!("session {}: can't be written to disk: {error}", session.id);
            }
        });
    }

    /// Stops a session now: its process is asked, and ended when it doesn't answer.
    pub fn cancel(&self, session: &Arc<Session>, code: proto::FailureCode, reason: &Reason) {
        if !session.ask_to_stop(code, reason) {
            return;
        }
        let session = Arc::clone(session);
        self.runtime.spawn(async move {
            let mut progress = session.progress();
            let ended = progress.wait_for(|progress| progress.is_final);
            if tokio::time::timeout(CANCEL_GRACE, ended).await.is_err() {
                if let Some(live) = &session.live {
                    live.kill();
                }
            }
        });
    }

    /// The session of this id, if `holder` may see it.
    pub fn visible(&self, holder: &Holder, id: &str) -> Option<Arc<Session>> {
        self.sessions.find(id).filter(|session| self.tokens.may_see(holder, &session.owner))
    }

    /// Forgets a session and its result.
    pub fn forget(&self, id: &str) {
        let Some(session) = self.sessions.remove(id) else { return };
        let reason = reason!("says_deleted");
        self.cancel(&session, proto::FailureCode::Cancelled, &reason);
        session.acknowledge();
        self.store.remove(id);
    }
}

/// Every session that is not yet acknowledged, oldest first.
#[derive(Default)]
pub struct Sessions(RwLock<Vec<Arc<Session>>>);

impl Sessions {
    pub fn add(&self, session: Arc<Session>) {
        self.write().push(session);
    }

    pub fn find(&self, id: &str) -> Option<Arc<Session>> {
        self.read().iter().find(|session| session.id == id).cloned()
    }

    fn remove(&self, id: &str) -> Option<Arc<Session>> {
        let mut sessions = self.write();
        let position = sessions.iter().position(|session| session.id == id)?;
        Some(sessions.remove(position))
    }

    pub fn all(&self) -> Vec<Arc<Session>> {
        self.read().clone()
    }

    /// How many have not ended.
    pub fn running(&self) -> usize {
        self.read().iter().filter(|session| !session.is_final()).count()
    }

    /// How many of one token's have not ended.
    pub fn running_of(&self, owner: &str) -> usize {
        let sessions = self.read();
        sessions.iter().filter(|session| !session.is_final() && session.owner == owner).count()
    }

    /// What those that have not ended may take of the host's memory.
    pub fn demanded_memory_bytes(&self) -> f64 {
        let sessions = self.read();
        let running = sessions.iter().filter(|session| !session.is_final());
        running.filter_map(|session| session.live.as_ref()).map(|live| live.memory_bytes).sum()
    }

    /// The finished sessions beyond those that are kept: the oldest of the token that has the most.
    pub fn surplus(&self) -> Vec<Arc<Session>> {
        let sessions = self.read();
        let mut finished: Vec<_> =
            sessions.iter().filter(|session| session.is_final()).cloned().collect();
        let mut bytes: usize = finished.iter().map(|session| session.log().bytes()).sum();
        let mut surplus = Vec::new();
        while finished.len() > RETAINED_SESSIONS || bytes > RETAINED_BYTES {
            let session = finished.remove(oldest_of_the_most(&finished));
            bytes -= session.log().bytes();
            surplus.push(session);
        }
        surplus
    }

    /// The running sink of which a cookie has this tag, and which of its tests it is.
    pub fn sink_of(&self, tag: &[u8; proto::wire::TAG_LENGTH]) -> Option<(Arc<Session>, Lane)> {
        self.first_running(|door, session| session.role == Role::Sink && door.tag == *tag)
    }

    /// The running session that has registered this source address and port, and for which of its tests.
    pub fn registered_to(&self, address: IpAddr, port: u16) -> Option<(Arc<Session>, Lane)> {
        self.first_running(|door, _| {
            locked(&door.network).registered.is_some_and(|(peer, first, last)| {
                peer == address && (first..=last).contains(&port)
            })
        })
    }

    fn first_running(
        &self,
        is_wanted: impl Fn(&Door, &Session) -> bool,
    ) -> Option<(Arc<Session>, Lane)> {
        let sessions = self.read();
        sessions.iter().rev().filter(|session| !session.is_final()).find_map(|session| {
            let live = session.live.as_ref()?;
            let door = live.doors().find(|door| is_wanted(door, session))?;
            Some((Arc::clone(session), door.lane))
        })
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<Arc<Session>>> {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<Arc<Session>>> {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Where the oldest session is of the token with the most of them; `sessions` are oldest first and not empty.
fn oldest_of_the_most(sessions: &[Arc<Session>]) -> usize {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for session in sessions {
        *counts.entry(&session.owner).or_default() += 1;
    }
    let most = counts.values().max().copied().unwrap_or_default();
    sessions.iter().position(|session| counts[session.owner.as_str()] == most).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proto::{EventBody, FailureCode};

    use super::*;
    use crate::serve::sessions::event_log::EventLog;
    use crate::serve::sessions::session::Name;

    #[test]
    fn of_1003_finished_sessions_the_oldest_three_of_the_greediest_token_are_surplus() {
        let sessions = Sessions::default();
        let add = |id: String| {
            let owner = if id == "0" { "modest" } else { "owner" };
            let (owner, digest) = (owner.to_owned(), String::new());
            let name = Name { id, role: Role::Sink, owner, digest };
            sessions.add(Arc::new(Session::new(name, EventLog::default(), None)));
        };
        add("running".to_owned());
        (0..1003).for_each(|number| add(number.to_string()));
        for session in sessions.all().iter().filter(|session| session.id != "running") {
            session.push(EventBody::failure(FailureCode::Cancelled, "", None));
        }
        let surplus: Vec<String> =
            sessions.surplus().iter().map(|session| session.id.clone()).collect();
        assert_eq!(surplus, ["1", "2", "3"]);
        assert_eq!(sessions.running(), 1);
    }
}
