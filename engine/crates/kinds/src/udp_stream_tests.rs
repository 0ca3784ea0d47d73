use std::sync::Arc;
use std::time::Instant;

use proto::{Catalog, Params, Role};

use super::Receiver;
use crate::gate::{Phase, Pulse};
use crate::kind::{Cue, End};
use crate::settings::Settings;

fn end(given: &Params) -> End {
    let params = Catalog::embedded().fill("udp_stream", given).expect("valid");
    End {
        role: Role::Sink,
        settings: Settings::read(&params).expect("valid"),
        params,
        cookie: proto::Cookie::new([7; 32]),
        load: None,
        flows: Vec::new(),
        peer: None,
        local: net::LocalEnd::default(),
        lent: None,
        ports: None,
        wake: net::Wake::new().expect("a descriptor"),
    }
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
    let (end, cue) = (end(&given), cue());
    let mut receiver = Receiver::new(&end);
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
        let (end, cue) =
            (end(&Params::from([("message_size_bytes", message_bytes.into())])), cue());
        let mut receiver = Receiver::new(&end);
        receiver.take(&proto::wire::Preamble::encode_hello(3, &end.cookie), &cue, Instant::now);
        receiver.take(&[0xff; 64], &cue, Instant::now);
        let datagrams = receiver.finish(0).datagrams.expect("counts");
        assert_eq!((datagrams.strange, datagrams.unique), (1, 0), "{message_bytes} B");
    }
}
