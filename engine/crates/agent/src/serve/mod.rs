//! `serve`: the engine as a service.

mod admission;
mod announcement;
mod control;
mod data;
mod engine;
pub mod fuzzing;
mod locked;
mod ports;
mod private_file;
mod processes;
mod refusal;
mod sampler;
mod sessions;

pub use admission::identity::fingerprint;
pub use admission::tokens::read_token;

use std::collections::HashMap;
use std::fs;
use std::os::fd::AsFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use proto::{FailureCode, reason};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Resource, getrlimit};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::ServeOptions;
use admission::access::Allowed;
use admission::identity::Identities;
use admission::limits::Limits;
use admission::memory::MemoryShare;
use admission::successors::Successors;
use admission::tokens::{Tokens, read_tokens};
use admission::urls::AllowedUrls;
use admission::waiting_room::WaitingRoom;
use engine::{Engine, Sessions};
use ports::data_ports::DataPorts;
use ports::path_checks::PathChecks;
use sessions::session::Session;
use sessions::spawner::Spawner;
use sessions::store::Store;

/// Sessions told to stop have so long to end before the engine does.
const STOP_LIMIT: Duration = Duration::from_millis(1_200);

/// Control connections without a token, at once: some 30 kB each after the handshake.
const STRANGERS: usize = 1_024;
/// Data connections without a preamble, at once.
const HALF_OPEN: usize = 4_096;

/// Serves until a signal says to stop.
///
/// # Errors
/// When the engine can't start; the message says what is missing and how to mend it.
pub fn main(options: &ServeOptions) -> Result<()> {
    let tokens = read_tokens(&options.token_file)?;
    let _lock = claim_state_folder(options)?;
    let identities = Identities::open(&options.state_dir)?;
    let successors = Successors::open(&options.state_dir)?;
    check_disk_places(options)?;
    let runtime = Runtime::new()?;
    runtime.block_on(async {
        let control = listen(options).await?;
        let (engine, finished_at) = open_engine(options, tokens, successors, identities)?;
        let announced = json!({
            "event": "listening",
            "control": control.local_addr()?.to_string(),
            "data_port": engine.data.port,
            "fingerprint": engine.identities.current().fingerprint,
        });
        let watched = Arc::clone(&engine);
        sampler::start(Arc::clone(&engine.sampler), move || watched.sessions.running() > 0)?;
        data::tcp_acceptor::start(&engine)?;
        data::udp_acceptor::start(&engine)?;
        tokio::spawn(processes::watchdog::watch(Arc::clone(&engine), finished_at));
        let service = control::http::serve(Arc::clone(&engine), control);
        tokio::spawn(service);
        tokio::spawn(reload_tokens(Arc::clone(&engine), options.token_file.clone(), hang_ups()?));
        let stop = stop_signal()?;
        announcement::announce(&options.state_dir, &announced);
        stop.await;
        stop_sessions(&engine).await;
        Ok(())
    })
}

/// Makes the state folder and holds it: a second engine on it would take the first one's sessions for dead.
fn claim_state_folder(options: &ServeOptions) -> Result<fs::File> {
    let folder = &options.state_dir;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("can't make the state folder {}", folder.display()))?;
    let lock = private_file::private_file(&folder.join("lock"))
        .with_context(|| format!("can't write to the state folder {}", folder.display()))?;
    let held = flock(&lock, FlockOperation::NonBlockingLockExclusive);
    held.map_err(|_| {
        anyhow::anyhow!(
            "another engine uses the state folder {}; stop it, or name another with --state-dir",
            folder.display()
        )
    })?;
    Ok(lock)
}

/// A place that can't be used is told of now, not by the first test.
fn check_disk_places(options: &ServeOptions) -> Result<()> {
    for place in &options.disk_dir {
        let path = std::path::Path::new(&place.path);
        let is_usable = path.is_dir() || net::is_device(path);
        anyhow::ensure!(
            is_usable,
            "--disk-dir {} is neither a folder nor a block device",
            place.path
        );
    }
    Ok(())
}

