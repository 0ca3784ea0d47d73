//! What a test kind provides: the threads of one end, and its half of the result.

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use proto::{Metrics, Params, Role, SinkReport};

use crate::Outbox;
use crate::counter::{Count, Counter};
use crate::datagram_header::Header;
use crate::gate::{Gate, Phase, Pulse};
use crate::http_load::Loaded;
use crate::line::{Failure, Signal};
use crate::ping::Probed;
use crate::receipts::Receipts;
use crate::requests::Transacted;
use crate::session::Load;
use crate::settings::Settings;
use crate::streams::{Received, Sent};

/// How a kind's traffic is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// One TCP connection per flow.
    Tcp,
    /// One pair of UDP ports per flow.
    Udp,
    /// A TCP connection per transaction, on the lent listener.
    Connections,
    /// Nothing between the two ends but the link: the source speaks to the sink's host, or elsewhere, by itself.
    None,
}

/// How the end of a warm-up becomes known to the end that measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// By the offset that the sender tells on the link.
    Offset,
    /// By the data itself, or by the measuring end's own clock.
    OwnAccord,
}

/// One test kind.
pub trait Kind: Sync {
    /// Its name in the catalog.
    fn name(&self) -> &'static str;
    /// How its traffic is connected.
    fn transport(&self, settings: &Settings) -> Transport;
    /// How its warm-up is cut.
    fn cut(&self) -> Cut {
        Cut::OwnAccord
    }
    /// The longest that its traffic may take after the warm-up, where that isn't the asked duration.
    fn longest(&self, settings: &Settings, _params: &proto::Params) -> Duration {
        settings.duration
    }
    /// Why this host can't run this end of it, if it can't; nothing is connected yet.
    ///
    /// # Errors
    /// What is missing, and how to give it.
    fn check(&self, _spec: &proto::SessionSpec) -> Result<(), String> {
        Ok(())
    }
    /// A first connection to where the source's connections go, when that is not the sink's data port.
    fn reach(&self, _params: &Params) -> Result<Option<OwnedFd>, Failure> {
        Ok(None)
    }
    /// The threads that this end runs.
    fn tasks(&self, end: &Arc<End>) -> Vec<Task>;
    /// Metrics of an interval of `seconds` in which the measuring tasks of this end counted `count`.
    fn interval(&self, end: &End, count: Count, seconds: f64) -> Metrics;
    /// This end's half of the result.
    fn report(&self, end: &End, measured: &Measured) -> SinkReport;
}

/// One end of a test: what its tasks and its report need to know.
pub struct End {
    /// Which end.
    pub role: Role,
    /// The parameters that the shared machinery uses.
    pub settings: Settings,
    /// All parameters, for those that only one kind has.
    pub params: proto::Params,
    /// The session's secret.
    pub cookie: proto::Cookie,
    /// The test that runs within this one as its load, if there is one.
    pub load: Option<Arc<Load>>,
    /// The flows' sockets, by index; empty for [`Transport::Connections`] and [`Transport::None`].
    pub flows: Vec<OwnedFd>,
    /// Where a source's connections go.
    pub peer: Option<SocketAddr>,
    /// What a source's sockets are bound to.
    pub local: net::LocalEnd,
    /// Whether both engines number datagrams of less than 32 bytes.
    pub are_small_numbered: bool,
    /// The lent listener and whose connections are ours (`tcp_crr` sink).
    pub lent: Option<Lent>,
    /// The registered source ports (`tcp_crr` source).
    pub ports: Option<(u16, u16)>,
    /// The link's round trip when a source was set up; zero where it is unknown, and of a sink.
    pub round_trip: Duration,
    /// Wakes threads whose sockets may not be shut down.
    pub wake: net::Wake,
}

/// A listener of the agent's, lent for a session's time.
pub struct Lent {
    /// The listening socket.
    pub listener: OwnedFd,
    /// The peer's address.
    pub address: std::net::IpAddr,
    /// First and last registered port.
    pub ports: (u16, u16),
    /// Where foreign connections go.
    pub outbox: Arc<dyn Outbox>,
    /// Connections of ours that the agent accepted.
    pub handed_over: HandedOver,
}

