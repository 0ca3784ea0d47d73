//! What of a window puts a result in doubt. Better no alarm than a false one: each rule says what it lets pass.

use proto::{CoreShares, HostWindow, HostWindows, InterfaceWindow};

/// Other traffic counts from this share of the test's own NIC traffic on.
const TRAFFIC_SHARE: f64 = 0.01;
/// Less than this is a host's ordinary talk (time, names, a terminal, the controller), whatever the test's rate.
const TRAFFIC_FLOOR_BPS: f64 = 1e6;
const STEAL_SHARE: f64 = 0.01;
/// The kernel counts CPU time in whole ticks: a share may be feigned by one, which is much of a short window.
const TICK_SECONDS: f64 = 0.01;
/// A core at least so busy is one that the test needed.
const BUSY_SHARE: f64 = 0.5;
const FREQUENCY_MOVE: f64 = 0.10;
/// All cores together reach less than the frequency of one alone: only below this share something holds them back.
const FREQUENCY_LOW: f64 = 0.5;
const CLOCK_STEP_SECONDS: f64 = 0.010;
/// Less of a CPU than this is a host's ordinary work, an engine that watches and a page that is looked at included.
const OTHERS_FLOOR_CPUS: f64 = 0.25;
/// Of a large host's CPUs so small a share meets the test's threads too seldom.
const OTHERS_SHARE: f64 = 0.02;

/// What both ends' lists of CPUs say.
#[derive(Debug, Clone, Copy)]
pub struct Ends<'a> {
    /// Whether both ends ran on one host.
    pub share_host: bool,
    /// CPUs of the source's threads.
    pub source_cpus: &'a [usize],
    /// CPUs of the sink's threads.
    pub sink_cpus: &'a [usize],
}

/// The flags of both hosts' windows.
pub fn flags(hosts: &HostWindows, ends: Ends<'_>) -> Vec<String> {
    let (source, sink) = (hosts.source.as_ref(), hosts.sink.as_ref());
    let mut flags: Vec<&str> = Vec::new();
    for (host, peer) in [(source, sink), (sink, source)] {
        if let Some(host) = host {
            flags.extend(of_host(host, peer.and_then(carrier)));
        }
    }
    if ends.share_host && ends.source_cpus.iter().any(|cpu| ends.sink_cpus.contains(cpu)) {
        flags.push("affinity_collision");
    }
    flags.into_iter().map(str::to_owned).collect()
}

fn carrier(host: &HostWindow) -> Option<&InterfaceWindow> {
    host.interfaces.iter().find(|interface| interface.carries_test)
}

fn of_host<'a>(host: &HostWindow, peer: Option<&InterfaceWindow>) -> Vec<&'a str> {
    let nic = carrier(host);
    let findings = [
        ("nic_unknown", nic.is_none()),
        (
            "background_traffic",
            nic.is_some_and(|nic| is_before(host, nic) || is_during(host, nic, peer)),
        ),
        ("background_cpu", is_used_before(host) || is_used_during(host)),
        ("cpu_steal", is_stolen(host)),
        ("cpu_frequency", has_moved(host)),
        ("clock_step", host.clock_step_seconds.is_some_and(|step| step.abs() > CLOCK_STEP_SECONDS)),
        ("other_sessions", host.other_sessions.is_some_and(|sessions| sessions > 0)),
    ];
    findings.into_iter().filter_map(|(flag, is_raised)| is_raised.then_some(flag)).collect()
}

/// Traffic before the trial, in one direction, over 1 % of the test's greater direction and over the floor.
fn is_before(host: &HostWindow, nic: &InterfaceWindow) -> bool {
    let Some(background) = host.background.filter(|_| host.seconds > 0.0) else {
        return false;
    };
    let measured_bps = 8.0 * nic.rx_bytes.max(nic.tx_bytes) as f64 / host.seconds;
    background.rx_bps.max(background.tx_bps) > limit(measured_bps)
}