async fn listen(options: &ServeOptions) -> Result<TcpListener> {
    let address = options.listen;
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("can't listen on {address}; stop what does, or name another address with --listen")
    })?;
    // Control must pass where large packets vanish, so that it can be told that they do.
    net::keep_segments_small(listener.as_fd());
    Ok(listener)
}

fn open_engine(
    options: &ServeOptions,
    tokens: Tokens,
    successors: Successors,
    identities: Identities,
) -> Result<(Arc<Engine>, HashMap<String, Instant>)> {
    let store = Store::open(&options.state_dir).context("can't open the state folder")?;
    let (sessions, finished_at) = restore(&store)?;
    let mut challenge_key = [0; 32];
    net::fill_random(&mut challenge_key)
        .map_err(|error| anyhow::anyhow!("no random numbers: {error}"))?;
    let descriptors = descriptor_limit();
    let addresses = ports::data_ports::addresses(options.data_listen, options.listen.ip());
    let engine = Engine {
        tokens,
        successors,
        identities,
        allowed: Allowed(options.allow.clone()),
        allowed_urls: AllowedUrls(options.allow_url.clone()),
        disk_places: options.disk_dir.clone(),
        sessions,
        limits: engine_limits(options),
        memory: MemoryShare::new(options.max_memory),
        store,
        spawner: Spawner::start()?,
        data: DataPorts::open(&addresses, options.data_port.first, options.data_port.last)?,
        strangers: WaitingRoom::new(STRANGERS.min(descriptors / 8)),
        half_open: WaitingRoom::new(HALF_OPEN.min(descriptors / 4)),
        challenge_key,
        runtime: tokio::runtime::Handle::current(),
        sampler: Arc::default(),
        started: Instant::now(),
        path_checks: PathChecks::default(),
        neighbours: std::sync::Mutex::default(),
        creation: tokio::sync::Mutex::default(),
    };
    Ok((Arc::new(engine), finished_at))
}

fn engine_limits(options: &ServeOptions) -> Limits {
    Limits {
        sessions: Some(options.max_sessions),
        duration_seconds: options.max_duration,
        flows: options.max_flows,
        rate_bps: options.max_rate,
        bytes: options.max_bytes,
        kinds: None,
    }
}

/// How many descriptors this process may have: strangers get a share of them, the sessions' flows need the rest.
fn descriptor_limit() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// Reads back the results that still wait, with when each was finished by this process's clock.
fn restore(store: &Store) -> Result<(Sessions, HashMap<String, Instant>)> {
    let sessions = Sessions::default();
    let mut finished_at = HashMap::new();
    for (age, session) in store.read_all().context("can't read the sessions in the state folder")? {
        // An instant before the host's boot can't be told; such a result waits a full term again.
        let since = Instant::now().checked_sub(age).unwrap_or_else(Instant::now);
        finished_at.insert(session.id.clone(), since);
        sessions.add(Arc::new(session));
    }
    Ok((sessions, finished_at))
}

fn stop_signal() -> Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

fn hang_ups() -> Result<Signal> {
    Ok(signal(SignalKind::hangup())?)
}

/// Reads the token file anew at every SIGHUP; one that can't be used changes nothing.
async fn reload_tokens(engine: Arc<Engine>, token_file: PathBuf, mut hang_ups: Signal) {
    while hang_ups.recv().await.is_some() {
        match read_tokens(&token_file) {
            Ok(tokens) => {
                engine.tokens.replace(&tokens);
                note!("the token file {} was read anew", token_file.display());
            }
            Err(error) => note!("{error:#}; the tokens stay as they were"),
        }
    }
}

async fn stop_sessions(engine: &Arc<Engine>) {
    let mut running: Vec<Arc<Session>> = engine.sessions.all();
    running.retain(|session| !session.is_final());
    for session in &running {
        engine.cancel(session, FailureCode::Cancelled, &reason!("says_stopped"));
    }
    let all_ended = async {
        for session in &running {
            let _ = session.progress().wait_for(|progress| progress.is_final).await;
        }
    };
    let _ = tokio::time::timeout(STOP_LIMIT, all_ended).await;
    running.iter().filter(|session| session.is_final()).for_each(|session| engine.persist(session));
}
