//! Whether the interface of an end can have carried transactions that only the source counted.

use proto::{HostWindow, Metrics, Role};

use super::report::add_nic;

/// With fewer transactions other packets could be taken for them.
const LEAST: f64 = 20.0;
/// The two ends' windows are not quite the same.
const LEAST_SHARE: f64 = 0.5;
/// A connection for each transaction takes ten packets.
const MOST_PACKETS: f64 = 16.0;

/// Takes the counters of an interface that can't have carried them from an end, and gives it those of the only one
/// that can.
pub fn see_through(host: Option<&mut HostWindow>, metrics: &mut Metrics, role: Role) {
    let Some(host) = host else { return };
    let Some(count) = transactions(metrics, host.seconds).filter(|&count| count >= LEAST) else {
        return;
    };
    let least = count * LEAST_SHARE;
    let Some(told) = host.interfaces.iter().position(|interface| interface.carries_test) else {
        return;
    };
    let both = |index: usize| {
        let interface = &host.interfaces[index];
        (interface.rx_packets as f64, interface.tx_packets as f64)
    };
    let carries = |(rx, tx): (f64, f64)| rx >= least && tx >= least;
    if carries(both(told)) {
        return;
    }
    let others: Vec<usize> = (0..host.interfaces.len())
        .filter(|&index| index != told && carries(both(index)))
        .filter(|&index| both(index).0 <= MOST_PACKETS * count)
        .collect();
    host.interfaces[told].carries_test = false;
    let prefix = if role == Role::Source { "source_nic_" } else { "nic_" };
    metrics.retain(|key, _| !key.starts_with(prefix));
    if let [found] = others[..] {
        host.interfaces[found].carries_test = true;
        add_nic(metrics, &host.interfaces[found], host.seconds, role);
    }
}

/// Transactions, requests or probes of which each was a packet each way at least; none of kinds whose sockets tell.
fn transactions(metrics: &Metrics, seconds: f64) -> Option<f64> {
    if let Some(sent) = metrics.get("sent_probes") {
        return Some(sent - metrics.get("lost_probes").copied().unwrap_or(0.0));
    }
    let keys = ["transactions_per_second", "requests_per_second"];
    keys.iter().find_map(|key| metrics.get(*key)).map(|rate| rate * seconds)
}

#[cfg(test)]
mod tests {
    use proto::{HostWindow, InterfaceWindow, Metrics, Role};

    use super::see_through;

    fn interface(name: &str, packets: u64, carries_test: bool) -> InterfaceWindow {
        InterfaceWindow {
            name: name.to_owned(),
            carries_test,
            rx_packets: packets,
            tx_packets: packets,
            ..InterfaceWindow::default()
        }
    }

    /// What is told of a sink that answered 1,000 transactions: the carrier's name, and its rate of packets.
    fn told(interfaces: Vec<InterfaceWindow>) -> (Option<String>, Option<u64>) {
        let mut host = HostWindow { seconds: 1.0, interfaces, ..HostWindow::default() };
        let mut metrics = Metrics::from([
            ("transactions_per_second".to_owned(), 1_000.0),
            ("nic_rx_packets_per_second".to_owned(), 3.0),
            ("source_nic_rx_packets_per_second".to_owned(), 7.0),
        ]);
        see_through(Some(&mut host), &mut metrics, Role::Sink);
        assert!(metrics.contains_key("source_nic_rx_packets_per_second"));
        let carrier = host.interfaces.into_iter().find(|each| each.carries_test);
        // Rates of whole packets.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rate = metrics.get("nic_rx_packets_per_second").map(|&rate| rate as u64);
        (carrier.map(|each| each.name), rate)
    }

    #[test]
    fn an_interface_that_had_too_few_packets_is_seen_through() {
        let interfaces = vec![interface("dummy0", 3, true), interface("eth0", 1_010, false)];
        assert_eq!(told(interfaces), (Some("eth0".to_owned()), Some(1_010)));
        let good = vec![interface("eth0", 900, true), interface("eth1", 1_000, false)];
        assert_eq!(told(good), (Some("eth0".to_owned()), Some(3)));
    }

    #[test]
    fn where_none_or_several_can_have_carried_them_no_counters_are_told() {
        let dummy = interface("dummy0", 0, true);
        assert_eq!(told(vec![dummy.clone()]), (None, None));
        let two = vec![dummy.clone(), interface("a", 1_000, false), interface("b", 1_000, false)];
        assert_eq!(told(two), (None, None));
        assert_eq!(told(vec![dummy, interface("busy", 90_000, false)]), (None, None));
    }
}