/// Traffic during the test, in one direction, beyond the most that the test's own sockets explain, over 1 % of the
/// greater direction and over the floor. What the peer sent again may have arrived twice: it counts as the test's.
fn is_during(host: &HostWindow, nic: &InterfaceWindow, peer: Option<&InterfaceWindow>) -> bool {
    let (Some(test_rx), Some(test_tx)) = (nic.test_rx_bytes, nic.test_tx_bytes) else {
        return false;
    };
    if host.seconds <= 0.0 {
        return false;
    }
    let repeated = peer.and_then(|peer| peer.test_retransmitted_bytes).unwrap_or(0);
    // A loopback counts the arrivals as sent, too.
    let others = [(nic.rx_bytes, test_rx), (nic.tx_bytes, test_tx)]
        .map(|(seen, own)| seen.saturating_sub(own).saturating_sub(repeated));
    let bps = |bytes: u64| 8.0 * bytes as f64 / host.seconds;
    bps(others[0].max(others[1])) > limit(bps(nic.rx_bytes.max(nic.tx_bytes)))
}

/// CPU before the trial, in which none of this engine's sessions ran: all of it is others'.
fn is_used_before(host: &HostWindow) -> bool {
    let ratio = host.background.and_then(|background| background.cpu_ratio);
    ratio.is_some_and(|ratio| ratio * host.cores.len() as f64 > others_limit(host))
}

fn is_used_during(host: &HostWindow) -> bool {
    host.other_cpus.is_some_and(|cpus| cpus > others_limit(host))
}

fn others_limit(host: &HostWindow) -> f64 {
    OTHERS_FLOOR_CPUS.max(OTHERS_SHARE * host.cores.len() as f64)
}

/// Tells each host what programs other than the test's used of its CPUs; of one host, both ends' processes are the test's.
pub fn tell_others(hosts: &mut HostWindows, share_host: bool) {
    let used = |host: Option<&HostWindow>| {
        let host = host.filter(|host| host.seconds > 0.0)?;
        Some(host.process_cpu_seconds? / host.seconds)
    };
    let (source, sink) = (used(hosts.source.as_ref()), used(hosts.sink.as_ref()));
    let both = source.zip(sink).map(|(source, sink)| source + sink);
    let (source, sink) = if share_host { (both, both) } else { (source, sink) };
    for (host, own) in [(hosts.source.as_mut(), source), (hosts.sink.as_mut(), sink)] {
        if let Some(host) = host.filter(|host| !host.cores.is_empty()) {
            let spent: f64 = host.cores.iter().map(|core| core.user + core.system).sum();
            host.other_cpus = own.map(|own| (spent - own).max(0.0));
        }
    }
}

fn limit(measured_bps: f64) -> f64 {
    TRAFFIC_FLOOR_BPS.max(TRAFFIC_SHARE * measured_bps)
}

/// Of all cores together, or of one that the test kept busy; by more than a tick, which may be of no time at all.
fn is_stolen(host: &HostWindow) -> bool {
    let cores = &host.cores;
    let least = STEAL_SHARE + TICK_SECONDS / host.seconds;
    let mean = cores.iter().map(|core| core.steal).sum::<f64>() / cores.len().max(1) as f64;
    let is_hit = |core: &CoreShares| core.busy >= BUSY_SHARE && core.steal > least;
    mean > least || cores.iter().any(is_hit)
}

fn has_moved(host: &HostWindow) -> bool {
    let Some((least, greatest)) = host.cpu_frequency_hertz else {
        return false;
    };
    let is_low = |limit: u64| (greatest as f64) < FREQUENCY_LOW * limit as f64;
    (greatest - least.min(greatest)) as f64 > FREQUENCY_MOVE * greatest as f64
        || host.cpu_frequency_limit_hertz.is_some_and(is_low)
}

#[cfg(test)]
mod tests {
    use proto::{Background, CoreShares, HostWindow, HostWindows, InterfaceWindow};

    use super::{Ends, flags, tell_others};

    const APART: Ends<'_> = Ends { share_host: false, source_cpus: &[], sink_cpus: &[] };

