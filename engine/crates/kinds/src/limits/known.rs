//! The figures of one direction, gathered from both halves and the metrics; what wasn't measured is absent.

use proto::{
    CoreShares, EndReport, HostWindow, InterfaceWindow, Metrics, Role, ThreadPart, ThreadUse,
};

use super::Run;

/// One direction's way through the two ends.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// Where its data comes from.
    pub sender: Role,
    /// What its metrics begin with.
    pub prefix: &'static str,
}

/// One end's part in a direction.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EndUse {
    /// Mean share of time in which its threads ran or waited for a CPU.
    pub awake: Option<f64>,
    /// Mean share of time in which they ran.
    pub running: Option<f64>,
    /// How many they are.
    pub threads: u32,
    /// How many cores the host has.
    pub cores: u32,
    /// Busy share of all the host's cores.
    pub host_busy: Option<f64>,
    /// The greatest share of a core's time in hard and soft interrupts.
    pub interrupted: Option<f64>,
    /// CPU time of the process over the window, in CPUs.
    pub process_cpus: Option<f64>,
    /// What the control group lets it have, in CPUs: by its quota of CPU time, and by the CPUs of its cpuset.
    pub quota_cpus: Option<f64>,
    pub cpuset_cpus: Option<f64>,
    /// Share of the link's rate that all traffic on the interface took, in this direction.
    pub link_use: Option<f64>,
}

/// One direction's figures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Known {
    pub sender: EndUse,
    pub receiver: EndUse,
    /// Payload received, in bits per second.
    pub throughput_bps: Option<f64>,
    /// The rate asked for, all flows together.
    pub asked_bps: Option<f64>,
    /// What the link can carry of payload.
    pub ceiling_bps: Option<f64>,
    /// Shares of the sending flows' time.
    pub busy: Option<f64>,
    pub receiver_limited: Option<f64>,
    pub send_buffer_limited: Option<f64>,
    /// Segments sent again per segment sent.
    pub retransmit_ratio: Option<f64>,
    pub rtt_seconds: Option<f64>,
    pub minimum_rtt_seconds: Option<f64>,
    pub congestion_window_bytes: Option<f64>,
    /// Mean send buffer of a flow, as granted.
    pub send_buffer_bytes: Option<f64>,
    /// Flows at once.
    pub flows: f64,
    /// Datagrams lost per datagram sent.
    pub loss_ratio: Option<f64>,
    /// Datagrams that found the receiving sockets full, per datagram lost.
    pub overflow_ratio: Option<f64>,
    /// Transactions or requests per second.
    pub transaction_rate: Option<f64>,
    pub latency_mean_seconds: Option<f64>,
    /// Transactions in flight at once.
    pub in_flight: f64,
    /// The request rate asked for.
    pub asked_rate: Option<f64>,
    /// Time from one probe to the next, as asked for.
    pub probe_interval_seconds: Option<f64>,
    /// How many packets, probes or requests were sent, where nothing of them came through.
    pub unanswered: Option<f64>,
}

impl Known {
    /// Gathers what is known of one direction.
    pub fn of(run: &Run<'_>, route: Route) -> Self {
        let metric = |key: &str| run.metrics.get(&format!("{}{key}", route.prefix)).copied();
        let asked = |key: &str| run.params.number(key).ok().filter(|&value| value > 0.0);
        let source = (run.source, "source_cpu_ratio");
        let sink = (run.sink, "sink_cpu_ratio");
        let ((sender, sends), (receiver, receives)) = match route.sender {
            Role::Source => (source, sink),
            Role::Sink => (sink, source),
        };
        let flows = asked("flows").unwrap_or(1.0);
        let burst = asked("burst").unwrap_or(0.0);
        Self {
            sender: end_use(sender, run.metrics.get(sends).copied(), true),
            receiver: end_use(receiver, run.metrics.get(receives).copied(), false),
            throughput_bps: metric("throughput_bps"),
            asked_bps: asked("rate_bps").or_else(|| Some(asked("flow_rate_bps")? * flows)),
            ceiling_bps: metric("payload_ceiling_bps"),
            busy: metric("busy_ratio"),
            receiver_limited: metric("receiver_limited_ratio"),
            send_buffer_limited: metric("send_buffer_limited_ratio"),
            retransmit_ratio: retransmit_ratio(sender, route.sender),
            rtt_seconds: metric("rtt_seconds"),
            minimum_rtt_seconds: metric("minimum_rtt_seconds"),
            congestion_window_bytes: metric("congestion_window_bytes"),
            send_buffer_bytes: send_buffer(sender, route.sender),
            flows,
            loss_ratio: metric("loss_ratio"),
            overflow_ratio: overflow_ratio(receiver, metric("lost_packets")),
            transaction_rate: metric("transactions_per_second")
                .or_else(|| metric("requests_per_second")),
            latency_mean_seconds: metric("latency_mean_seconds"),
            in_flight: asked("connections").unwrap_or(flows * (1.0 + burst)),
            asked_rate: asked("rate_rps"),
            probe_interval_seconds: asked("probe_interval_seconds"),
            unanswered: unanswered(run, route, receiver),
        }
    }
}

