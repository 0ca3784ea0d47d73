//! `run`: one test from the command line, source and controller in one.

mod control;
mod progress;
mod summary;

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use kinds::Supply;
use proto::{Catalog, EventBody, FailureCode, Params, RunResult, SessionSpec};
use tokio::runtime;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::cli::RunOptions;
use crate::failure::Failure;
use crate::serve::read_token;
use control::Sink;
use progress::Progress;

/// How often the sink's lease is renewed.
const RENEWAL: Duration = Duration::from_secs(5);
/// A cancelled source has so long to end.
const CANCEL_LIMIT: Duration = Duration::from_secs(1);

/// Runs the test and prints its result.
///
/// # Errors
/// When anything but a whole result came of it.
pub fn main(options: &RunOptions) -> Result<(), Failure> {
    let params = parameters(options)?;
    let token =
        read_token(&options.token_file).map_err(|error| Failure::Usage(format!("{error:#}")))?;
    let runtime = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(anyhow::Error::from)?;
    let result = runtime.block_on(run(options, params, &token));
    // The source's thread may still be blocked in a call on the network; its end is the process's.
    runtime.shutdown_background();
    let result = result?;
    if options.json {
        let text = serde_json::to_string(&result).map_err(anyhow::Error::from)?;
        return crate::write_line(&text);
    }
    crate::write_line(&summary::of(&result, Catalog::embedded()))
}

/// The parameters of `--set`, checked before anyone is spoken to.
fn parameters(options: &RunOptions) -> Result<Params, Failure> {
    let catalog = Catalog::embedded();
    catalog.kind(&options.kind)?;
    let mut given = Params::default();
    for setting in &options.set {
        let (name, text) = setting.split_once('=').ok_or_else(|| {
            Failure::Usage(format!(
                "--set {setting}: write it as name=value, such as duration_seconds=5"
            ))
        })?;
        if given.has(name) {
            return Err(Failure::Usage(format!("--set {name} is given twice; name one value")));
        }
        given.set(name, catalog.parse_text(&options.kind, name, text)?);
    }
    Ok(catalog.fill(&options.kind, &given)?)
}

async fn run(options: &RunOptions, params: Params, token: &str) -> Result<RunResult, Failure> {
    let mut sink = Sink::create(options, &params, token).await?;
    let (progress, events) = Progress::new();
    let cancel = start_source(sink.source_spec(params), sink.data_port, progress);
    let outcome = follow(&mut sink, events, &cancel).await;
    sink.forget().await;
    outcome
}

fn start_source(spec: SessionSpec, data_port: u16, progress: Progress) -> Sender<Supply> {
    let (cancel, supply) = channel();
    thread::spawn(move || kinds::run_session(spec, data_port, supply, Arc::new(progress)));
    cancel
}

/// Waits for the source's end; renews the sink's lease meanwhile, and stops both ends on Ctrl-C.
async fn follow(
    sink: &mut Sink,
    mut events: UnboundedReceiver<EventBody>,
    cancel: &Sender<Supply>,
) -> Result<RunResult, Failure> {
    let mut renewal = tokio::time::interval(RENEWAL);
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(EventBody::Result { result, .. }) => return Ok(*result),
                Some(EventBody::Failure { code, reason, .. }) => {
                    return Err(Failure::of_test(code, &sink.explain(code, reason).await));
                }
                Some(_) => {}
                None => return Err(anyhow::anyhow!("the source ended without a result").into()),
            },
            _ = renewal.tick() => sink.renew().await,
            _ = tokio::signal::ctrl_c() => {
                stop(sink, &mut events, cancel).await;
                return Err(Failure::Interrupted);
            }
        }
    }
}

async fn stop(sink: &mut Sink, events: &mut UnboundedReceiver<EventBody>, cancel: &Sender<Supply>) {
    let reason = "interrupted on the command line";
    // A source that has just ended needs no cancelling.
    let _ = cancel.send(Supply::Cancel { code: FailureCode::Cancelled, reason: reason.to_owned() });
    sink.cancel(reason).await;
    let ended = async {
        while let Some(event) = events.recv().await {
            if event.is_final() {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(CANCEL_LIMIT, ended).await;
}
