//! Where the warm-up of received TCP flows ended, from offsets told by the sender.
//!
//! All flows have one window: it begins when the first measured byte of any flow arrives, and from then on every byte
//! of every flow counts. Flows cut one by one would leave those out that a slow flow still has from its warm-up, while
//! the window already runs.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use proto::Role;
use proto::wire::PREAMBLE_LENGTH;
use stats::{Checkpoints, Crossing};

use super::threads::Threads;
use crate::kind::{End, FlowCut};

/// Readings begin this long before the warm-up's end: the two ends' clocks start apart by a network delay.
const LEAD: Duration = Duration::from_millis(200);
/// Readings are a millisecond apart, so the cut is at most that far off.
pub const SAMPLE_INTERVAL: Duration = Duration::from_millis(1);
/// The kernel is asked at most this long after the first measured byte was read: later its answer is another window's.
const LATEST_QUESTION: Duration = Duration::from_millis(20);
/// Readings of all flows together; what a busy receiver keeps for a mark that comes late.
const READINGS: usize = 1 << 18;

/// The search for the marked offsets.
pub struct Cuts {
    begin: Instant,
    next_sample: Instant,
    checkpoints: BTreeMap<u32, Checkpoints>,
    marks: BTreeMap<u32, u64>,
    found: BTreeMap<u32, FlowCut>,
    flows: usize,
}

impl Cuts {
    /// A search that begins shortly before the warm-up's end.
    pub fn new(begin: Instant, warmup: Duration, flows: u32) -> Self {
        Self {
            begin,
            next_sample: begin + warmup.saturating_sub(LEAD),
            checkpoints: BTreeMap::new(),
            marks: BTreeMap::new(),
            found: BTreeMap::new(),
            flows: flows as usize,
        }
    }

    /// When the next reading is due; none when the cut is found.
    pub fn next_due(&self) -> Option<Instant> {
        self.found.is_empty().then_some(self.next_sample)
    }

    /// Notes a flow's mark.
    pub fn mark(&mut self, flow: u32, offset_bytes: u64) {
        if (flow as usize) < self.flows {
            self.marks.insert(flow, offset_bytes);
        }
    }

    /// Reads all counters if it is time, and looks for an offset that has been passed.
    pub fn sample(&mut self, now: Instant, threads: &Threads, end: &End) {
        if now < self.next_sample || self.next_due().is_none() {
            return;
        }
        self.next_sample = now + SAMPLE_INTERVAL;
        self.read(now, threads, end);
    }

    /// Reads all counters once more, after the last byte.
    pub fn finish(&mut self, threads: &Threads, end: &End) {
        if self.next_due().is_some() {
            self.read(Instant::now(), threads, end);
        }
    }

    fn read(&mut self, now: Instant, threads: &Threads, end: &End) {
        let seconds = now.saturating_duration_since(self.begin).as_secs_f64();
        let capacity = READINGS / self.flows.max(1);
        for (flow, bytes) in threads.flow_bytes() {
            let checkpoints =
                self.checkpoints.entry(flow).or_insert_with(|| Checkpoints::new(capacity));
            checkpoints.record(seconds, bytes);
        }
        if let Some(crossing) = first_crossing(&self.checkpoints, &self.marks) {
            self.cut_all(crossing, end);
        }
    }

    /// Begins the window for all flows. What counts is when bytes reach this host: what waits for a slow reader at the
    /// begin has come before it, and at the end nothing waits any more. So the kernel is asked, unless it is too late or
    /// it doesn't tell.
    fn cut_all(&mut self, crossing: Crossing, end: &End) {
        let crossed_at = self.begin + Duration::from_secs_f64(crossing.at_seconds);
        let asked_at = Instant::now();
        let is_prompt = asked_at.saturating_duration_since(crossed_at) < LATEST_QUESTION;
        let arrived: BTreeMap<u32, u64> = self
            .checkpoints
            .keys()
            .filter_map(|&flow| Some((flow, arrived_bytes(end, flow).filter(|_| is_prompt)?)))
            .collect();
        let asking = asked_at.elapsed();
        let is_told = arrived.len() == self.checkpoints.len();
        let read_uncertainty =
            Duration::try_from_secs_f64(crossing.uncertainty_seconds).unwrap_or(Duration::MAX);
        for (&flow, checkpoints) in &self.checkpoints {
            let read = checkpoints.bytes_at(crossing.at_seconds).unwrap_or(0);
            let cut = FlowCut {
                offset_bytes: 0,
                bytes_before: arrived.get(&flow).filter(|_| is_told).copied().unwrap_or(read),
                at: if is_told { asked_at + asking / 2 } else { crossed_at },
                uncertainty: if is_told { asking } else { read_uncertainty },
                data_segments: net::tcp_info(end.flows[flow as usize].as_fd())
                    .and_then(|info| info.data_segments_received),
            };
            self.found.insert(flow, cut);
        }
    }

    /// The cuts that were found, each with its flow's mark.
    pub fn into_found(mut self) -> BTreeMap<u32, FlowCut> {
        for (flow, offset_bytes) in self.marks {
            if let Some(cut) = self.found.get_mut(&flow) {
                cut.offset_bytes = offset_bytes;
            }
        }
        self.found
    }
}

/// Measured bytes that the kernel has received, read or not; the preamble goes from the source to the sink.
fn arrived_bytes(end: &End, flow: u32) -> Option<u64> {
    let received = net::wire_counts(end.flows[flow as usize].as_fd())?.bytes_received?;
    let preamble = if end.role == Role::Sink { PREAMBLE_LENGTH as u64 } else { 0 };
    Some(received.saturating_sub(preamble))
}

/// When the first measured byte of any flow arrived.
fn first_crossing(
    checkpoints: &BTreeMap<u32, Checkpoints>,
    marks: &BTreeMap<u32, u64>,
) -> Option<Crossing> {
    marks
        .iter()
        .filter_map(|(flow, offset_bytes)| checkpoints.get(flow)?.crossing(*offset_bytes))
        .min_by(|one, other| one.at_seconds.total_cmp(&other.at_seconds))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use stats::Checkpoints;

    use super::first_crossing;

    fn readings(pairs: &[(f64, u64)]) -> Checkpoints {
        let mut checkpoints = Checkpoints::new(8);
        for &(at_seconds, bytes) in pairs {
            checkpoints.record(at_seconds, bytes);
        }
        checkpoints
    }

    #[test]
    fn the_window_begins_with_the_first_measured_byte_of_any_flow() {
        let busy = readings(&[(1.0, 1_000), (2.0, 2_000), (3.0, 3_000)]);
        let stalled_before_its_mark = readings(&[(1.0, 500), (2.0, 500), (3.0, 500)]);
        let checkpoints = BTreeMap::from([(0, busy), (1, stalled_before_its_mark)]);
        let marks = BTreeMap::from([(0, 1_500), (1, 500)]);
        let crossing = first_crossing(&checkpoints, &marks).expect("flow 0 has crossed");
        assert!((crossing.at_seconds - 1.5).abs() < 1e-9);
    }

    #[test]
    fn without_a_mark_nothing_is_cut() {
        let checkpoints = BTreeMap::from([(0, readings(&[(1.0, 10), (2.0, 20)]))]);
        assert_eq!(first_crossing(&checkpoints, &BTreeMap::new()), None);
    }
}
