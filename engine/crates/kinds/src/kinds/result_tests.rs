//! What every kind's result says: of a test without an arrival, and of the interfaces that carried it.

use std::sync::Arc;

use proto::{Catalog, EndReport, Flow, HostWindow, InterfaceWindow, Metrics, Params, RunResult};

use super::find;
use crate::kind::Kind;
use crate::limits::arrival::{failure, flag};
use crate::session::compose::{self, Halves};
use crate::settings::Settings;

fn read(kind: &str, given: &Params) -> (Params, Arc<dyn Kind>) {
    let params = Catalog::embedded().fill(kind, given).expect("in bounds");
    let settings = Settings::read(&params).expect("valid");
    let kind = find(kind).expect("a kind")(&params, &settings).expect("valid");
    (params, kind)
}

fn kind_of(result: &RunResult) -> Arc<dyn Kind> {
    read(&result.kind, &Params::default()).1
}

fn flags(result: &RunResult) -> Option<String> {
    let kind = kind_of(result);
    flag(result, kind.silence(result).is_some(), kind.has_silent_flow(result))
}

fn result(kind: &str, metrics: &[(&str, f64)], flows: &[u64]) -> RunResult {
    let metrics: Metrics = metrics.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
    let flow = |&bytes: &u64| Flow { bytes, ..Flow::default() };
    RunResult {
        schema: RunResult::SCHEMA,
        kind: kind.to_owned(),
        params: Params::default(),
        metrics,
        intervals: Vec::new(),
        window: None,
        histogram: None,
        loaded_histogram: None,
        load: None,
        flows: flows.iter().map(flow).collect(),
        source: None,
        sink: None,
        flags: Vec::new(),
        engine: proto::EngineVersions::default(),
        cpu_per_core: None,
        limits: Vec::new(),
        hosts: None,
        host_test: None,
        outages: Vec::new(),
        addresses: None,
        reply_addresses: Vec::new(),
        path_fault: None,
        largest_payload_bytes: None,
        largest_reverse_payload_bytes: None,
        unanswered_hellos: None,
    }
}

fn said(kind: &str, metrics: &[(&str, f64)]) -> Option<String> {
    let result = result(kind, metrics, &[]);
    let reason = failure(kind_of(&result).silence(&result)?, &result);
    Some(reason.split(';').next().unwrap_or_default().to_owned())
}

#[test]
fn every_kind_without_an_arrival_is_failed_in_its_own_words() {
    let udp = [("sent_packets", 8_532.0), ("received_packets", 0.0)];
    assert_eq!(
        said("udp_stream", &udp).as_deref(),
        Some("nothing arrived from source to sink: of 8,532 datagrams sent none was received")
    );
    assert_eq!(
        said("tcp_stream", &[]).as_deref(),
        Some("nothing arrived from source to sink: no byte of the stream was received")
    );
    let http = [("requests_per_second", 0.0), ("errors", 12.0)];
    assert_eq!(
        said("http_load", &http).as_deref(),
        Some("nothing arrived: no response was received, and 12 errors were counted")
    );
    let broken_off = [("requests_per_second", 0.0), ("errors", 12.0), ("read_errors", 12.0)];
    assert_eq!(said("http_load", &broken_off), None);
    for kind in ["tcp_rr", "tcp_crr"] {
        assert!(said(kind, &[("transactions_per_second", 0.0)]).is_some(), "{kind}");
        assert_eq!(said(kind, &[("transactions_per_second", 0.2)]), None);
    }
}

#[test]
fn one_arrival_is_enough_and_what_was_missing_is_flagged() {
    let udp = [("sent_packets", 9.0), ("received_packets", 1.0)];
    assert_eq!(said("udp_stream", &udp), None);
    let flows = result("udp_stream", &udp, &[7, 0]);
    assert_eq!(flags(&flows).as_deref(), Some("flow_without_data"));
    let probes = [
        ("sent_probes", 5.0),
        ("lost_probes", 0.0),
        ("loss_ratio", 0.0),
        ("loaded_sent_probes", 5.0),
        ("loaded_lost_probes", 5.0),
        ("loaded_loss_ratio", 1.0),
    ];
    assert_eq!(flags(&result("ping", &probes, &[])).as_deref(), Some("phase_without_reply"));
    let whole = [("sent_probes", 5.0), ("lost_probes", 4.0), ("loss_ratio", 0.8)];
    assert_eq!(flags(&result("ping", &whole, &[])), None);
}

/// The interfaces of the sink that are told to have carried a thousand requests, of which `eth0` had the packets.
fn carriers(kind: &str, given: &Params) -> Vec<String> {
    let (params, kind_of_it) = read(kind, given);
    let interface = |name: &str, packets, carries_test| InterfaceWindow {
        name: name.to_owned(),
        carries_test,
        rx_packets: packets,
        tx_packets: packets,
        ..InterfaceWindow::default()
    };
    let interfaces = vec![interface("dummy0", 3, true), interface("eth0", 1_010, false)];
    let host = HostWindow { seconds: 1.0, interfaces, ..HostWindow::default() };
    let metrics = Metrics::from([
        ("transactions_per_second".to_owned(), 1_000.0),
        ("requests_per_second".to_owned(), 1_000.0),
    ]);
    let halves = Halves {
        source: Some(EndReport { metrics, ..EndReport::default() }),
        sink: Some(EndReport { host: Some(host), ..EndReport::default() }),
        ..Halves::default()
    };
    let result = compose::result((kind, kind_of_it.as_ref()), &params, halves);
    let told = result.hosts.and_then(|hosts| hosts.sink).expect("a sink");
    let carriers = told.interfaces.into_iter().filter(|interface| interface.carries_test);
    carriers.map(|interface| interface.name).collect()
}

#[test]
fn a_sink_is_seen_through_unless_packets_are_shared_or_go_to_another_server() {
    assert_eq!(carriers("udp_rr", &Params::default()), ["eth0"]);
    assert_eq!(carriers("http_load", &Params::default()), ["eth0"]);
    assert_eq!(carriers("tcp_rr", &Params::default()), ["dummy0"]);
    let elsewhere = Params::from([("url", "http://192.0.2.1/".into())]);
    assert_eq!(carriers("http_load", &elsewhere), ["dummy0"]);
}
