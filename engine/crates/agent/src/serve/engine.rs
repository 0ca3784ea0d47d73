//! What every part of a serving engine shares.

use std::net::IpAddr;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use proto::Role;
use tokio::runtime::Handle;

use super::access::{Allowed, Token};
use super::data_ports::DataPorts;
use super::process::Spawner;
use super::session::{Session, locked};
use super::store::{RETAINED_SESSIONS, Store};
use super::tcp_acceptor::HalfOpen;

/// A process that was told to stop has so long to say its last word; controllers are promised a second.
const CANCEL_GRACE: Duration = Duration::from_millis(700);

/// A serving engine.
pub struct Engine {
    pub token: Token,
    pub allowed: Allowed,
    pub sessions: Sessions,
    pub session_limit: usize,
    pub store: Store,
    pub spawner: Spawner,
    pub data: DataPorts,
    pub half_open: HalfOpen,
    /// Binds UDP challenges to this engine; new with each start.
    pub challenge_key: [u8; 32],
    pub runtime: Handle,
    /// Held while a session is made, so that one id never makes two.
    pub creation: tokio::sync::Mutex<()>,
}

impl Engine {
    /// Writes a session to disk, unless its result was acknowledged meanwhile.
    pub fn persist(&self, session: &Session) {
        session.unless_acknowledged(|| {
            if let Err(error) = self.store.write(session) {
                eprintln!("session {}: can't be written to disk: {error}", session.id);
            }
        });
    }

    /// Stops a session now: its process is asked, and ended when it doesn't answer.
    pub fn cancel(&self, session: &Arc<Session>, code: proto::FailureCode, reason: &str) {
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

    /// Forgets a session and its result.
    pub fn forget(&self, id: &str) {
        let Some(session) = self.sessions.remove(id) else { return };
        self.cancel(&session, proto::FailureCode::Cancelled, "the controller deleted the session");
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

    /// The finished sessions beyond those that are kept, oldest first.
    pub fn surplus(&self) -> Vec<Arc<Session>> {
        let sessions = self.read();
        let finished: Vec<_> = sessions.iter().filter(|session| session.is_final()).collect();
        let surplus = finished.len().saturating_sub(RETAINED_SESSIONS);
        finished.into_iter().take(surplus).cloned().collect()
    }

    /// The running sink whose cookie has this tag.
    pub fn sink_of(&self, tag: &[u8; proto::wire::TAG_LENGTH]) -> Option<Arc<Session>> {
        self.first_running(|session| {
            session.role == Role::Sink && session.live.as_ref().is_some_and(|live| live.tag == *tag)
        })
    }

    /// The running session that has registered this source address and port.
    pub fn registered_to(&self, address: IpAddr, port: u16) -> Option<Arc<Session>> {
        self.first_running(|session| {
            let registered =
                session.live.as_ref().and_then(|live| locked(&live.network).registered);
            registered.is_some_and(|(peer, first, last)| {
                peer == address && (first..=last).contains(&port)
            })
        })
    }

    fn first_running(&self, is_wanted: impl Fn(&Session) -> bool) -> Option<Arc<Session>> {
        let sessions = self.read();
        sessions.iter().rev().find(|session| !session.is_final() && is_wanted(session)).cloned()
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<Arc<Session>>> {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<Arc<Session>>> {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use proto::{EventBody, FailureCode};

    use super::super::event_log::EventLog;
    use super::*;

    #[test]
    fn of_1003_finished_sessions_the_oldest_three_are_surplus_and_a_running_one_never_is() {
        let sessions = Sessions::default();
        let add = |id: String| {
            let session = Session::new(id, Role::Sink, String::new(), EventLog::default(), None);
            sessions.add(Arc::new(session));
        };
        add("running".to_owned());
        (0..1003).for_each(|number| add(number.to_string()));
        for session in sessions.all().iter().filter(|session| session.id != "running") {
            session.push(EventBody::failure(FailureCode::Cancelled, "", None));
        }
        let surplus: Vec<String> =
            sessions.surplus().iter().map(|session| session.id.clone()).collect();
        assert_eq!(surplus, ["0", "1", "2"]);
        assert_eq!(sessions.running(), 1);
    }
}
