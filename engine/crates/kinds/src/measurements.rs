//! What the threads of one end measure: data without a word of how it is measured or reported.

use std::any::Any;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use stats::Latency;

use proto::Reason;

use crate::flow::pacer::Missed;

/// What one sending flow did in the measured window.
#[derive(Debug, Clone, Default)]
pub struct Sent {
    /// The flow's index.
    pub flow: u32,
    /// Payload bytes that the kernel took.
    pub bytes: u64,
    /// Messages or datagrams that the kernel took whole.
    pub messages: u64,
    /// Sends that the kernel refused (`ENOBUFS` and the like).
    pub failed: u64,
    /// When the window began and ended for this flow.
    pub span: Option<(Instant, Instant)>,
    /// The connection at the window's begin (TCP).
    pub connection_before: Option<Box<net::TcpInfo>>,
    /// The connection at the end of sending (TCP).
    pub connection_after: Option<Box<net::TcpInfo>>,
    /// What a rate asked for and the flow was held up from sending.
    pub missed: Missed,
    /// Whether the kernel copied what it was to send from its pages (TCP).
    pub is_copied: bool,
}

/// What one receiving flow saw.
#[derive(Debug, Clone)]
pub struct Received {
    /// The flow's index.
    pub flow: u32,
    /// Payload bytes: of a TCP flow from its beginning on, of a UDP flow in the window, each datagram once.
    pub bytes: u64,
    /// First and last arrival that count.
    pub span: Option<(Instant, Instant)>,
    /// Data segments received when the task began and when it ended, where the kernel tells.
    pub data_segments: Option<(u64, u64)>,
    /// What only datagrams have.
    pub datagrams: Option<Datagrams>,
}

/// Counts of one receiving UDP flow in the measured window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Datagrams {
    /// Datagrams, each counted once.
    pub unique: u64,
    /// What the measuring header tells; absent when messages are too small to carry it.
    pub order: Option<Order>,
    /// Datagrams that can't be this test's.
    pub strange: u64,
    /// Whether the warm-up was cut by this host's clock, as no mark came through.
    pub is_cut_by_clock: bool,
    /// Datagrams that the kernel handed over at once, on average, where it joins them.
    pub per_receive: Option<f64>,
}

/// What sequence numbers and send times tell.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Order {
    /// Datagrams that came again.
    pub duplicates: u64,
    /// Datagrams that came after a later one.
    pub reordered: u64,
    /// Datagrams too far behind to tell whether they came again.
    pub too_late: u64,
    /// RFC 3550 jitter.
    pub jitter_seconds: Option<f64>,
}

/// What one client flow did in the measured window.
#[derive(Debug)]
pub struct Transacted {
    /// The window of this flow.
    pub span: Option<(Instant, Instant)>,
    /// One latency per transaction.
    pub latency: Latency,
    /// Transactions without an answer in time (UDP).
    pub lost: u64,
    /// Transactions that failed otherwise.
    pub errors: u64,
    /// Flags of the catalog's that this flow raised.
    pub flags: BTreeSet<&'static str>,
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
    /// Figures that only the kind itself reads.
    Own(Own),
    /// A server's: it measures nothing.
    Served,
}

/// Figures of one kind alone, on their way from its threads to its report.
#[derive(Debug)]
pub struct Own {
    /// The window of this thread.
    pub span: Option<(Instant, Instant)>,
    figures: Box<dyn Any + Send>,
}

impl Own {
    /// Takes a thread's figures.
    pub fn new(span: Option<(Instant, Instant)>, figures: impl Any + Send) -> Self {
        Self { span, figures: Box::new(figures) }
    }

    /// The figures, if they are of this type.
    pub fn figures<T: Any>(&self) -> Option<&T> {
        self.figures.downcast_ref()
    }
}

/// How a task ended.
#[derive(Debug)]
pub struct Finished {
    /// What it measured.
    pub outcome: Outcome,
    /// What went wrong, if anything.
    pub fault: Option<Reason>,
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

impl DrainCut {
    /// The bytes of all flows.
    pub fn bytes(&self) -> u64 {
        self.flows.values().map(|(bytes, _)| bytes).sum()
    }
}

/// Everything that one end measured.
#[derive(Debug, Default)]
pub struct Measured {
    /// What the tasks measured, in any order.
    pub outcomes: Vec<Outcome>,
    /// Where each flow's warm-up ended, by flow (only `Cut::Offset`).
    pub cuts: std::collections::BTreeMap<u32, FlowCut>,
    /// What had come by the window's end, where the drain was cut.
    pub drain_cut: Option<DrainCut>,
    /// What the peer sent on each flow in the window, once it told.
    pub peer_sent: Option<Vec<proto::SentCount>>,
    /// The clients' connections at the begin and at the end of the window, by flow (only of TCP flows).
    pub connections: std::collections::BTreeMap<u32, (net::TcpInfo, net::TcpInfo)>,
}

/// The figures of type `T` among the outcomes.
pub fn own_figures<T: Any>(measured: &Measured) -> impl Iterator<Item = &T> {
    measured.outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Own(own) => own.figures(),
        _ => None,
    })
}
