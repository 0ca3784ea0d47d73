//! The canary over the control plane: taken while nothing else is measured here.

use hyper::StatusCode;
use proto::{Canary, reason};

use crate::serve::admission::demand::Demand;
use crate::serve::admission::limits::Whose;
use crate::serve::admission::tokens::Holder;
use crate::serve::engine::Engine;
use crate::serve::refusal::Refusal;

impl Engine {
    /// Measures this host alone; no session begins meanwhile. Refused while one runs, or a limit forbids it.
    pub async fn canary(&self, holder: &Holder) -> Result<Canary, Refusal> {
        let demand = Demand::of_canary();
        self.limits.check(Whose::Engine, &demand)?;
        holder.limits.check(Whose::Token, &demand)?;
        let Ok(_only_one) = self.creation.try_lock() else { return Err(busy()) };
        if self.sessions.running() > 0 {
            return Err(busy());
        }
        self.memory.check(&demand, 0.0)?;
        self.sampler.note_session();
        let canary = tokio::task::spawn_blocking(kinds::canary).await;
        // It may have gone on after the sampler's next look.
        self.sampler.note_session();
        canary.map_err(|error| {
            let message = reason!("request_canary_broke_off", why = error.to_string());
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "internal", message)
        })
    }
}

fn busy() -> Refusal {
    let message = reason!("admission_canary_busy");
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "limit", message)
}
