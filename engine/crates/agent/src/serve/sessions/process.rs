//! Sessions' processes: started by one thread, listened to by one thread each.

use std::ffi::OsString;
use std::net::IpAddr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, io};

use proto::{DescriptorRole, EventBody, Lane, ProcessMessage};
use tokio::sync::oneshot;

use crate::channel::ChannelReceiver;
use crate::serve::engine::Engine;
use crate::serve::sessions::session::{Live, Session, locked};

/// How long a process may take to exit after it has closed its channel.
const EXIT_LIMIT: Duration = Duration::from_millis(500);
const EXIT_POLL: Duration = Duration::from_millis(2);

type Request = (OwnedFd, oneshot::Sender<io::Result<Child>>);

/// Starts processes from one thread that lives as long as the agent: the kernel sends a child its parent-death
/// signal when the thread that started it ends, not the process.
pub struct Spawner {
    requests: Sender<Request>,
}

impl Spawner {
    pub fn start() -> io::Result<Self> {
        let (requests, inbox) = channel::<Request>();
        thread::Builder::new().name("spawner".into()).spawn(move || {
            for (socket, answer) in inbox {
                // A request whose asker has gone leaves a child whose channel closes at once.
                let _ = answer.send(spawn(socket));
            }
        })?;
        Ok(Self { requests })
    }

    /// Starts a session's process with `socket` as its channel.
    pub async fn spawn(&self, socket: OwnedFd) -> io::Result<Child> {
        let (answer, child) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts processes is gone");
        self.requests.send((socket, answer)).map_err(|_| gone())?;
        child.await.map_err(|_| gone())?
    }
}

/// This same program, even if its file has been replaced meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";

fn spawn(socket: OwnedFd) -> io::Result<Child> {
    // A session prints nothing; what it prints all the same belongs into the log, and an empty root has no /dev/null.
    let log = io::stderr().as_fd().try_clone_to_owned()?;
    Command::new(own_program())
        .arg0("benchweb-engine")
        .arg("session")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::from(log))
        .spawn()
}

/// Without /proc there is the path that this program was started by.
fn own_program() -> OsString {
    let has_proc = Path::new(OWN_PROGRAM).exists();
    env::args_os().next().filter(|_| !has_proc).unwrap_or_else(|| OWN_PROGRAM.into())
}

/// Listens to a session's process until its end, from a thread of its own.
pub fn listen(
    engine: Arc<Engine>,
    session: Arc<Session>,
    receiver: ChannelReceiver,
) -> io::Result<()> {
    thread::Builder::new()
        .name("session".into())
        .spawn(move || {
            Listener { engine, session, receiver, borrowing: Vec::new(), has_ended: false }.run();
        })
        .map(|_| ())
}

struct Listener {
    engine: Arc<Engine>,
    session: Arc<Session>,
    receiver: ChannelReceiver,
    /// The tests that accept in the agent's stead.
    borrowing: Vec<Lane>,
    has_ended: bool,
}

impl Listener {
    fn run(mut self) {
        let Some(live) = &Arc::clone(&self.session).live else { return };
        while let Some(message) = self.next_message() {
            self.handle(live, message);
        }
        let status = reap(live);
        self.session.push(live.end_without_result(&describe(status)));
        self.engine.tell_neighbours();
        self.end(live);
    }

    /// The next message; none when the process is gone or speaks nonsense, which ends it.
    fn next_message(&mut self) -> Option<ProcessMessage> {
        let line = self.receiver.line().ok()??;
        // Not `parse_json`: a result may nest no deeper, but it comes from our own process and may be large.
        serde_json::from_slice(&line)
            .inspect_err(|error| note!("session {}: {error}", self.session.id))
            .ok()
    }

    fn handle(&mut self, live: &Live, message: ProcessMessage) {
        match message {
            ProcessMessage::Prepared => self.session.mark_prepared(),
            ProcessMessage::Register { ports: [first, last], address, lane } => {
                let registered = Some((address.to_canonical(), first, last));
                locked(&live.door(lane).network).registered = registered;
                if !self.borrowing.contains(&lane) {
                    self.borrow(address, lane);
                }
            }
            ProcessMessage::Release { lane } => self.release(live, lane),
            ProcessMessage::Foreign => {
                if let Some(descriptor) = self.receiver.descriptor() {
                    self.engine.adopt(descriptor);
                }
            }
            ProcessMessage::Event { event } => {
                let is_final = event.is_final();
                let is_change = is_final || matches!(event, EventBody::State { .. });
                self.session.push(event);
                if is_change {
                    self.engine.tell_neighbours();
                }
                if is_final {
                    self.end(live);
                }
            }
        }
    }

    fn borrow(&mut self, peer: IpAddr, lane: Lane) {
        let Some(listener) = self.engine.data.lend(peer) else { return };
        self.borrowing.push(lane);
        self.engine.pass(&self.session, lane, DescriptorRole::Listener, 0, listener);
    }

    /// Takes back what was lent, and writes the end to disk; once.
    fn end(&mut self, live: &Live) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        live.doors().for_each(|door| self.release(live, door.lane));
        self.engine.persist(&self.session);
    }

    /// Takes back what was lent to one of the tests.
    fn release(&mut self, live: &Live, lane: Lane) {
        let registered = locked(&live.door(lane).network).registered.take();
        let Some(place) = self.borrowing.iter().position(|borrower| *borrower == lane) else {
            return;
        };
        if let Some((address, ..)) = registered {
            self.borrowing.swap_remove(place);
            self.engine.data.take_back(address);
        }
    }
}

/// Ends a process that nobody listens to.
pub fn end(live: &Live) {
    live.kill();
    // It is gone at once; what is left of it goes with this.
    let _ = locked(&live.child).wait();
}

/// Waits for the process to exit, and helps when it doesn't.
fn reap(live: &Live) -> Option<ExitStatus> {
    let deadline = Instant::now() + EXIT_LIMIT;
    while Instant::now() < deadline {
        if let Ok(Some(status)) = locked(&live.child).try_wait() {
            return Some(status);
        }
        thread::sleep(EXIT_POLL);
    }
    live.kill();
    locked(&live.child).wait().ok()
}

/// "signal: 9 (SIGKILL)" or "exit status: 1".
fn describe(status: Option<ExitStatus>) -> String {
    status.map_or_else(|| "its status is unknown".to_owned(), |status| status.to_string())
}
