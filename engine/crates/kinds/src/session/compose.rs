//! The result, joined from the two ends' halves.

use std::net::IpAddr;

use proto::{
    CpuPerCore, EndReport, EngineVersions, Facts, Flow, Granted, HostWindow, HostWindows, Interval,
    Metrics, Outage, Params, Role, RunResult, TrafficAddresses, Window,
};

use crate::host_window;
use crate::kind::Kind;
use crate::limits;
use crate::outcome::course::Course;
use crate::roles::other;

const BYTES_PER_GIGABYTE: f64 = 1e9;
/// A window shorter than this share of what was asked for is flagged.
const SHORT_SHARE: f64 = 0.9;

/// What a result tells of them at most, whatever a peer says.
const OUTAGES_AT_MOST: usize = 100;
const REPLY_ADDRESSES_AT_MOST: usize = 8;

/// What both ends know, as far as they do.
#[derive(Debug, Default)]
pub struct Halves {
    /// The source's half.
    pub source: Option<EndReport>,
    /// The sink's half.
    pub sink: Option<EndReport>,
    /// The source host's facts.
    pub source_facts: Option<Facts>,
    /// The sink host's facts.
    pub sink_facts: Option<Facts>,
    /// This end's address of the link, by which the family of the test's packets is known.
    pub address: Option<IpAddr>,
    /// Versions of both engines.
    pub versions: EngineVersions,
    /// Intervals of this end.
    pub intervals: Course,
    /// Intervals that the other end told.
    pub peer_intervals: Course,
}

/// Joins the halves into the document that a session ends with.
pub fn result((name, kind): (&str, &dyn Kind), params: &Params, halves: Halves) -> RunResult {
    let mut source = halves.source.unwrap_or_default();
    let mut sink = halves.sink.unwrap_or_default();
    let share_host = share_host(halves.source_facts.as_ref(), halves.sink_facts.as_ref());
    if share_host {
        forget_borrowed_speeds(&mut source, halves.source_facts.as_ref());
        forget_borrowed_speeds(&mut sink, halves.sink_facts.as_ref());
    }
    let mut metrics = join_metrics(kind, &mut source, &mut sink);
    let window = join_windows(source.window.clone(), sink.window.clone());
    if let Some(cost) = cpu_cost(name, &source, &sink, window.as_ref()) {
        metrics.insert("cpu_seconds_per_gigabyte".to_owned(), cost);
    }
    limits::add_ceilings(
        &mut metrics,
        params,
        (&source, &sink),
        [halves.source_facts.as_ref(), halves.sink_facts.as_ref()],
        halves.address,
    );
    let is_beyond = limits::is_beyond_link(&metrics, &source, &sink);
    let limits =
        limits::limits(&limits::Run { params, metrics: &metrics, source: &source, sink: &sink });
    let mut hosts = HostWindows { source: source.host, sink: sink.host };
    host_window::tell_others(&mut hosts, share_host);
    let outages = join_outages(source.outages, sink.outages);
    let reply_addresses = bounded_addresses(source.reply_addresses);
    let flags = join_flags(&[
        source.flags,
        sink.flags,
        own_flags(params, window.as_ref(), share_host),
        host_flags(params, &hosts, share_host),
        flag(!outages.is_empty(), "outage"),
        flag(is_beyond, "sent_beyond_link"),
        flag(!reply_addresses.is_empty(), "replies_from_elsewhere"),
    ]);
    let mut intervals = halves.intervals.with(halves.peer_intervals);
    keep_carriers(&mut intervals, &hosts);
    RunResult {
        schema: RunResult::SCHEMA,
        kind: name.to_owned(),
        params: params.clone(),
        metrics,
        intervals,
        window,
        outages,
        addresses: addresses(source.addresses, sink.addresses),
        reply_addresses,
        path_fault: None,
        largest_payload_bytes: None,
        largest_reverse_payload_bytes: None,
        unanswered_hellos: None,
        loaded_histogram: source.loaded_histogram.or(sink.loaded_histogram),
        load: source.load.or(sink.load),
        histogram: source.histogram.or(sink.histogram),
        flows: join_flows(source.flows, sink.flows),
        source: halves.source_facts,
        sink: halves.sink_facts,
        flags,
        engine: halves.versions,
        cpu_per_core: Some(CpuPerCore { source: source.cpu_per_core, sink: sink.cpu_per_core }),
        limits,
        hosts: (hosts.source.is_some() || hosts.sink.is_some()).then_some(hosts),
        host_test: None,
    }
}

/// Both halves' metrics, and what the hosts tell beside them.
fn join_metrics(kind: &dyn Kind, source: &mut EndReport, sink: &mut EndReport) -> Metrics {
    let mut metrics = source.metrics.clone();
    metrics.extend(sink.metrics.clone());
    if !kind.shares_packets() {
        // A sink does nothing for a server of another address.
        let sink = sink.host.as_mut().filter(|_| kind.goes_to_peer());
        for (host, role) in [(source.host.as_mut(), Role::Source), (sink, Role::Sink)] {
            host_window::see_through(host, &mut metrics, role);
        }
    }
    metrics
}

/// Each flag once, by name.
fn join_flags(parts: &[Vec<String>]) -> Vec<String> {
    let mut flags = parts.concat();
    flags.sort();
    flags.dedup();
    flags
}

fn flag(holds: bool, name: &str) -> Vec<String> {
    holds.then(|| name.to_owned()).into_iter().collect()
}

/// Of a bidirectional test the forward window counts, with the reverse bytes added.
fn join_windows(source: Option<Window>, sink: Option<Window>) -> Option<Window> {
    match (source, sink) {
        (Some(source), Some(sink)) => Some(Window { reverse_bytes: source.reverse_bytes, ..sink }),
        (one, other) => other.or(one),
    }
}

