use std::sync::Arc;
use std::time::Instant;

use proto::{Catalog, EndReport, Params, Role, SentCount};

use super::{Receiver, SendMode, UdpStream};
use crate::end::End;
use crate::flow::gate::{Phase, Pulse};
use crate::kind::Kind;
use crate::measurements::{Measured, Outcome};
use crate::outcome::streams::Stream;
use crate::settings::Settings;
use crate::task::Cue;

/// The kind with these parameters, and a sink of it.
fn sink(given: &Params) -> (UdpStream, End) {
    let params = Catalog::embedded().fill("udp_stream", given).expect("valid");
    let settings = Settings::read(&params).expect("valid");
    let kind = UdpStream {
        stream: Stream::read(&params, &settings).expect("valid"),
        send_mode: SendMode::read(&params).expect("valid"),
    };
    let end = End {
        role: Role::Sink,
        settings,
        cookie: proto::Cookie::new([7; 32]),
        load: None,
        flows: Vec::new(),
        peer: None,
        local: net::LocalEnd::default(),
        are_small_numbered: true,
        lent: None,
        ports: None,
        round_trip: std::time::Duration::ZERO,
        wake: net::Wake::new().expect("a descriptor"),
    };
    (kind, end)
}

fn cue() -> Cue {
    Cue {
        flow: 0,
        gate: Arc::default(),
        pulse: Arc::new(Pulse::new(true)),
        counter: Arc::default(),
        receipts: Arc::default(),
        current: Arc::default(),
        signals: std::sync::mpsc::channel().0,
    }
}

/// A receiver of one-byte messages after a warm-up; each number is so many of them, 0 a marker and `None` the end of
/// the warm-up by this host's clock. What it counts, and whether it was cut by the clock.
fn counted(arrivals: &[Option<u32>]) -> (u64, bool) {
    let given = Params::from([("message_size_bytes", 1.into()), ("warmup_seconds", 1.into())]);
    let ((kind, end), cue) = (sink(&given), cue());
    let mut receiver = Receiver::new(&end, kind);
    for arrival in arrivals {
        match arrival {
            None => cue.pulse.set(Phase::Measured),
            Some(0) => receiver.take(&[0; 2], &cue, Instant::now),
            Some(count) => (0..*count).for_each(|_| receiver.take(&[0], &cue, Instant::now)),
        }
    }
    let datagrams = receiver.finish(0).datagrams.expect("counts");
    (datagrams.unique, datagrams.is_cut_by_clock)
}

#[test]
fn a_marker_begins_the_window_whatever_the_clock_says() {
    assert_eq!(counted(&[Some(5), Some(0), Some(3), None, Some(4)]), (7, false));
    assert_eq!(counted(&[Some(5), None, Some(2), Some(0), Some(0), Some(4), Some(0)]), (4, false));
}

#[test]
fn without_any_marker_the_clock_begins_the_window_and_that_is_said() {
    assert_eq!(counted(&[Some(5), None, Some(8)]), (8, true));
    assert_eq!(counted(&[Some(5)]), (0, false));
}

#[test]
fn a_late_hello_is_not_strange_and_what_is_no_ones_is() {
    for message_bytes in [1_u32, 64, 1400] {
        let given = Params::from([("message_size_bytes", message_bytes.into())]);
        let ((kind, end), cue) = (sink(&given), cue());
        let mut receiver = Receiver::new(&end, kind);
        receiver.take(&proto::wire::Preamble::encode_hello(3, &end.cookie), &cue, Instant::now);
        receiver.take(&[0xff; 64], &cue, Instant::now);
        let datagrams = receiver.finish(0).datagrams.expect("counts");
        assert_eq!((datagrams.strange, datagrams.unique), (1, 0), "{message_bytes} B");
    }
}

/// The report of a sink of 10,000 datagrams of a length, each of which fares as `copies` says of its number.
fn report(message_bytes: usize, copies: impl Fn(u64) -> usize) -> EndReport {
    let given = Params::from([("message_size_bytes", message_bytes.into())]);
    let ((kind, end), cue) = (sink(&given), cue());
    let mut receiver = Receiver::new(&end, kind);
    let mut datagram = vec![0; message_bytes];
    for sequence in 0..10_000 {
        kind.header(&end).write(&mut datagram, sequence, true, 0);
        (0..copies(sequence)).for_each(|_| receiver.take(&datagram, &cue, Instant::now));
    }
    let received = Outcome::Received(receiver.finish(0));
    let sent = SentCount { flow: 0, bytes: 10_000 * message_bytes as u64, packets: 10_000 };
    let measured =
        Measured { outcomes: vec![received], peer_sent: Some(vec![sent]), ..Measured::default() };
    kind.report(&end, &measured)
}

/// Three of ten come twice.
fn thirty_percent_doubled(sequence: u64) -> usize {
    if sequence % 10 < 3 { 2 } else { 1 }
}

/// One of five is lost, and a quarter of the others come twice: as many arrive as were sent.
fn lost_and_doubled(sequence: u64) -> usize {
    match sequence % 5 {
        0 => 0,
        1 => 2,
        _ => 1,
    }
}

#[test]
fn from_four_bytes_on_a_duplicate_hides_no_loss() {
    for message_bytes in [4, 7, 8, 16, 31, 32, 1_400] {
        let doubled = report(message_bytes, thirty_percent_doubled);
        let counts = |report: &EndReport| {
            ["received_packets", "lost_packets", "duplicate_packets"]
                .map(|key| report.metrics[key].to_bits())
        };
        assert_eq!(
            counts(&doubled),
            [10_000.0, 0.0, 3_000.0].map(f64::to_bits),
            "{message_bytes} B"
        );
        let both = report(message_bytes, lost_and_doubled);
        assert_eq!(
            counts(&both),
            [8_000.0, 2_000.0, 2_000.0].map(f64::to_bits),
            "{message_bytes} B"
        );
        assert_eq!(both.metrics["loss_ratio"].to_bits(), 0.2_f64.to_bits());
        assert_eq!(both.flags, Vec::<String>::new());
    }
}

#[test]
fn where_more_blind_datagrams_came_than_were_sent_the_loss_is_unknown() {
    for message_bytes in 1..=3 {
        let report = report(message_bytes, thirty_percent_doubled);
        assert_eq!(report.metrics["received_packets"].to_bits(), 13_000.0_f64.to_bits());
        for key in ["lost_packets", "loss_ratio", "duplicate_packets"] {
            assert!(!report.metrics.contains_key(key), "{key} of {message_bytes} B");
        }
        assert_eq!(report.flags, ["loss_unknown", "duplicates_unseen"]);
    }
}

#[test]
fn a_loss_that_duplicates_may_hide_says_so() {
    let report = report(1, lost_and_doubled);
    assert_eq!(report.metrics["lost_packets"].to_bits(), 0.0_f64.to_bits());
    assert_eq!(report.flags, ["duplicates_unseen"]);
}

#[test]
fn every_send_mode_of_the_catalog_is_known_and_no_other() {
    let mode = |name: &str| SendMode::read(&Params::from([("send_mode", name.into())]));
    assert_eq!(mode("send"), Ok(SendMode::Send));
    assert_eq!(mode("sendmmsg"), Ok(SendMode::Many));
    assert_eq!(mode("segmentation"), Ok(SendMode::Segmentation));
    let refusal = mode("pigeon").expect_err("no such mode");
    assert_eq!(&*refusal, "send_mode is \"pigeon\", which is none of its values");
}
