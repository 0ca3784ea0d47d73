//! Where packets go that no narrower route takes: the kernel's default route.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proto::DefaultRoute;

/// `RTF_UP` and `RTF_GATEWAY` of a route's flags (`linux/route.h`).
const UP: u32 = 1;
const HAS_GATEWAY: u32 = 2;
const NOWHERE: &str = "00000000000000000000000000000000";

/// The default route of IPv4, or of IPv6 where there is none; of several the one with the least metric.
pub fn default_route() -> Option<DefaultRoute> {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/self/net/{name}"));
    let ipv4 = read("route").ok().and_then(|text| least(text.lines().filter_map(ipv4)));
    ipv4.or_else(|| read("ipv6_route").ok().and_then(|text| least(text.lines().filter_map(ipv6))))
}

fn least(routes: impl Iterator<Item = (u32, DefaultRoute)>) -> Option<DefaultRoute> {
    routes.min_by_key(|(metric, _)| *metric).map(|(_, route)| route)
}

/// A line of `/proc/net/route`: interface, destination, gateway, flags, two counts, metric, mask; addresses are of the
/// machine's own byte order.
fn ipv4(line: &str) -> Option<(u32, DefaultRoute)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [interface, destination, gateway, flags, _, _, metric, mask, ..] = fields[..] else {
        return None;
    };
    let number = |text| u32::from_str_radix(text, 16).ok();
    if number(destination)? != 0 || number(mask)? != 0 {
        return None;
    }
    let address = IpAddr::V4(Ipv4Addr::from(number(gateway)?.to_ne_bytes()));
    Some((metric.parse().ok()?, route(interface, address, number(flags)?)?))
}

/// A line of `/proc/net/ipv6_route`: destination, its prefix, source, its prefix, gateway, metric, two counts, flags,
/// interface.
fn ipv6(line: &str) -> Option<(u32, DefaultRoute)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [destination, prefix, _, _, gateway, metric, _, _, flags, interface] = fields[..] else {
        return None;
    };
    if destination != NOWHERE || prefix != "00" || interface == "lo" {
        return None;
    }
    let number = |text| u32::from_str_radix(text, 16).ok();
    let address = IpAddr::V6(Ipv6Addr::from(u128::from_str_radix(gateway, 16).ok()?));
    Some((number(metric)?, route(interface, address, number(flags)?)?))
}

fn route(interface: &str, gateway: IpAddr, flags: u32) -> Option<DefaultRoute> {
    (flags & UP != 0).then(|| DefaultRoute {
        name: interface.to_owned(),
        gateway: (flags & HAS_GATEWAY != 0).then(|| gateway.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::{ipv4, ipv6, least};

    #[test]
    fn the_default_route_with_the_least_metric_counts() {
        let gateway = format!("{:08X}", u32::from_ne_bytes([10, 0, 0, 1]));
        let other = format!("{:08X}", u32::from_ne_bytes([10, 0, 9, 1]));
        let text = format!(
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
             eth1\t00000000\t{other}\t0003\t0\t0\t200\t00000000\t0\t0\t0\n\
             eth0\t00000000\t{gateway}\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
             eth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
        );
        let found = least(text.lines().filter_map(ipv4)).expect("there is a default route");
        assert_eq!((found.name.as_str(), found.gateway.as_deref()), ("eth0", Some("10.0.0.1")));
    }

    #[test]
    fn a_route_that_is_down_or_leads_nowhere_is_none() {
        let zero = "00000000";
        let down = format!("eth0 {zero} 0100000A 0002 0 0 100 {zero} 0 0 0");
        assert!(ipv4(&down).is_none());
        let of_link = format!("ppp0 {zero} {zero} 0001 0 0 0 {zero} 0 0 0");
        assert_eq!(ipv4(&of_link).expect("it is up").1.gateway, None);
        let none = "0".repeat(32);
        // The kernel's own last entry of every table: unreachable, at the loopback.
        assert!(ipv6(&format!("{none} 00 {none} 00 {none} ffffffff 1 0 00200200 lo")).is_none());
        let gateway = "fe800000000000000000000000000001";
        let found = ipv6(&format!("{none} 00 {none} 00 {gateway} 00000400 1 0 00000003 eth0"));
        assert_eq!(found.expect("it is up").1.gateway.as_deref(), Some("fe80::1"));
    }
}
