//! Whether this host lets the engine send ICMP echoes, and what to do where it doesn't.

use std::fs;
use std::net::IpAddr;

use proto::{Reason, reason};

/// Opens an echo socket and closes it again.
pub fn check(peer: IpAddr) -> Result<(), Reason> {
    let (local, options) = (net::LocalEnd::default(), net::Options::default());
    match net::EchoSocket::open(peer, &local, &options, 0) {
        Err(net::EchoRefusal::Permission) => Err(advice()),
        // An unreachable network is told by the link, with more to say.
        Ok(_) | Err(net::EchoRefusal::Kernel(_)) => Ok(()),
    }
}

/// What is missing and how to give it.
pub fn advice() -> Reason {
    // The sysctl is IPv6's too.
    let range = fs::read_to_string("/proc/sys/net/ipv4/ping_group_range")
        .unwrap_or_else(|error| error.to_string());
    reason!("setup_no_icmp", range = range.trim().replace('\t', " "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_advice_names_the_sysctl_its_value_and_how_to_set_it() {
        let advice = super::advice();
        assert!(advice.contains("net.ipv4.ping_group_range is \""), "{advice}");
        assert!(
            advice.contains("sysctl -w net.ipv4.ping_group_range=\"0 2147483647\""),
            "{advice}"
        );
        assert!(advice.contains("CAP_NET_RAW") && !advice.contains('\n'), "{advice}");
    }
}
