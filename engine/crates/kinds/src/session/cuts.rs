//! Where the warm-up of each receiving TCP flow ended, from offsets told by the sender.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use stats::Checkpoints;

use super::threads::Threads;
use crate::kind::{End, FlowCut};

/// Readings begin this long before the warm-up's end: the two ends' clocks start apart by a network delay.
const LEAD: Duration = Duration::from_millis(200);
/// Readings are a millisecond apart, so the cut is at most that far off.
pub const SAMPLE_INTERVAL: Duration = Duration::from_millis(1);
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

    /// When the next reading is due; none when all cuts are found.
    pub fn next_due(&self) -> Option<Instant> {
        (self.found.len() < self.flows).then_some(self.next_sample)
    }

    /// Notes a flow's mark.
    pub fn mark(&mut self, flow: u32, offset_bytes: u64) {
        self.marks.insert(flow, offset_bytes);
    }

    /// Reads all counters if it is time, and looks for offsets that have been passed.
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
            if let Some(offset_bytes) =
                self.marks.get(&flow).filter(|_| !self.found.contains_key(&flow))
            {
                let Some(crossing) = checkpoints.crossing(*offset_bytes) else {
                    continue;
                };
                let cut = FlowCut {
                    offset_bytes: *offset_bytes,
                    at: self.begin + Duration::from_secs_f64(crossing.at_seconds),
                    uncertainty: Duration::try_from_secs_f64(crossing.uncertainty_seconds)
                        .unwrap_or(Duration::MAX),
                    data_segments: net::tcp_info(end.flows[flow as usize].as_fd())
                        .and_then(|info| info.data_segments_received),
                };
                self.found.insert(flow, cut);
            }
        }
    }

    /// The cuts that were found.
    pub fn into_found(self) -> BTreeMap<u32, FlowCut> {
        self.found
    }
}
