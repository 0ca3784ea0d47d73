use proto::{Evidence, HostWindows, InterfaceWindow, LimitedBy, Window};

use super::*;
use crate::run::ledger::tests::result;

fn streamed(rates: &[u64]) -> RunResult {
    let mut result = result(&[("throughput_bps", 16e9)]);
    result.params = catalog().fill("tcp_stream", &proto::Params::default()).unwrap();
    result.params.set("message_size_bytes", 64);
    result.window = Some(Window {
        started_at: std::time::SystemTime::UNIX_EPOCH.into(),
        elapsed_seconds: 2.0,
        bytes: 4_000_000_000,
        reverse_bytes: None,
        clock: "sink".to_owned(),
    });
    let flow = |(index, bytes): (usize, &u64)| Flow {
        index: u32::try_from(index).unwrap(),
        bytes: *bytes,
        ..Flow::default()
    };
    result.flows = rates.iter().enumerate().map(flow).collect();
    result
}

fn catalog() -> &'static Catalog {
    Catalog::embedded()
}

fn text(result: &RunResult) -> String {
    of(result, catalog(), "peer:7410", 3, Style::plain())
}

#[test]
fn the_heading_the_changed_parameters_and_each_metric_are_told() {
    assert_eq!(
        text(&streamed(&[4_000_000_000])),
        "TCP stream, 2.000 s measured with peer:7410\n  message_size_bytes=64\n  \
         Throughput, received                     16.000 Gbit/s"
    );
}

#[test]
fn few_flows_are_listed_and_many_summed_up() {
    let few = text(&streamed(&[1_000_000_000, 3_000_000_000]));
    assert!(few.contains("  0       4.000 Gbit/s   25.00 %             -     -\n"), "{few}");
    assert!(few.contains("  1      12.000 Gbit/s   75.00 %"), "{few}");
    let many = text(&streamed(&[1_000_000_000, 1_000_000_000, 1_000_000_000, 3_000_000_000]));
    let line =
        "  4 flows: 4.000 Gbit/s to 12.000 Gbit/s each, median 4.000 Gbit/s, fairness 0.750 (Jain)";
    assert!(many.ends_with(line), "{many}");
}

#[test]
fn limits_come_with_their_evidence_and_flags_in_words() {
    let mut result = streamed(&[]);
    result.flags = vec!["same_host".to_owned(), "unheard_of".to_owned()];
    result.limits = vec![Limit {
        direction: "forward".to_owned(),
        by: LimitedBy::ReceiverCpu,
        summary: "the receiving thread was busy all the time".to_owned(),
        summary_data: None,
        evidence: vec![Evidence {
            what: "CPU of the receiving thread".to_owned(),
            value: 0.997,
            unit: "ratio".to_owned(),
            threshold: Some(0.9),
        }],
    }];
    let text = text(&result);
    let limit = "  What limited it (forward): the receiving thread was busy all the time\n    \
                 CPU of the receiving thread            99.70 %   (speaks from 90.00 % on)\n";
    assert!(text.contains(limit), "{text}");
    assert!(
        text.contains("\n  same_host: both ends on one host: no wire was measured\n  unheard_of"),
        "{text}"
    );
}

#[test]
fn hosts_tell_their_cores_and_the_interface_of_the_test() {
    let core = |busy| CoreShares { busy, softirq: 0.1, ..CoreShares::default() };
    let interface = |name: &str, carries_test| InterfaceWindow {
        name: name.to_owned(),
        carries_test,
        rx_packets: 2_000,
        rx_bytes: 4_000_000,
        ..InterfaceWindow::default()
    };
    let window = HostWindow {
        seconds: 2.0,
        cores: vec![core(0.25), core(0.75)],
        process_cpu_seconds: Some(1.5),
        interfaces: vec![interface("eth0", true), interface("eth1", false)],
        ..HostWindow::default()
    };
    let mut result = streamed(&[]);
    result.hosts = Some(HostWindows { source: None, sink: Some(window) });
    let text = text(&result);
    let lines = "  sink CPU     50.00 %, busiest core 1 75.00 %, softirq 10.00 %, steal 0.00 %, process 1.500 s\n  \
                 sink NIC     eth0: rx 1.000 k pkt/s, 2.000 MB/s; tx 0 pkt/s, 0 B/s";
    assert!(text.ends_with(lines), "{text}");
}

#[test]
fn the_median_of_an_even_count_lies_between_the_two_in_the_middle() {
    assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
    assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
    assert!(median(&[]).is_nan());
}
