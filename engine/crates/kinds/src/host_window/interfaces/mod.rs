//! Interface counters from `/proc/net/dev`, of the process's own network namespace.

pub mod carrier;
pub mod holder;
pub mod own_traffic;
mod watch;

use std::fs;

use proto::InterfaceWindow;

pub use own_traffic::OwnTraffic;
pub use watch::InterfaceWatch;

/// One interface's counters so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// The interface's name.
    pub name: String,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// Packets dropped on receipt.
    pub rx_dropped: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Packets dropped on sending.
    pub tx_dropped: u64,
}

/// Reads all interfaces' counters; none where they can't be read.
pub fn read() -> Option<Vec<Counters>> {
    Some(parse(&fs::read_to_string("/proc/net/dev").ok()?))
}

/// The interfaces of a `/proc/net/dev` text; lines of another form, such as its head, are none.
pub fn parse(text: &str) -> Vec<Counters> {
    text.lines().filter_map(parse_line).collect()
}

/// `name: bytes packets errs drop fifo frame compressed multicast bytes packets errs drop …`; a name may hold colons.
fn parse_line(line: &str) -> Option<Counters> {
    let (name, rest) = line.rsplit_once(':')?;
    let values: Vec<u64> =
        rest.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let value = |place: usize| values.get(place).copied();
    Some(Counters {
        name: name.trim().to_owned(),
        rx_bytes: value(0)?,
        rx_packets: value(1)?,
        rx_dropped: value(3)?,
        tx_bytes: value(8)?,
        tx_packets: value(9)?,
        tx_dropped: value(11)?,
    })
}

impl Counters {
    /// What was counted since `before`; none when the counters went back, as those of a new interface do.
    pub fn since(&self, before: &Self) -> Option<Self> {
        Some(Self {
            name: self.name.clone(),
            rx_bytes: self.rx_bytes.checked_sub(before.rx_bytes)?,
            rx_packets: self.rx_packets.checked_sub(before.rx_packets)?,
            rx_dropped: self.rx_dropped.checked_sub(before.rx_dropped)?,
            tx_bytes: self.tx_bytes.checked_sub(before.tx_bytes)?,
            tx_packets: self.tx_packets.checked_sub(before.tx_packets)?,
            tx_dropped: self.tx_dropped.checked_sub(before.tx_dropped)?,
        })
    }

    /// As a result carries it.
    pub fn into_window(self) -> InterfaceWindow {
        InterfaceWindow {
            name: self.name,
            rx_packets: self.rx_packets,
            tx_packets: self.tx_packets,
            rx_bytes: self.rx_bytes,
            tx_bytes: self.tx_bytes,
            rx_dropped: self.rx_dropped,
            tx_dropped: self.tx_dropped,
            ..InterfaceWindow::default()
        }
    }
}

/// What each interface counted between two readings; one that came or went meanwhile is left out.
pub fn differences(before: &[Counters], after: &[Counters]) -> Vec<Counters> {
    let pairs = after.iter().filter_map(|after| {
        let before = before.iter().find(|before| before.name == after.name)?;
        after.since(before)
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::{Counters, differences, parse};

    const HEAD: &str = "Inter-|   Receive                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n";

    fn text(lines: &str) -> Vec<Counters> {
        parse(&format!("{HEAD}{lines}"))
    }

    fn counters(name: &str, values: [u64; 6]) -> Counters {
        let [rx_bytes, rx_packets, rx_dropped, tx_bytes, tx_packets, tx_dropped] = values;
        let name = name.to_owned();
        Counters { name, rx_bytes, rx_packets, rx_dropped, tx_bytes, tx_packets, tx_dropped }
    }

    #[test]
    fn every_interface_line_is_read_and_the_head_is_not() {
        let found = text(
            "    lo: 100 2 0 0 0 0 0 0 100 2 0 0 0 0 0 0\n  eth0:18446744073709551615 8 1 3 0 0 0 5 50 4 2 6 0 0 0 0\n",
        );
        assert_eq!(
            found,
            [counters("lo", [100, 2, 0, 100, 2, 0]), counters("eth0", [u64::MAX, 8, 3, 50, 4, 6])]
        );
    }

    #[test]
    fn a_line_cut_short_or_of_no_numbers_is_left_out() {
        assert_eq!(text("  eth0: 1 2 3\n  eth1: a b c d e f g h i j k l m n o p\n\n"), []);
    }

    #[test]
    fn an_alias_keeps_its_colon() {
        assert_eq!(text("eth0:1: 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0\n")[0].name, "eth0:1");
    }

    #[test]
    fn differences_leave_out_interfaces_that_came_went_or_began_anew() {
        let before = [
            counters("lo", [10, 1, 0, 10, 1, 0]),
            counters("gone", [1; 6]),
            counters("renewed", [100; 6]),
        ];
        let after = [
            counters("lo", [110, 3, 1, 30, 2, 0]),
            counters("new", [1; 6]),
            counters("renewed", [5; 6]),
        ];
        assert_eq!(differences(&before, &after), [counters("lo", [100, 2, 1, 20, 1, 0])]);
    }
}