/// How many were sent, where none of them came through; both phases of a ping count.
pub fn told_unanswered(metrics: &Metrics, prefix: &str) -> Option<f64> {
    let metric = |key: &str| metrics.get(&format!("{prefix}{key}")).copied();
    if let Some(idle) = metric("sent_probes") {
        let count = |key: &str| metric(key).unwrap_or(0.0);
        let sent = idle + count("loaded_sent_probes");
        let lost = count("lost_probes") + count("loaded_lost_probes");
        return (sent > 0.0 && lost >= sent).then_some(sent);
    }
    if let Some(received) = metric("received_packets") {
        return metric("sent_packets").filter(|_| is_none(received));
    }
    // What broke off, or was no HTTP, has arrived all the same.
    let has_come = |key: &str| metric(key).is_some_and(|count| !is_none(count));
    if has_come("received_bytes_per_second") || has_come("read_errors") {
        return None;
    }
    let rate = metric("transactions_per_second").or_else(|| metric("requests_per_second"))?;
    let tried = metric("lost_packets").or_else(|| metric("errors")).unwrap_or(0.0);
    is_none(rate).then_some(tried)
}

/// Counts and rates of nothing are zero exactly.
pub fn is_none(count: f64) -> bool {
    count <= 0.0
}

/// A stream of bytes has no count of what was sent, but its receiver's word that it has seen nothing.
fn unanswered(run: &Run<'_>, route: Route, receiver: &EndReport) -> Option<f64> {
    told_unanswered(run.metrics, route.prefix).or_else(|| {
        let has = |key: &str| run.metrics.contains_key(&format!("{}{key}", route.prefix));
        let is_silent_stream =
            has("send_throughput_bps") && !has("sent_packets") && !has("throughput_bps");
        (is_silent_stream && receiver.host.is_some()).then_some(0.0)
    })
}

fn send_buffer(sender: &EndReport, role: Role) -> Option<f64> {
    let granted = sender.flows.iter().map(|flow| match role {
        Role::Source => flow.granted.source_sndbuf,
        Role::Sink => flow.granted.sink_sndbuf,
    });
    let sum = granted.sum::<Option<u64>>().filter(|&sum| sum > 0)?;
    Some(sum as f64 / sender.flows.len() as f64)
}

/// Drops cover the warm-up too, which the lost datagrams don't.
fn overflow_ratio(receiver: &EndReport, lost: Option<f64>) -> Option<f64> {
    let lost = lost.filter(|&lost| lost > 0.0)?;
    Some((receiver.overflowed_packets? as f64 / lost).min(1.0))
}

/// Retransmits of the flows that a report tells.
fn retransmit_ratio(sender: &EndReport, role: Role) -> Option<f64> {
    let told = sender.flows.iter().filter_map(|flow| match role {
        Role::Source => flow.source_tcp,
        Role::Sink => flow.sink_tcp,
    });
    let (mut again, mut sent) = (0, 0);
    for tcp in told {
        again += tcp.retransmits?;
        sent += tcp.segments_sent?;
    }
    (sent > 0).then(|| again as f64 / sent as f64)
}

/// The host's busy share is the one that the metrics tell; of an end that tells none, its cores' mean.
fn end_use(report: &EndReport, host_busy: Option<f64>, sends: bool) -> EndUse {
    let host = report.host.as_ref();
    let cores = host.map_or(&[] as &[CoreShares], |host| &host.cores);
    let busy: Vec<f64> = match cores {
        [] => report.cpu_per_core.clone(),
        cores => cores.iter().map(|core| core.busy).collect(),
    };
    let group = host.and_then(|host| host.control_group.as_ref());
    let threads = report.threads.iter().find(|threads| does(threads, sends));
    EndUse {
        awake: threads
            .map(|threads| (threads.running_ratio + threads.waiting_ratio.unwrap_or(0.0)).min(1.0)),
        running: threads.map(|threads| threads.running_ratio),
        threads: threads.map_or(0, |threads| threads.threads),
        cores: u32::try_from(busy.len()).unwrap_or(u32::MAX),
        host_busy: host_busy
            .or_else(|| (!busy.is_empty()).then(|| busy.iter().sum::<f64>() / busy.len() as f64)),
        interrupted: cores.iter().map(|core| core.softirq + core.interrupt).reduce(f64::max),
        process_cpus: process_cpus(report),
        quota_cpus: group.and_then(|group| group.cpu_quota),
        cpuset_cpus: group
            .and_then(|group| Some(net::parse_cpu_list(group.cpuset.as_ref()?)?.len() as f64)),
        link_use: host.and_then(|host| link_use(host, sends)),
    }
}

