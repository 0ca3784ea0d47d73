//! The counters of the interface that carries a test, interval by interval.

use std::net::SocketAddr;

use proto::InterfaceCount;

use super::{Counters, carrier};

/// Looks at one interface again and again.
#[derive(Debug)]
pub struct InterfaceWatch {
    last: Counters,
}

impl InterfaceWatch {
    /// Begins with the interface of a connected socket's addresses; none where these don't tell which.
    pub fn begin(local: SocketAddr, peer: SocketAddr, device: Option<&str>) -> Option<Self> {
        let name = carrier::of_socket(Some(local), Some(peer), device)?;
        Some(Self { last: now(&name)? })
    }

    /// What it has counted since the last look; none when its counters went back or are gone.
    pub fn look(&mut self) -> Option<InterfaceCount> {
        let now = now(&self.last.name)?;
        let counted = now.since(&self.last);
        self.last = now;
        counted.map(|counted| InterfaceCount {
            name: counted.name,
            rx_packets: counted.rx_packets,
            tx_packets: counted.tx_packets,
            rx_bytes: counted.rx_bytes,
            tx_bytes: counted.tx_bytes,
        })
    }
}

fn now(name: &str) -> Option<Counters> {
    super::read()?.into_iter().find(|counters| counters.name == name)
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::InterfaceWatch;

    #[test]
    fn each_look_tells_what_came_since_the_last() {
        const BYTES: usize = 1_000;
        let (near, far) =
            (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let (local, peer) = (near.local_addr().unwrap(), far.local_addr().unwrap());
        let mut watch = InterfaceWatch::begin(local, peer, None).expect("the loopback");
        (0..10).for_each(|_| assert_eq!(near.send_to(&[7; BYTES], peer).unwrap(), BYTES));
        let counted = watch.look().expect("it is still there");
        assert_eq!(counted.name, "lo");
        assert!(counted.rx_packets >= 10 && counted.rx_bytes >= 10 * BYTES as u64, "{counted:?}");
    }
}
