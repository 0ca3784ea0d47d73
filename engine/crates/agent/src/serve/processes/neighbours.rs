//! Tells every session which others run beside it.

use std::collections::BTreeSet;
use std::sync::Arc;

use proto::{AgentMessage, Neighbours, Role, SessionState};

use crate::serve::engine::Engine;
use crate::serve::locked::locked;
use crate::serve::sessions::session::{Live, Session};

impl Engine {
    /// Tells each session's process what has changed for it; called whenever a session begins to run or ends.
    pub fn tell_neighbours(&self) {
        // One at a time: news must not overtake each other.
        let _only_one = locked(&self.neighbours);
        let mut sessions = self.sessions.all();
        sessions.retain(|session| !session.is_final());
        for session in &sessions {
            if let Some(live) = &session.live {
                tell(live, of(live, &sessions));
            }
        }
    }
}

fn tell(live: &Live, neighbours: Neighbours) {
    let mut told = locked(&live.neighbours);
    if told.as_ref() == Some(&neighbours) {
        return;
    }
    let message = AgentMessage::Neighbours { neighbours: neighbours.clone() };
    // A process too busy to take the line hears of the next change; one that is gone needs nothing.
    if matches!(live.channel.try_send(&message, None), Ok(true)) {
        *told = Some(neighbours);
    }
}

/// The sessions that run and are of another test: a test's two ends have one cookie.
fn of(live: &Live, sessions: &[Arc<Session>]) -> Neighbours {
    let running = sessions.iter().filter(|session| session.log().state() == SessionState::Running);
    let others: Vec<&Live> = running
        .filter_map(|session| session.live.as_ref())
        .filter(|other| other.spec.cookie != live.spec.cookie)
        .collect();
    let cpus: BTreeSet<u32> = others.iter().flat_map(|other| cpus(other)).collect();
    Neighbours {
        sessions: u32::try_from(others.len()).unwrap_or(u32::MAX),
        cpus: cpus.into_iter().collect(),
    }
}

fn cpus(live: &Live) -> Vec<u32> {
    let name = match live.spec.role {
        Role::Source => "source_cpus",
        Role::Sink => "sink_cpus",
    };
    let list = live.spec.params.text(name).ok().and_then(net::parse_cpu_list);
    list.unwrap_or_default().into_iter().filter_map(|cpu| u32::try_from(cpu).ok()).collect()
}