/// The client's end sends requests, the server's receives them.
fn does(threads: &ThreadUse, sends: bool) -> bool {
    match threads.part {
        ThreadPart::Sender | ThreadPart::Client => sends,
        ThreadPart::Receiver | ThreadPart::Server => !sends,
    }
}

fn process_cpus(report: &EndReport) -> Option<f64> {
    let host = report.host.as_ref();
    let used = host.and_then(|host| host.process_cpu_seconds).or(report.cpu_seconds)?;
    let window = report.window.as_ref().map(|window| window.elapsed_seconds);
    let seconds = host.map(|host| host.seconds).or(window).filter(|&seconds| seconds > 0.0)?;
    Some(used / seconds)
}

/// The interface that carries the test, if it is told.
pub fn carrier(host: &HostWindow) -> Option<&InterfaceWindow> {
    host.interfaces.iter().find(|interface| interface.carries_test)
}

fn link_use(host: &HostWindow, sends: bool) -> Option<f64> {
    let interface = carrier(host)?;
    let speed_bps = interface.speed_bps.filter(|&speed| speed > 0)? as f64;
    let bytes = if sends { interface.tx_bytes } else { interface.rx_bytes };
    (host.seconds > 0.0).then(|| bytes as f64 * 8.0 / host.seconds / speed_bps)
}

#[cfg(test)]
mod tests {
    use proto::{
        EndReport, Flow, HostWindow, InterfaceWindow, Metrics, Params, Role, TcpFigures,
        ThreadPart, ThreadUse,
    };

    use super::{Known, Route};
    use crate::limits::Run;

    fn threads(part: ThreadPart, running_ratio: f64) -> ThreadUse {
        ThreadUse {
            part,
            threads: 2,
            running_ratio,
            waiting_ratio: Some(0.25),
            busiest_ratio: running_ratio,
        }
    }

    fn end(retransmits: u64) -> EndReport {
        let tcp = TcpFigures {
            retransmits: Some(retransmits),
            segments_sent: Some(100),
            ..TcpFigures::default()
        };
        let interface = InterfaceWindow {
            carries_test: true,
            tx_bytes: 1_000_000,
            rx_bytes: 250_000,
            speed_bps: Some(10_000_000),
            ..InterfaceWindow::default()
        };
        let host = HostWindow {
            seconds: 2.0,
            process_cpu_seconds: Some(3.0),
            interfaces: vec![interface],
            ..HostWindow::default()
        };
        EndReport {
            flows: vec![Flow { source_tcp: Some(tcp), sink_tcp: Some(tcp), ..Flow::default() }],
            threads: vec![threads(ThreadPart::Sender, 0.5), threads(ThreadPart::Receiver, 0.25)],
            cpu_per_core: vec![1.0, 0.5],
            host: Some(host),
            ..EndReport::default()
        }
    }

    #[test]
    fn the_reverse_direction_takes_the_sinks_senders_and_its_own_metrics() {
        let metrics = Metrics::from([
            ("throughput_bps".to_owned(), 1.0),
            ("reverse_throughput_bps".to_owned(), 2.0),
            ("source_cpu_ratio".to_owned(), 0.875),
        ]);
        let mut params = Params::default();
        params.set("flows", 4.0);
        params.set("flow_rate_bps", 100.0);
        let (source, sink) = (end(1), end(7));
        let run = Run { params: &params, metrics: &metrics, source: &source, sink: &sink };
        let known = Known::of(&run, Route { sender: Role::Sink, prefix: "reverse_" });
        assert_eq!((known.throughput_bps, known.asked_bps), (Some(2.0), Some(400.0)));
        assert_eq!(known.retransmit_ratio, Some(0.07));
        assert_eq!((known.sender.awake, known.receiver.awake), (Some(0.75), Some(0.5)));
        assert_eq!((known.sender.host_busy, known.sender.process_cpus), (Some(0.75), Some(1.5)));
        assert_eq!(known.receiver.host_busy, Some(0.875), "the source host's own metric");
        assert_eq!((known.sender.link_use, known.receiver.link_use), (Some(0.4), Some(0.1)));
        let forward = Known::of(&run, Route { sender: Role::Source, prefix: "" });
        assert_eq!((forward.throughput_bps, forward.retransmit_ratio), (Some(1.0), Some(0.01)));
    }

    #[test]
    fn what_no_end_measured_is_absent() {
        let (params, metrics, nothing) = (Params::default(), Metrics::new(), EndReport::default());
        let run = Run { params: &params, metrics: &metrics, source: &nothing, sink: &nothing };
        let known = Known::of(&run, Route { sender: Role::Source, prefix: "" });
        assert_eq!(known, Known { in_flight: 1.0, flows: 1.0, ..Known::default() });
    }
}
