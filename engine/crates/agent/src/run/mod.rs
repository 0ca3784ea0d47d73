//! `run`: tests from the command line, source and controller in one.

mod control;
mod dialing;
mod here;
mod ledger;
mod lost_peer;
mod outbox;
mod plan;
mod progress;
mod report;
mod test;

use proto::{Catalog, DiskPlace};
use tokio::runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::RunOptions;
use crate::failure::Failure;
use crate::serve::read_token;
use control::Contact;
use ledger::Ledger;
use plan::Plan;
use progress::Progress;
use report::output::Output;
use test::Failed;

/// Where a command's tests are.
enum Place {
    /// Between this host and a peer.
    Between(Contact),
    /// On this host alone, with the disks that may be used.
    Here(Vec<DiskPlace>),
}

impl Place {
    /// As the kind needs it; a peer is given where there is one, and only there.
    fn of(options: &RunOptions, plan: &Plan) -> Result<Self, Failure> {
        let kind = &plan.kind;
        if Catalog::embedded().kind(kind)?.is_of_one_host() {
            if options.peer.is_some() {
                let message = format!("{kind} measures this host alone; leave out --peer");
                return Err(Failure::Usage(message));
            }
            return Ok(Self::Here(options.disk_dir.clone()));
        }
        let (Some(peer), Some(file)) = (&options.peer, &options.token_file) else {
            let message = format!("{kind} needs --peer HOST[:PORT] and --token-file F");
            return Err(Failure::Usage(message));
        };
        let token = read_token(file).map_err(|error| Failure::Usage(format!("{error:#}")))?;
        Ok(Self::Between(Contact::new(options, peer.clone(), token)))
    }
}

/// Runs the tests and prints their results.
///
/// # Errors
/// When anything but whole results came of it, or the confidence asked for was not reached.
pub fn main(options: &RunOptions) -> Result<(), Failure> {
    let plan = Plan::new(options)?;
    let place = Place::of(options, &plan)?;
    let mut output = Output::open(options)?;
    let runtime = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(anyhow::Error::from)?;
    let mut place = place;
    let progress = Progress::new(options.quiet);
    let outcome = runtime.block_on(conduct(&plan, &mut place, progress, &mut output));
    // The source's thread may still be blocked in a call on the network; its end is the process's.
    runtime.shutdown_background();
    outcome
}

/// Runs what the plan asks for, test by test; keeps and prints what was measured, whatever happens.
async fn conduct(
    plan: &Plan,
    place: &mut Place,
    progress: Progress,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(anyhow::Error::from)?;
    let mut ledger = Ledger::new(plan);
    let mut first_failure = None;
    let mut number = 0;
    while let Some(index) = ledger.next() {
        number += 1;
        let attempt = ledger.tracks[index].attempts() + 1;
        progress.begin(plan, index, attempt, number);
        let outcome = one(plan, index, place, progress, &mut interrupt).await;
        let ends_all = outcome.as_ref().is_err_and(|failed| failed.failure.ends_all());
        if let Some(failure) = enter(&mut ledger, index, outcome, progress, output)? {
            first_failure.get_or_insert(failure);
        }
        if ends_all {
            break;
        }
    }
    output.conclude(&ledger)?;
    verdict(&ledger, first_failure)
}

async fn one(
    plan: &Plan,
    index: usize,
    place: &mut Place,
    progress: Progress,
    interrupt: &mut Signal,
) -> Result<proto::RunResult, Failed> {
    let params = &plan.combinations[index].params;
    match place {
        Place::Between(contact) => {
            test::run(contact, &plan.kind, params, progress, interrupt).await
        }
        Place::Here(disks) => here::run(disks, &plan.kind, params, progress, interrupt).await,
    }
}

/// Writes a test's outcome into the ledger and to the outputs; its failure, if it is one.
fn enter(
    ledger: &mut Ledger<'_>,
    index: usize,
    outcome: Result<proto::RunResult, Failed>,
    progress: Progress,
    output: &mut Output,
) -> Result<Option<Failure>, Failure> {
    let attempt = ledger.tracks[index].attempts() + 1;
    match outcome {
        Ok(result) => {
            progress.finished(ledger.plan, &result);
            output.result(ledger.plan, attempt, &result)?;
            ledger.tracks[index].finished.push(result);
            Ok(None)
        }
        Err(Failed { failure, partial }) => {
            if !ledger.plan.is_single() {
                progress.failed(&failure.to_string());
            }
            output.failure(ledger.plan, index, attempt, &failure, partial.as_ref())?;
            let until_then =
                partial.and_then(|partial| progress::headline(&ledger.plan.kind, &partial));
            let until_then =
                until_then.map_or(String::new(), |figure| format!(" (until then {figure})"));
            ledger.tracks[index].failures.push(format!("{failure}{until_then}"));
            Ok(Some(failure))
        }
    }
}

/// What the command as a whole says of itself.
fn verdict(ledger: &Ledger<'_>, first_failure: Option<Failure>) -> Result<(), Failure> {
    let failed: usize = ledger.tracks.iter().map(|track| track.failures.len()).sum();
    let tried: usize = ledger.tracks.iter().map(ledger::Track::attempts).sum();
    match first_failure {
        Some(failure) if ledger.plan.is_single() || matches!(failure, Failure::Interrupted) => {
            Err(failure)
        }
        Some(failure) => Err(Failure::Some { failed, tried, exit_code: failure.exit_code() }),
        None if (0..ledger.tracks.len()).all(|index| ledger.is_reached(index)) => Ok(()),
        None => Err(Failure::NotConfident),
    }
}
