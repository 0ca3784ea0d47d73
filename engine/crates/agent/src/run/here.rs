//! One test of this host alone: no peer, no link.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use kinds::Supply;
use proto::{Cookie, DiskPlace, EventBody, FailureCode, Params, Role, RunResult, SessionSpec};
use tokio::signal::unix::Signal;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::timeout;

use crate::failure::Failure;
use crate::run::outbox::Events;
use crate::run::progress::Progress;
use crate::run::report::partial;
use crate::run::test::Failed;

/// An interrupted test has so long to stop and to tell what it measured.
const STOP_LIMIT: Duration = Duration::from_millis(400);

/// Runs one test to its end, or until `interrupt`.
pub async fn run(
    places: &[DiskPlace],
    kind: &str,
    params: &Params,
    progress: Progress,
    interrupt: &mut Signal,
) -> Result<RunResult, Failed> {
    let spec = SessionSpec {
        role: Role::Source,
        kind: kind.to_owned(),
        params: params.clone(),
        // Nobody connects.
        cookie: Cookie::new([0; 32]),
        peer: None,
        bind: None,
        lease_seconds: 1.0,
    };
    let (events, mut receiver) = unbounded_channel();
    let (cancel, supply) = channel();
    let places = places.to_vec();
    thread::spawn(move || kinds::run_session(spec, places, supply, Arc::new(Events::new(events))));
    tokio::select! {
        outcome = follow(&mut receiver, kind, progress) => outcome,
        _ = interrupt.recv() => {
            let reason = "interrupted on the command line".into();
            // A test that has just ended needs no cancelling.
            let _ = cancel.send(Supply::Cancel { code: FailureCode::Cancelled, reason });
            let told = timeout(STOP_LIMIT, follow(&mut receiver, kind, progress)).await;
            let measured = match told {
                Ok(Ok(result)) => Some(result),
                Ok(Err(failed)) => failed.partial,
                Err(_) => None,
            };
            Err(Failed { failure: Failure::Interrupted, partial: measured })
        }
    }
}

async fn follow(
    events: &mut UnboundedReceiver<EventBody>,
    kind: &str,
    progress: Progress,
) -> Result<RunResult, Failed> {
    while let Some(event) = events.recv().await {
        match event {
            EventBody::Interval { interval } => progress.interval(kind, &interval),
            EventBody::Result { result, .. } => return Ok(*result),
            EventBody::Failure { code, reason, partial, .. } => {
                let partial = partial::join(partial.map(|partial| *partial), None);
                return Err(Failed { failure: Failure::of_test(code, &reason), partial });
            }
            EventBody::State { .. } => {}
        }
    }
    Err(Failure::from(anyhow::anyhow!("the test ended without a result")).into())
}
