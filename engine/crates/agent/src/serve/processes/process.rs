//! Sessions' processes, listened to by one thread each.

use std::io;
use std::net::IpAddr;
use std::process::ExitStatus;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use proto::{DescriptorRole, EventBody, Lane, ProcessMessage};

use crate::channel::ChannelReceiver;
use crate::serve::engine::Engine;
use crate::serve::locked::locked;
use crate::serve::sessions::session::{Live, Session};

/// How long a process may take to exit after it has closed its channel.
const EXIT_LIMIT: Duration = Duration::from_millis(500);
const EXIT_POLL: Duration = Duration::from_millis(2);

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
