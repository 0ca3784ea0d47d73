//! Parsers of what comes from the network, as they are, for the crate `fuzz`; each panics when what must hold doesn't.
#![allow(clippy::missing_panics_doc, reason = "that is what they are for")]

use stats::{Jitter, SequenceWindow};

use crate::udp_stream::{HEADER_BYTES, STRANGE_SEQUENCE, u64_at};

/// Takes 32-byte headers of measured datagrams, as a receiving flow does; whether any was one.
#[must_use]
pub fn measure_datagrams(bytes: &[u8]) -> bool {
    let mut sequences = SequenceWindow::new(1 << 12);
    let mut jitter = Jitter::default();
    let mut arrived = 0;
    for header in bytes.chunks_exact(HEADER_BYTES) {
        let sequence = u64_at(header, 0);
        if sequence <= STRANGE_SEQUENCE {
            sequences.record(sequence);
            arrived += 1_000;
            jitter.record(sequence, u64_at(header, 8), arrived);
        }
    }
    let counted = sequences.unique + sequences.duplicates + sequences.too_late;
    assert!(counted <= bytes.len() as u64, "more datagrams were counted than came");
    assert!(jitter.seconds().is_none_or(|seconds| seconds.is_finite() && seconds >= 0.0));
    counted > 0
}
