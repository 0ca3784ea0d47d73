use std::net::TcpListener;
use std::sync::Arc;
use std::sync::mpsc::channel;

use proto::{Catalog, Params, Role};

use super::{CloseMode, TcpCrr, client};
use crate::end::End;
use crate::flow::gate::{Gate, Pulse};
use crate::measurements::Outcome;
use crate::outcome::requests::Exchange;
use crate::settings::Settings;
use crate::task::Cue;
use crate::transport::ports::PortSteps;

fn params() -> Params {
    let given = Params::from([("duration_seconds", 0.2.into())]);
    Catalog::embedded().fill("tcp_crr", &given).expect("valid")
}

fn source(sink: &TcpListener) -> End {
    End {
        role: Role::Source,
        settings: Settings::read(&params()).expect("valid"),
        flows: Vec::new(),
        peer: Some(sink.local_addr().expect("bound")),
        are_small_numbered: true,
        local: net::LocalEnd::default(),
        lent: None,
        ports: None,
        round_trip: std::time::Duration::ZERO,
        wake: net::Wake::new().expect("a descriptor"),
        cookie: proto::Cookie::new([7; 32]),
        load: None,
    }
}

fn cue() -> Cue {
    let gate = Arc::new(Gate::default());
    gate.open();
    Cue {
        flow: 0,
        gate,
        pulse: Arc::new(Pulse::new(false)),
        counter: Arc::default(),
        receipts: Arc::default(),
        current: Arc::default(),
        signals: channel().0,
    }
}

#[test]
fn without_a_free_port_errors_are_counted_and_the_flag_says_why() {
    let sink = TcpListener::bind("127.0.0.1:0").expect("a port");
    let occupied = TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = occupied.local_addr().expect("bound").port();
    let crr = TcpCrr {
        exchange: Exchange::read(&params()).expect("valid"),
        close_mode: CloseMode::SinkFirst,
    };
    let finished = client::ask(&source(&sink), &cue(), crr, &PortSteps::new((port, port)));
    assert_eq!(finished.fault, None);
    let Outcome::Transacted(transacted) = finished.outcome else { panic!("a client transacts") };
    assert_eq!(transacted.latency.count(), 0);
    assert!(transacted.errors > 0);
    assert_eq!(transacted.flags.into_iter().collect::<Vec<_>>(), ["ports_exhausted"]);
}
