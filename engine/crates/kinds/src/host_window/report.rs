//! What a result carries of a window, under this end's names.

use std::net::SocketAddr;

use proto::{Background, CoreShares, EndReport, Facts, HostWindow, InterfaceWindow, Metrics, Role};

use super::interfaces::Counters;
use super::interfaces::carrier;
use super::interfaces::holder::{self, Payload};
use super::interfaces::own_traffic::{OwnTraffic, Wrapping};
use super::{Occurred, Surroundings};

/// What belongs to a window besides its counters.
pub struct Scene<'a> {
    /// The test kind, which says what metrics there are.
    pub kind: &'a str,
    /// Which end this is.
    pub role: Role,
    /// The host's facts.
    pub facts: &'a Facts,
    /// What the agent told.
    pub surroundings: &'a Surroundings,
    /// The addresses of the link, here and there: the data takes the same way.
    pub link: Option<(SocketAddr, SocketAddr)>,
    /// The device that this end's sockets are bound to.
    pub device: Option<&'a str>,
    /// CPUs that this end's threads are pinned to.
    pub pinned: &'a [usize],
    /// Whether the data is TCP connections that last, which the kernel's own counts tell of.
    pub has_connections: bool,
    /// Whether the data is TCP.
    pub is_tcp: bool,
    /// What tasks and peer counted, where no connection lasts.
    pub tasks: Option<OwnTraffic>,
    /// Datagrams take so long from the other end's clock to this one's.
    pub rtt_seconds: f64,
}

/// Adds a window to this end's half of the result.
pub fn add_to(report: &mut EndReport, occurred: &Occurred, scene: &Scene<'_>) {
    let host = window(occurred, scene, certain_payload(report, occurred, scene));
    let mut metrics = Metrics::new();
    add_cpu(&mut metrics, occurred, scene.role);
    if let Some(nic) = host.interfaces.iter().find(|interface| interface.carries_test) {
        add_nic(&mut metrics, nic, occurred.seconds, scene.role);
    }
    metrics.retain(|key, _| proto::Catalog::embedded().lists(scene.kind, key));
    report.metrics.extend(metrics);
    if meets_neighbours(scene) {
        report.flags.push("affinity_collision".to_owned());
    }
    report.cpu_per_core = host.cores.iter().map(|core| core.busy).collect();
    report.cpu_seconds = Some(occurred.process_seconds);
    report.host = Some(host);
}

/// What one of so many bytes of TCP's sent is certain to have left the host: the rest may wait in the send queue.
const TCP_PER_CERTAIN: u64 = 2;
/// Datagrams may be dropped between the socket and the interface, which nobody tells.
const DATAGRAMS_PER_CERTAIN: u64 = 1_000;

/// Payload that has passed the interface for certain: as the sockets had it, or the tasks.
fn certain_payload(report: &EndReport, occurred: &Occurred, scene: &Scene<'_>) -> Payload {
    if let Some(own) = occurred.connections.filter(|_| scene.has_connections) {
        let again = occurred.retransmitted_bytes.unwrap_or(0);
        let tx = own.tx_bytes.saturating_sub(again);
        return Payload { rx: own.rx_bytes, tx, tx_per_certain: TCP_PER_CERTAIN };
    }
    let flows = report.flows.iter();
    let rx = match scene.role {
        Role::Sink => flows.map(|flow| flow.bytes).sum(),
        Role::Source => flows.map(|flow| flow.reverse_bytes).sum(),
    };
    let tx = report.sent.iter().map(|flow| flow.bytes).sum();
    Payload { rx, tx, tx_per_certain: DATAGRAMS_PER_CERTAIN }
}

fn window(occurred: &Occurred, scene: &Scene<'_>, payload: Payload) -> HostWindow {
    let (local, peer) = scene.link.unzip();
    let up = net::interfaces_up().unwrap_or_default();
    let counted: Vec<Counters> = occurred
        .interfaces
        .iter()
        .filter(|counters| up.contains(&counters.name))
        .cloned()
        .collect();
    let by_address = carrier::of_socket(local, peer, scene.device);
    let carrier = holder::holder(by_address, &counted, payload);
    let interfaces = counted.iter().map(|counters| {
        let carries_test = carrier.as_ref() == Some(&counters.name);
        interface(counters, occurred, scene, carries_test)
    });
    let neighbours = scene.surroundings.neighbours();
    HostWindow {
        seconds: occurred.seconds,
        cores: occurred.shares.as_ref().map(|shares| shares.cores.clone()).unwrap_or_default(),
        process_cpu_seconds: Some(occurred.process_seconds),
        // Only both ends together know: they may share a host.
        other_cpus: None,
        interfaces: interfaces.collect(),
        background: carrier.as_ref().and_then(|name| background(scene.surroundings, name)),
        other_sessions: neighbours.map(|neighbours| neighbours.sessions),
        clock_step_seconds: Some(occurred.step_seconds),
        cpu_frequency_hertz: occurred.frequencies.map(|seen| (seen.least, seen.greatest)),
        cpu_frequency_limit_hertz: occurred.frequencies.and_then(|seen| seen.limit),
        control_group: scene.facts.control_group.clone(),
    }
}