impl Lent {
    /// Whether a connection from `peer` is this session's.
    pub fn is_registered(&self, peer: Option<SocketAddr>) -> bool {
        let (first, last) = self.ports;
        peer.is_some_and(|peer| {
            peer.ip().to_canonical() == self.address.to_canonical()
                && (first..=last).contains(&peer.port())
        })
    }
}

/// Connections that the agent accepted for a session, on their way to the thread that answers them.
#[derive(Debug, Default)]
pub struct HandedOver {
    state: Mutex<HandedOverState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct HandedOverState {
    sockets: Vec<OwnedFd>,
    is_over: bool,
}

impl HandedOver {
    /// Hands one over.
    pub fn push(&self, socket: OwnedFd) {
        self.lock().sockets.push(socket);
        self.changed.notify_one();
    }

    /// Says that no more are wanted.
    pub fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// Waits for one; none when the session is over.
    pub fn take(&self) -> Option<OwnedFd> {
        let mut state = self
            .changed
            .wait_while(self.lock(), |state| state.sockets.is_empty() && !state.is_over)
            .unwrap_or_else(PoisonError::into_inner);
        if state.is_over { None } else { state.sockets.pop() }
    }

    // Nobody panics while holding the lock; if one did, the list would still be whole.
    fn lock(&self) -> MutexGuard<'_, HandedOverState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl End {
    /// What the datagrams of a UDP stream carry about themselves.
    pub fn datagram_header(&self) -> Header {
        Header::of(self.settings.message_bytes, self.are_small_numbered)
    }

    /// A flow's socket.
    pub fn flow(&self, index: u32) -> BorrowedFd<'_> {
        // Tasks are made from the flows that there are.
        self.flows[index as usize].as_fd()
    }

    /// This end's socket options.
    pub fn options(&self) -> &net::Options {
        &self.settings.end(self.role).options
    }
}

/// What a task does in the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Sends a stream until its time is over.
    Sender,
    /// Receives a stream until its end.
    Receiver,
    /// Makes transactions until its time is over.
    Client,
    /// Answers until the flow ends.
    Server,
}

impl Part {
    /// Whether this part keeps the test's time.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Sender | Self::Client)
    }

    /// Whether intervals are made of what this part counts.
    pub fn is_measuring(self) -> bool {
        matches!(self, Self::Receiver | Self::Client)
    }
}

/// A thread's work.
pub type Body = Box<dyn FnOnce(&End, &Cue) -> Finished + Send>;

/// One thread of one flow.
pub struct Task {
    /// What it does.
    pub part: Part,
    /// The flow's index.
    pub flow: u32,
    /// The work.
    pub body: Body,
}

impl Task {
    /// A task of the given part and flow.
    pub fn new(
        part: Part,
        flow: u32,
        body: impl FnOnce(&End, &Cue) -> Finished + Send + 'static,
    ) -> Self {
        Self { part, flow, body: Box::new(body) }
    }
}

/// What a running task has from its session.
pub struct Cue {
    /// The flow's index.
    pub flow: u32,
    /// The start barrier.
    pub gate: Arc<Gate>,
    /// The phase.
    pub pulse: Arc<Pulse>,
    /// Where this task counts.
    pub counter: Arc<Counter>,
    /// What this task's flow had received and when, around the end of the warm-up.
    pub receipts: Arc<Receipts>,
    /// The socket that it uses at the moment, if that is not its flow's.
    pub current: Arc<Current>,
    /// The session's main thread.
    pub signals: Sender<Signal>,
}

impl Cue {
    /// Waits for the start and tells when it was; none when the test was given up before it, or when the machine was
    /// so busy that it was over before this thread got going.
    pub fn start(&self) -> Option<Instant> {
        self.gate.pass().filter(|_| self.pulse.phase() != Phase::Over)
    }
}

