//! The canary over the control plane: taken while nothing else is measured here.

use std::sync::Arc;

use hyper::StatusCode;
use proto::{Canary, reason};

use crate::serve::admission::demand::Demand;
use crate::serve::admission::limits::Whose;
use crate::serve::admission::tokens::Holder;
use crate::serve::engine::Engine;
use crate::serve::refusal::Refusal;

impl Engine {
    /// Measures this host alone; no session begins meanwhile. Refused while one runs, or a limit forbids it.
    pub async fn canary(self: &Arc<Self>, holder: &Holder) -> Result<Canary, Refusal> {
        let demand = Demand::of_canary();
        self.limits.check(Whose::Engine, &demand)?;
        holder.limits.check(Whose::Token, &demand)?;
        self.memory.check(&demand, 0.0)?;
        let engine = Arc::clone(self);
        // Whoever asked may be gone before it ends: no session begins until then.
        let taken = tokio::task::spawn_blocking(move || {
            let Ok(_only_one) = engine.creation.try_lock() else { return None };
            if engine.sessions.running() > 0 {
                return None;
            }
            engine.sampler.note_session();
            let canary = kinds::canary();
            // It may have gone on after the sampler's next look.
            engine.sampler.note_session();
            Some(canary)
        });
        let canary = taken.await.map_err(|error| {
            let message = reason!("request_canary_broke_off", why = error.to_string());
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "internal", message)
        })?;
        canary.ok_or_else(busy)
    }
}

fn busy() -> Refusal {
    let message = reason!("admission_canary_busy");
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "limit", message)
}