fn interface(
    counters: &Counters,
    occurred: &Occurred,
    scene: &Scene<'_>,
    carries_test: bool,
) -> InterfaceWindow {
    let facts = scene.facts.interfaces.iter().find(|facts| facts.name == counters.name);
    let window = InterfaceWindow {
        carries_test,
        speed_bps: facts.and_then(|facts| facts.speed_bps),
        mtu_bytes: facts.and_then(|facts| facts.mtu),
        ..counters.clone().into_window()
    };
    let own = own_traffic(occurred, scene).filter(|_| carries_test);
    let Some((own, (local, _))) = own.zip(scene.link) else {
        return window;
    };
    let wrapping = Wrapping {
        is_ipv4: local.ip().to_canonical().is_ipv4(),
        is_loopback: counters.name == carrier::LOOPBACK,
    };
    let (rx, tx) = own.explains(counters, scene.is_tcp, wrapping);
    InterfaceWindow {
        test_rx_bytes: Some(
            counters.rx_bytes.min(rx + allowance(counters.rx_bytes, occurred, scene)),
        ),
        test_tx_bytes: Some(
            counters.tx_bytes.min(tx + allowance(counters.tx_bytes, occurred, scene)),
        ),
        test_retransmitted_bytes: occurred.retransmitted_bytes,
        ..window
    }
}

/// What the test's own sockets tell, the link's included.
fn own_traffic(occurred: &Occurred, scene: &Scene<'_>) -> Option<OwnTraffic> {
    let connections = occurred.connections?;
    if scene.has_connections {
        return Some(connections);
    }
    Some(connections.with(scene.tasks?))
}

/// Bytes that may have passed between the reading of the sockets and that of the interface.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // A share of a byte count is one.
fn allowance(bytes: u64, occurred: &Occurred, scene: &Scene<'_>) -> u64 {
    // Tasks' counts begin and end by the sender's clock.
    let rtt = if scene.has_connections { 0.0 } else { scene.rtt_seconds };
    let share = (occurred.skew_seconds + rtt) / occurred.seconds;
    if share.is_finite() { (bytes as f64 * share).ceil() as u64 } else { bytes }
}

fn background(surroundings: &Surroundings, name: &str) -> Option<Background> {
    let host = surroundings.background()?;
    let interface = host.interfaces.iter().find(|interface| interface.name == name)?;
    Some(Background {
        seconds: host.seconds,
        rx_bps: interface.rx_bps,
        tx_bps: interface.tx_bps,
        rx_packets_per_second: interface.rx_packets_per_second,
        tx_packets_per_second: interface.tx_packets_per_second,
        cpu_ratio: host.cpu_ratio,
    })
}

/// Whether another session's threads were pinned to a CPU of ours.
fn meets_neighbours(scene: &Scene<'_>) -> bool {
    let neighbours = scene.surroundings.neighbours().unwrap_or_default();
    let is_ours = |cpu: &u32| scene.pinned.contains(&(*cpu as usize));
    neighbours.cpus.iter().any(is_ours)
}

fn add_cpu(metrics: &mut Metrics, occurred: &Occurred, role: Role) {
    let end = if role == Role::Source { "source" } else { "sink" };
    let mut add = |name: &str, value: f64| {
        metrics.insert(format!("{end}_{name}"), value);
    };
    add("process_cpu_seconds", occurred.process_seconds);
    let Some(shares) = &occurred.shares else { return };
    let CoreShares { busy, softirq, steal, .. } = shares.all;
    add("cpu_ratio", busy);
    add("softirq_ratio", softirq);
    add("steal_ratio", steal);
    if let Some(busiest) = shares.cores.iter().map(|core| core.busy).reduce(f64::max) {
        add("busiest_core_ratio", busiest);
    }
}

/// Adds the rates of an interface's counters.
pub fn add_nic(metrics: &mut Metrics, nic: &InterfaceWindow, seconds: f64, role: Role) {
    if seconds <= 0.0 {
        return;
    }
    let prefix = if role == Role::Source { "source_" } else { "" };
    let counts = [
        ("rx_packets", nic.rx_packets),
        ("tx_packets", nic.tx_packets),
        ("rx_bytes", nic.rx_bytes),
        ("tx_bytes", nic.tx_bytes),
    ];
    for (name, count) in counts {
        metrics.insert(format!("{prefix}nic_{name}_per_second"), count as f64 / seconds);
    }
}