    /// A sink's window of one second: 100 MB received on eth0, all of it the test's.
    fn window() -> HostWindow {
        let nic = InterfaceWindow {
            name: "eth0".to_owned(),
            carries_test: true,
            rx_bytes: 100_000_000,
            tx_bytes: 1_000_000,
            test_rx_bytes: Some(100_000_000),
            test_tx_bytes: Some(1_000_000),
            ..InterfaceWindow::default()
        };
        HostWindow { seconds: 1.0, interfaces: vec![nic], ..HostWindow::default() }
    }

    fn of(window: HostWindow) -> Vec<String> {
        flags(&HostWindows { source: None, sink: Some(window) }, APART)
    }

    fn of_nic(change: impl FnOnce(&mut InterfaceWindow)) -> Vec<String> {
        let mut window = window();
        change(&mut window.interfaces[0]);
        of(window)
    }

    fn before(rx_bps: f64, tx_bps: f64) -> Vec<String> {
        let background = Background { seconds: 5.0, rx_bps, tx_bps, ..Background::default() };
        of(HostWindow { background: Some(background), ..window() })
    }

    #[test]
    fn a_quiet_host_has_no_flag() {
        assert_eq!(of(window()), [""; 0]);
    }

    fn busy(cores: usize, user: f64) -> HostWindow {
        let core = CoreShares { busy: user, user, ..CoreShares::default() };
        HostWindow { cores: vec![core; cores], process_cpu_seconds: Some(1.0), ..window() }
    }

    fn others(source: Option<HostWindow>, sink: HostWindow, share_host: bool) -> Vec<f64> {
        let mut hosts = HostWindows { source, sink: Some(sink) };
        tell_others(&mut hosts, share_host);
        [hosts.source, hosts.sink]
            .into_iter()
            .flatten()
            .filter_map(|host| host.other_cpus)
            .collect()
    }

    #[test]
    fn the_tests_own_cpu_is_not_others_and_of_one_host_neither_end_is() {
        assert_eq!(others(None, busy(4, 0.5), false), [1.0]);
        assert_eq!(others(Some(busy(4, 1.0)), busy(4, 0.5), false), [3.0, 1.0]);
        assert_eq!(others(Some(busy(4, 0.75)), busy(4, 0.75), true), [1.0, 1.0]);
        assert_eq!(others(None, busy(4, 0.125), false), [0.0]);
        assert_eq!(
            others(None, HostWindow { process_cpu_seconds: None, ..busy(4, 0.5) }, false),
            [0.0; 0]
        );
    }

    #[test]
    fn cpu_that_others_use_before_or_during_the_test_is_said() {
        let during = |cores, cpus| of(HostWindow { other_cpus: Some(cpus), ..busy(cores, 0.5) });
        assert_eq!(during(2, 0.25), [""; 0]);
        assert_eq!(during(2, 0.26), ["background_cpu"]);
        assert_eq!(during(64, 1.27), [""; 0]);
        assert_eq!(during(64, 2.0), ["background_cpu"]);
        let before = |cpu_ratio| {
            let background =
                Background { seconds: 5.0, cpu_ratio: Some(cpu_ratio), ..Background::default() };
            of(HostWindow { background: Some(background), ..busy(2, 0.5) })
        };
        assert_eq!(before(0.12), [""; 0]);
        assert_eq!(before(0.13), ["background_cpu"]);
    }

    #[test]
    fn traffic_before_the_trial_counts_from_one_percent_on() {
        assert_eq!(before(7.9e6, 7.9e6), [""; 0]);
        assert_eq!(before(8.1e6, 0.0), ["background_traffic"]);
        assert_eq!(before(0.0, 8.1e6), ["background_traffic"]);
    }

    #[test]
    fn a_slow_test_is_not_disturbed_by_less_than_a_megabit() {
        let slow = |rx_bps| {
            let mut window = window();
            window.interfaces[0].rx_bytes = 1_000;
            let background = Background { seconds: 5.0, rx_bps, ..Background::default() };
            of(HostWindow { background: Some(background), ..window })
        };
        assert_eq!(slow(0.9e6), [""; 0]);
        assert_eq!(slow(1.1e6), ["background_traffic"]);
    }

