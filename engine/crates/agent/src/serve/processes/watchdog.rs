//! What ends by itself: sessions of a lost controller, results that nobody fetched.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{FailureCode, Reason, reason};

use crate::serve::engine::Engine;
use crate::serve::sessions::store::RETENTION;

const PERIOD: Duration = Duration::from_millis(500);

/// Watches for ever. `ages` tells how long sessions read from disk have waited already.
pub async fn watch(engine: Arc<Engine>, mut finished_at: HashMap<String, Instant>) {
    loop {
        tokio::time::sleep(PERIOD).await;
        end_lost_sessions(&engine);
        drop_old_results(&engine, &mut finished_at);
    }
}

fn end_lost_sessions(engine: &Engine) {
    for session in engine.sessions.all() {
        if session.is_lease_over() {
            let reason = Reason::joined(
                [reason!("says_lease_ran_out"), reason!("says_look_at_worker")],
                "; ",
            );
            engine.cancel(&session, FailureCode::ControllerLost, &reason);
        }
    }
}

fn drop_old_results(engine: &Engine, finished_at: &mut HashMap<String, Instant>) {
    let sessions = engine.sessions.all();
    finished_at.retain(|id, _| sessions.iter().any(|session| session.id == *id));
    for session in sessions.iter().filter(|session| session.is_final()) {
        let since = *finished_at.entry(session.id.clone()).or_insert_with(Instant::now);
        if since.elapsed() > RETENTION {
            engine.forget(&session.id);
        }
    }
    for session in engine.sessions.surplus() {
        engine.forget(&session.id);
    }
}