/// What a task is blocked on, where another thread may interrupt it: a socket that comes and goes, or a call on a socket
/// that may not be shut down.
#[derive(Debug, Default)]
pub struct Current {
    socket: Mutex<Option<Arc<OwnedFd>>>,
    thread: OnceLock<net::InterruptibleThread>,
}

impl Current {
    /// Shows a socket.
    pub fn set(&self, socket: &Arc<OwnedFd>) {
        *self.lock() = Some(Arc::clone(socket));
    }

    /// Hides it again; the last holder closes it.
    pub fn clear(&self) {
        self.lock().take();
    }

    /// Shows the thread itself, which then must expect `EINTR`.
    pub fn set_thread(&self, thread: net::InterruptibleThread) {
        // A task has one thread all its life.
        let _ = self.thread.set(thread);
    }

    /// Ends the traffic of the socket shown at the moment, and the blocking call of the thread.
    pub fn interrupt(&self) {
        if let Some(socket) = self.lock().as_ref() {
            net::end_traffic(socket);
        }
        if let Some(thread) = self.thread.get() {
            thread.interrupt();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<OwnedFd>>> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a task has measured.
#[derive(Debug)]
pub enum Outcome {
    /// A sender's.
    Sent(Sent),
    /// A receiver's.
    Received(Received),
    /// A client's.
    Transacted(Transacted),
    /// A prober's.
    Probed(Box<Probed>),
    /// An HTTP client thread's.
    Loaded(Box<Loaded>),
    /// A server's: it measures nothing.
    Served,
}

/// How a task ended.
#[derive(Debug)]
pub struct Finished {
    /// What it measured.
    pub outcome: Outcome,
    /// What went wrong, if anything.
    pub fault: Option<String>,
}

/// Where a receiving flow's warm-up ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowCut {
    /// Bytes that the sender sent before the first measured one.
    pub offset_bytes: u64,
    /// Bytes that had arrived when the window of all flows began.
    pub bytes_before: u64,
    /// When the first measured byte of any flow arrived: the window's begin.
    pub at: Instant,
    /// How long all flows together take for the bytes that the cut may be off by.
    pub uncertainty: Duration,
    /// Data segments received by then, where the kernel tells.
    pub data_segments: Option<u64>,
}

/// What receiving flows had when the test's time was over, where the rest was not waited for.
#[derive(Debug, Clone, PartialEq)]
pub struct DrainCut {
    /// The end of the window.
    pub at: Instant,
    /// Each flow's bytes, and its data segments where the kernel tells.
    pub flows: std::collections::BTreeMap<u32, (u64, Option<u64>)>,
}

/// Everything that one end measured.
#[derive(Debug, Default)]
pub struct Measured {
    /// What the tasks measured, in any order.
    pub outcomes: Vec<Outcome>,
    /// Where each flow's warm-up ended, by flow (only [`Cut::Offset`]).
    pub cuts: std::collections::BTreeMap<u32, FlowCut>,
    /// What had come by the window's end, where the drain was cut.
    pub drain_cut: Option<DrainCut>,
    /// What the peer sent on each flow in the window, once it told.
    pub peer_sent: Option<Vec<proto::SentCount>>,
    /// The clients' connections at the begin and at the end of the window, by flow (only [`Transport::Tcp`]).
    pub connections: std::collections::BTreeMap<u32, (net::TcpInfo, net::TcpInfo)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cue() -> Cue {
        Cue {
            flow: 0,
            gate: Arc::default(),
            pulse: Arc::new(Pulse::new(false)),
            counter: Arc::default(),
            receipts: Arc::default(),
            current: Arc::default(),
            signals: std::sync::mpsc::channel().0,
        }
    }

    #[test]
    fn a_thread_that_gets_going_after_the_test_has_nothing_to_do() {
        let cue = cue();
        let opened_at = cue.gate.open();
        assert_eq!(cue.start(), Some(opened_at));
        cue.pulse.set(Phase::Over);
        assert_eq!(cue.start(), None);
    }
}