    #[test]
    fn traffic_beside_the_test_counts_in_either_direction() {
        assert_eq!(of_nic(|nic| nic.test_rx_bytes = Some(99_100_000)), [""; 0]);
        assert_eq!(of_nic(|nic| nic.test_rx_bytes = Some(98_900_000)), ["background_traffic"]);
        assert_eq!(of_nic(|nic| nic.tx_bytes += 1_100_000), ["background_traffic"]);
        assert_eq!(of_nic(|nic| (nic.test_rx_bytes, nic.rx_bytes) = (None, 200_000_000)), [""; 0]);
    }

    #[test]
    fn what_the_other_end_sent_again_is_not_others_traffic() {
        let mut sink = window();
        sink.interfaces[0].test_rx_bytes = Some(98_000_000);
        let mut source = window();
        source.interfaces[0].test_retransmitted_bytes = Some(1_500_000);
        let hosts = HostWindows { source: Some(source), sink: Some(sink) };
        assert_eq!(flags(&hosts, APART), [""; 0]);
    }

    #[test]
    fn an_interface_that_is_not_known_is_said() {
        assert_eq!(of_nic(|nic| nic.carries_test = false), ["nic_unknown"]);
    }

    #[test]
    fn steal_counts_of_all_cores_and_of_one_that_was_busy() {
        let core = |busy, steal| CoreShares { busy, steal, ..CoreShares::default() };
        // Of a window of 10 seconds a tick is a thousandth.
        let stolen = |cores, seconds| of(HostWindow { cores, seconds, ..window() });
        assert_eq!(stolen(vec![core(0.9, 0.0109); 4], 10.0), [""; 0]);
        assert_eq!(stolen(vec![core(0.2, 0.0111); 4], 10.0), ["cpu_steal"]);
        let idle = core(0.0, 0.0);
        let one = |busy, steal| vec![core(busy, steal), idle, idle, idle];
        assert_eq!(stolen(one(0.9, 0.03), 10.0), ["cpu_steal"]);
        assert_eq!(stolen(one(0.3, 0.03), 10.0), [""; 0]);
        // One tick of a core's 99 in a second is no proof of one percent.
        assert_eq!(stolen(one(0.9, 1.0 / 99.0), 1.0), [""; 0]);
        assert_eq!(stolen(one(0.9, 3.0 / 99.0), 1.0), ["cpu_steal"]);
    }

    #[test]
    fn a_frequency_that_moved_or_is_far_below_its_maximum_is_said() {
        let ran_at = |range, limit| {
            let cpu_frequency_limit_hertz = Some(limit);
            of(HostWindow {
                cpu_frequency_hertz: Some(range),
                cpu_frequency_limit_hertz,
                ..window()
            })
        };
        assert_eq!(ran_at((2_750, 3_000), 4_000), [""; 0]);
        assert_eq!(ran_at((2_600, 3_000), 4_000), ["cpu_frequency"]);
        assert_eq!(ran_at((1_900, 1_900), 4_000), ["cpu_frequency"]);
    }

    #[test]
    fn a_wall_clock_that_was_set_and_other_sessions_are_said() {
        let stepped = |step| of(HostWindow { clock_step_seconds: Some(step), ..window() });
        assert_eq!(stepped(0.009), [""; 0]);
        assert_eq!(stepped(-0.011), ["clock_step"]);
        let beside = |others| of(HostWindow { other_sessions: Some(others), ..window() });
        assert_eq!(beside(0), [""; 0]);
        assert_eq!(beside(2), ["other_sessions"]);
    }

    #[test]
    fn ends_on_one_cpu_of_one_host_collide() {
        let of_ends = |share_host, source_cpus, sink_cpus| {
            flags(&HostWindows::default(), Ends { share_host, source_cpus, sink_cpus })
        };
        assert_eq!(of_ends(true, &[0, 1], &[1]), ["affinity_collision"]);
        assert_eq!(of_ends(false, &[0, 1], &[1]), [""; 0]);
        assert_eq!(of_ends(true, &[0], &[1]), [""; 0]);
        assert_eq!(of_ends(true, &[], &[]), [""; 0]);
    }
}
