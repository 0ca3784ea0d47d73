//! Signs of life on a test's own flows: where data comes, the peer is there, though its words wait behind that data.

use std::os::fd::AsFd;
use std::sync::Arc;

use crate::end::End;
use crate::flow::counter::Counter;

/// What has come on all flows, compared with what had come before.
pub struct Traffic {
    end: Option<Arc<End>>,
    counters: Vec<Arc<Counter>>,
    last: u64,
}

impl Traffic {
    /// The traffic of this end's TCP flows, and what its threads count.
    pub fn new(end: Option<Arc<End>>, counters: Vec<Arc<Counter>>) -> Self {
        Self { end, counters, last: 0 }
    }

    /// Whether anything has come, or was acknowledged, since the last call.
    pub fn has_come(&mut self) -> bool {
        let counted = self.counters.iter().map(|counter| counter.read());
        let counted: u64 = counted.map(|count| count.bytes + count.units).sum();
        let flows = self.end.iter().flat_map(|end| end.flows.iter());
        let infos = flows.filter_map(|flow| net::tcp_info(flow.as_fd()));
        let passed: u64 = infos
            .map(|info| info.acknowledged_bytes.unwrap_or(0) + info.received_bytes.unwrap_or(0))
            .sum();
        let before = std::mem::replace(&mut self.last, counted + passed);
        self.last != before
    }
}