/// CPU time of both processes per payload received; only stream kinds list it.
fn cpu_cost(
    kind: &str,
    source: &EndReport,
    sink: &EndReport,
    window: Option<&Window>,
) -> Option<f64> {
    let window =
        window.filter(|_| proto::Catalog::embedded().lists(kind, "cpu_seconds_per_gigabyte"))?;
    let bytes = window.bytes + window.reverse_bytes.unwrap_or(0);
    let seconds = source.cpu_seconds? + sink.cpu_seconds?;
    (bytes > 0).then(|| seconds * BYTES_PER_GIGABYTE / bytes as f64)
}

fn share_host(source: Option<&Facts>, sink: Option<&Facts>) -> bool {
    let boot_ids = source.zip(sink).map(|(source, sink)| (&source.boot_id, &sink.boot_id));
    boot_ids.is_some_and(|(source, sink)| source == sink && !source.is_empty())
}

/// Between two ends of one host what a virtual interface carries doesn't reach the physical one beneath it.
fn forget_borrowed_speeds(half: &mut EndReport, facts: Option<&Facts>) {
    let borrows = |name: &str| {
        let known =
            facts.and_then(|facts| facts.interfaces.iter().find(|known| known.name == name));
        known.is_some_and(|known| !known.physical.is_empty())
    };
    let interfaces = half.host.iter_mut().flat_map(|host| host.interfaces.iter_mut());
    for interface in interfaces.filter(|interface| borrows(&interface.name)) {
        interface.speed_bps = None;
    }
}

fn own_flags(params: &Params, window: Option<&Window>, share_host: bool) -> Vec<String> {
    let mut flags = Vec::new();
    if share_host {
        flags.push("same_host".to_owned());
    }
    let asked = params.number("duration_seconds").ok();
    if window.zip(asked).is_some_and(|(window, asked)| window.elapsed_seconds < SHORT_SHARE * asked)
    {
        flags.push("window_short".to_owned());
    }
    flags
}

fn host_flags(params: &Params, hosts: &HostWindows, share_host: bool) -> Vec<String> {
    let cpus = |name| params.text(name).ok().and_then(net::parse_cpu_list).unwrap_or_default();
    let (source_cpus, sink_cpus) = (cpus("source_cpus"), cpus("sink_cpus"));
    let ends = host_window::Ends { share_host, source_cpus: &source_cpus, sink_cpus: &sink_cpus };
    host_window::flags(hosts, ends)
}

/// Those of both directions, in the order of time.
fn join_outages(source: Vec<Outage>, sink: Vec<Outage>) -> Vec<Outage> {
    let mut outages = [source, sink].concat();
    outages.sort_by(|one, other| one.from_seconds.total_cmp(&other.from_seconds));
    outages.truncate(OUTAGES_AT_MOST);
    outages
}

/// Only what the interface that carried the test counted stays in the intervals: the address alone may mislead.
fn keep_carriers(intervals: &mut [Interval], hosts: &HostWindows) {
    let carrier = |host: Option<&HostWindow>| {
        let mut interfaces = host.into_iter().flat_map(|host| host.interfaces.iter());
        interfaces.find(|interface| interface.carries_test).map(|interface| interface.name.clone())
    };
    let carriers = [carrier(hosts.source.as_ref()), carrier(hosts.sink.as_ref())];
    for interval in intervals {
        let told = [&mut interval.interfaces.source, &mut interval.interfaces.sink];
        for (told, carrier) in told.into_iter().zip(&carriers) {
            told.take_if(|told| Some(&told.name) != carrier.as_ref());
        }
    }
}

/// The addresses of the traffic, by what each end's sockets have: its own and the other's.
fn addresses(
    at_source: Option<(IpAddr, IpAddr)>,
    at_sink: Option<(IpAddr, IpAddr)>,
) -> Option<TrafficAddresses> {
    let (source, sink) = at_source.or(at_sink.map(|(own, other)| (other, own)))?;
    let seen = at_sink.map(|(_, other)| other).filter(|seen| *seen != source);
    let own = at_sink.map(|(own, _)| own).filter(|own| *own != sink);
    let family = if sink.is_ipv4() { "ipv4" } else { "ipv6" };
    Some(TrafficAddresses {
        family: family.to_owned(),
        source,
        sink,
        source_seen_by_sink: seen,
        sink_own: own,
    })
}

fn bounded_addresses(mut addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    addresses.truncate(REPLY_ADDRESSES_AT_MOST);
    addresses
}

fn join_flows(source: Vec<Flow>, sink: Vec<Flow>) -> Vec<Flow> {
    let count = source.len().max(sink.len());
    let (mut source, mut sink) = (source.into_iter(), sink.into_iter());
    (0..count)
        .map(|_| {
            let (near, far) = (source.next().unwrap_or_default(), sink.next().unwrap_or_default());
            Flow {
                index: near.index.max(far.index),
                bytes: near.bytes + far.bytes,
                reverse_bytes: near.reverse_bytes + far.reverse_bytes,
                granted: Granted {
                    source_sndbuf: near.granted.source_sndbuf,
                    source_rcvbuf: near.granted.source_rcvbuf,
                    sink_sndbuf: far.granted.sink_sndbuf,
                    sink_rcvbuf: far.granted.sink_rcvbuf,
                },
                source_tcp: near.source_tcp,
                sink_tcp: far.sink_tcp,
            }
        })
        .collect()
}

/// The halves in the order of the ends, from this end's point of view.
pub fn place(
    role: Role,
    own: EndReport,
    peer: Option<EndReport>,
) -> (Option<EndReport>, Option<EndReport>) {
    match other(role) {
        Role::Sink => (Some(own), peer),
        Role::Source => (peer, Some(own)),
    }
}
