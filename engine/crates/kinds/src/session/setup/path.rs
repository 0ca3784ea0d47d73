//! What a source found wrong with its path before the test, as flags and words of the result.

use proto::{Reason, RunResult, reason};

use crate::path::probe::Sizes;

/// What is wrong with a path; nothing by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Path {
    /// The largest UDP payload that arrives at the sink, where larger ones vanish.
    largest_payload_bytes: Option<u32>,
    /// The largest UDP payload that arrives at the source, where larger ones vanish.
    largest_reverse_payload_bytes: Option<u32>,
    /// UDP hellos that were sent, where none was answered.
    unanswered_hellos: u32,
}

impl Path {
    /// What is wrong with a path of these sizes.
    pub fn found(sizes: &Sizes, is_ipv4: bool) -> Self {
        Self {
            largest_payload_bytes: sizes.forward_hole(is_ipv4),
            largest_reverse_payload_bytes: sizes.backward_hole(is_ipv4),
            unanswered_hellos: sizes.unanswered_hellos,
        }
    }

    /// It in words; none where nothing is wrong.
    pub fn fault(&self) -> Option<Reason> {
        let unanswered = (self.unanswered_hellos > 0)
            .then(|| reason!("fault_hellos_unanswered", count = self.unanswered_hellos));
        let faults = [
            self.largest_payload_bytes
                .map(|bytes| reason!("fault_packets_vanish", bytes = grouped(bytes))),
            self.largest_reverse_payload_bytes
                .map(|bytes| reason!("fault_packets_from_sink_vanish", bytes = grouped(bytes))),
            unanswered,
        ];
        Some(Reason::joined(faults.into_iter().flatten(), "; ")).filter(|fault| !fault.is_empty())
    }

    /// Notes it in a result.
    pub fn note(&self, result: &mut RunResult) {
        result.path_fault = self.fault().map(|fault| fault.to_string());
        result.largest_payload_bytes = self.largest_payload_bytes;
        result.largest_reverse_payload_bytes = self.largest_reverse_payload_bytes;
        result.unanswered_hellos = Some(self.unanswered_hellos).filter(|&count| count > 0);
        let flags = [
            ("black_hole", self.largest_payload_bytes.is_some()),
            ("reverse_black_hole", self.largest_reverse_payload_bytes.is_some()),
            ("udp_blocked", self.unanswered_hellos > 0),
        ];
        let held = flags.into_iter().filter(|(_, holds)| *holds);
        result.flags.extend(held.map(|(flag, _)| flag.to_owned()));
        result.flags.sort();
    }
}

/// Digits in groups of three, as people read them; no datagram has a million bytes.
fn grouped(bytes: u32) -> String {
    match bytes {
        0..1_000 => bytes.to_string(),
        _ => format!("{},{:03}", bytes / 1_000, bytes % 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_and_silence_are_told_apart() {
        assert_eq!(Path::default().fault(), None);
        let both = Path {
            largest_payload_bytes: Some(1_472),
            largest_reverse_payload_bytes: Some(952),
            unanswered_hellos: 0,
        };
        let words = "packets over 1,472 bytes don't arrive, ICMP is filtered; \
            packets over 952 bytes from the sink don't arrive, ICMP is filtered";
        assert_eq!(both.fault().as_deref(), Some(words));
        let (_, data) = both.fault().expect("two faults").into_parts();
        assert_eq!(data.expect("both have a code").code, "joined");
        let silent = Path { unanswered_hellos: 4, ..Path::default() };
        assert_eq!(silent.fault().as_deref(), Some("none of 4 UDP hellos was answered"));
    }
}
