//! One test: a source here, a sink at the peer.

use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use kinds::Supply;
use proto::{EventBody, FailureCode, Params, RunResult};
use tokio::signal::unix::Signal;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, timeout_at};

use crate::failure::Failure;
use crate::run::control::{Contact, Sink};
use crate::run::outbox::Events;
use crate::run::progress::Progress;
use crate::run::report::partial;

/// How often the sink's lease is renewed.
const RENEWAL: Duration = Duration::from_secs(5);
/// Both ends of an interrupted test have so long to stop and to tell what they measured.
const STOP_LIMIT: Duration = Duration::from_millis(400);

/// How a test failed, with what was measured until then.
#[derive(Debug)]
pub struct Failed {
    /// Why.
    pub failure: Failure,
    /// What was measured.
    pub partial: Option<RunResult>,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self { failure, partial: None }
    }
}

/// Runs one test to its end, or until `interrupt`.
pub async fn run(
    contact: &mut Contact,
    kind: &str,
    params: &Params,
    progress: Progress,
    interrupt: &mut Signal,
) -> Result<RunResult, Failed> {
    let created = async { Sink::create(contact.connect(progress).await?, kind, params).await };
    let mut created = pin!(created);
    let sink = tokio::select! {
        sink = &mut created => sink?,
        _ = interrupt.recv() => {
            // One that is being made is there a moment later, and would hold its place until its lease is over.
            if let Ok(Ok(sink)) = timeout_at(Instant::now() + STOP_LIMIT, created).await {
                sink.forget().await;
            }
            return Err(Failure::Interrupted.into());
        }
    };
    let (events, receiver) = unbounded_channel();
    let cancel = start_source(&sink, params, Events::new(events));
    let outcome = follow(&sink, receiver, &cancel, (kind, progress), interrupt).await;
    sink.forget().await;
    outcome
}

fn start_source(sink: &Sink, params: &Params, events: Events) -> Sender<Supply> {
    let spec = sink.source_spec(params.clone());
    let (cancel, supply) = channel();
    thread::spawn(move || kinds::run_session(spec, Vec::new(), supply, Arc::new(events)));
    cancel
}

/// Waits for the source's end; renews the sink's lease meanwhile, and stops both ends on Ctrl-C.
async fn follow(
    sink: &Sink,
    mut events: UnboundedReceiver<EventBody>,
    cancel: &Sender<Supply>,
    (kind, progress): (&str, Progress),
    interrupt: &mut Signal,
) -> Result<RunResult, Failed> {
    let mut renewal = tokio::time::interval(RENEWAL);
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(EventBody::Interval { interval }) => progress.interval(kind, &interval),
                Some(EventBody::Result { result, .. }) => return Ok(*result),
                Some(EventBody::Failure { code, reason, partial, .. }) => {
                    let failure = Failure::of_test(code, &sink.explain(code, reason.to_string()).await);
                    let partial = partial::join(partial.map(|partial| *partial), None);
                    return Err(Failed { failure, partial });
                }
                Some(EventBody::State { .. }) => {}
                None => {
                    let failure = anyhow::anyhow!("the source ended without a result");
                    return Err(Failure::from(failure).into());
                }
            },
            _ = renewal.tick() => sink.renew(),
            _ = interrupt.recv() => {
                let partial = stop(sink, &mut events, cancel).await;
                return Err(Failed { failure: Failure::Interrupted, partial });
            }
        }
    }
}

/// Stops both ends at once; what they measured.
async fn stop(
    sink: &Sink,
    events: &mut UnboundedReceiver<EventBody>,
    cancel: &Sender<Supply>,
) -> Option<RunResult> {
    let reason = "interrupted on the command line";
    let deadline = Instant::now() + STOP_LIMIT;
    // A source that has just ended needs no cancelling.
    let _ = cancel.send(Supply::Cancel { code: FailureCode::Cancelled, reason: reason.into() });
    let source_ends = async {
        while let Some(event) = events.recv().await {
            match event {
                EventBody::Result { result, .. } => return Some(*result),
                EventBody::Failure { partial, .. } => return partial.map(|partial| *partial),
                _ => {}
            }
        }
        None
    };
    let sink_ends = async {
        sink.cancel(reason).await;
        sink.measured().await
    };
    let (source, sink) =
        tokio::join!(timeout_at(deadline, source_ends), timeout_at(deadline, sink_ends));
    partial::join(source.ok().flatten(), sink.ok().flatten())
}
