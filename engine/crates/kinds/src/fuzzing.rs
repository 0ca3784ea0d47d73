//! Parsers of what comes from the network, as they are, for the crate `fuzz`; each panics when what must hold doesn't.
#![allow(clippy::missing_panics_doc, reason = "that is what they are for")]

use stats::{Jitter, SequenceWindow};

use crate::kinds::{Header, ResponseReader};

/// A length of each header that datagrams can have.
const LENGTHS: [usize; 3] = [4, 8, 32];

/// Takes headers of measured datagrams, as a receiving flow does; whether any was one.
#[must_use]
pub fn measure_datagrams(bytes: &[u8]) -> bool {
    LENGTHS.map(|length| measure_headers(bytes, length)).contains(&true)
}

fn measure_headers(bytes: &[u8], length: usize) -> bool {
    let mut sequences = SequenceWindow::new(1 << 12);
    let mut jitter = Jitter::default();
    let (mut arrived, mut latest) = (0, 0);
    for datagram in bytes.chunks_exact(length) {
        let Some(said) = Header::of(length, true).read(datagram, latest) else { continue };
        latest = latest.max(said.sequence);
        sequences.record(said.sequence);
        arrived += 1_000;
        if let Some(sent) = said.sent_nanoseconds {
            jitter.record(said.sequence, sent, arrived);
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
