//! Parsers of what comes from the network, as they are, for the crate `fuzz`; each panics when what must hold doesn't.
#![allow(clippy::missing_panics_doc, reason = "that is what they are for")]

use stats::{Jitter, SequenceWindow};

use crate::http_load::ResponseReader;
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

/// Longer than most of a small response, and not a divisor of anything.
const PIECE_BYTES: usize = 97;

/// Takes a server's bytes as a load generator does, whole and in pieces; whether a response was among them.
#[must_use]
pub fn http_responses(bytes: &[u8]) -> bool {
    let whole = statuses([bytes].into_iter());
    let pieces = statuses(bytes.chunks(PIECE_BYTES));
    assert_eq!(whole, pieces, "the cuts between pieces change what is read");
    !whole.0.is_empty()
}

/// The status of each response in the order of their ends, and whether all bytes were well-formed.
fn statuses<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<u16>, bool) {
    let (mut reader, mut found) = (ResponseReader::default(), Vec::new());
    for mut rest in pieces {
        while !rest.is_empty() {
            match reader.push(rest) {
                Ok(Some((response, taken))) => {
                    assert!(taken <= rest.len(), "more was taken than came");
                    found.push(response.status);
                    rest = &rest[taken..];
                }
                Ok(None) => break,
                Err(_) => return (found, false),
            }
        }
    }
    let ended = reader.end();
    found.extend(ended.ok().flatten().map(|response| response.status));
    (found, ended.is_ok())
}
