//! How busy this host is, for who watches it between tests.

use std::net::IpAddr;

use proto::{HostBackground, HostLoad, InterfaceLoad};

use super::interfaces::carrier;
use crate::facts::speed_bps;

/// What of the last minute is told: of all CPUs, and of the interface of this name, or that holds this address.
#[must_use]
pub fn host_load(
    recent: Option<HostBackground>,
    address: Option<IpAddr>,
    device: Option<&str>,
) -> HostLoad {
    let Some(recent) = recent else { return HostLoad::default() };
    let name = device.map(str::to_owned).or_else(|| interface_of(address?));
    let traffic = recent.interfaces.into_iter().find(|each| Some(&each.name) == name.as_ref());
    HostLoad {
        seconds: recent.seconds,
        cpu_ratio: recent.cpu_ratio,
        interface: traffic
            .map(|traffic| InterfaceLoad { speed_bps: speed_bps(&traffic.name), traffic }),
    }
}

fn interface_of(address: IpAddr) -> Option<String> {
    carrier::of_address(address, &net::interface_addresses().ok()?)
}

#[cfg(test)]
mod tests {
    use proto::{HostBackground, HostLoad, InterfaceBackground};

    use super::host_load;

    fn recent() -> HostBackground {
        let interface = |name: &str, rx_bps| InterfaceBackground {
            name: name.to_owned(),
            rx_bps,
            ..InterfaceBackground::default()
        };
        let interfaces = vec![interface("eth7", 7.0), interface("lo", 1.0)];
        HostBackground { seconds: 50.0, cpu_ratio: Some(0.25), interfaces }
    }

    fn received_bps(load: &HostLoad) -> Option<f64> {
        Some(load.interface.as_ref()?.traffic.rx_bps)
    }

    #[test]
    fn the_interface_is_the_named_one_or_that_of_the_address() {
        let loopback = "127.0.0.1".parse().ok();
        let load = host_load(Some(recent()), loopback, None);
        assert_eq!((load.seconds, load.cpu_ratio), (50.0, Some(0.25)));
        assert_eq!(received_bps(&load), Some(1.0));
        assert_eq!(load.interface.and_then(|interface| interface.speed_bps), None);
        assert_eq!(received_bps(&host_load(Some(recent()), loopback, Some("eth7"))), Some(7.0));
    }

    #[test]
    fn an_address_that_no_interface_holds_leaves_the_traffic_untold() {
        let load = host_load(Some(recent()), "192.0.2.77".parse().ok(), None);
        assert_eq!((load.cpu_ratio, load.interface), (Some(0.25), None));
        assert_eq!(host_load(Some(recent()), None, None).interface, None);
        assert_eq!(host_load(None, None, Some("lo")), HostLoad::default());
    }
}
