//! What a link can carry of payload at most, from its speed and MTU.

use std::net::IpAddr;

use proto::{EndReport, Facts, Metrics, Params};

use super::known::carrier;

/// Preamble and start (8), addresses and type (14), check sequence (4), gap (12) of each Ethernet frame.
const FRAMING_BYTES: u64 = 38;
/// The least that a frame carries.
const LEAST_FRAME_PAYLOAD: u64 = 46;
const IPV4_BYTES: u64 = 20;
const IPV6_BYTES: u64 = 40;
const IPV6_FRAGMENT_BYTES: u64 = 8;
/// Fragments begin at multiples of this.
const FRAGMENT_UNIT: u64 = 8;
const TCP_BYTES: u64 = 20;
const TCP_TIMESTAMP_BYTES: u64 = 12;
const UDP_BYTES: u64 = 8;

/// What a test's packets look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packets {
    mtu: u64,
    is_ipv6: bool,
}

impl Packets {
    fn ip_bytes(self) -> u64 {
        if self.is_ipv6 { IPV6_BYTES } else { IPV4_BYTES }
    }

    /// Payload per byte of wire time of full TCP segments.
    fn tcp_share(self, has_timestamps: bool) -> Option<f64> {
        let options = if has_timestamps { TCP_TIMESTAMP_BYTES } else { 0 };
        let payload = self.mtu.checked_sub(self.ip_bytes() + TCP_BYTES + options)?;
        (payload > 0).then(|| payload as f64 / (self.mtu + FRAMING_BYTES) as f64)
    }

    /// Payload per byte of wire time of datagrams, in fragments where one frame doesn't hold them.
    fn udp_share(self, message_bytes: u64) -> Option<f64> {
        let data = message_bytes + UDP_BYTES;
        if data + self.ip_bytes() <= self.mtu {
            let wire = (data + self.ip_bytes()).max(LEAST_FRAME_PAYLOAD) + FRAMING_BYTES;
            return Some(message_bytes as f64 / wire as f64);
        }
        let header = self.ip_bytes() + if self.is_ipv6 { IPV6_FRAGMENT_BYTES } else { 0 };
        let room = self.mtu.checked_sub(header)? / FRAGMENT_UNIT * FRAGMENT_UNIT;
        let frames = data.div_ceil(if room > 0 { room } else { return None });
        let last = (data - (frames - 1) * room + header).max(LEAST_FRAME_PAYLOAD);
        let wire = (frames - 1) * (room + header) + last + frames * FRAMING_BYTES;
        Some(message_bytes as f64 / wire as f64)
    }
}

/// Adds the ceiling of each direction: of the slower of both ends' links, and with the smaller MTU of both.
/// What the driver doesn't tell leaves it absent; a path with a slower link in its middle has a lower one.
pub fn add_ceilings(
    metrics: &mut Metrics,
    params: &Params,
    (source, sink): (&EndReport, &EndReport),
    facts: [Option<&Facts>; 2],
    address: Option<IpAddr>,
) {
    let keys = ["throughput_bps", "reverse_throughput_bps"].into_iter();
    let measured: Vec<&str> = keys.filter(|key| metrics.contains_key(*key)).collect();
    let Some(ceiling) = ceiling(params, source, sink, facts, address) else {
        return;
    };
    for key in measured {
        metrics.insert(key.replace("throughput_bps", "payload_ceiling_bps"), ceiling);
    }
}

fn ceiling(
    params: &Params,
    source: &EndReport,
    sink: &EndReport,
    facts: [Option<&Facts>; 2],
    address: Option<IpAddr>,
) -> Option<f64> {
    let ends = [carrier(source.host.as_ref()?)?, carrier(sink.host.as_ref()?)?];
    let speed_bps = ends.iter().map(|end| end.speed_bps).collect::<Option<Vec<_>>>()?;
    let mtu = ends.iter().map(|end| end.mtu_bytes).collect::<Option<Vec<_>>>()?;
    let packets = Packets {
        mtu: (*mtu.iter().min()?).into(),
        is_ipv6: matches!(address?.to_canonical(), IpAddr::V6(_)),
    };
    let share = if is_udp(params) {
        let message = params.integer("message_size_bytes").ok()?;
        packets.udp_share(message)?
    } else {
        packets.tcp_share(facts.into_iter().flatten().all(has_timestamps))?
    };
    Some(*speed_bps.iter().min()? as f64 * share)
}

/// Of the two stream kinds only TCP has a congestion control to choose.
fn is_udp(params: &Params) -> bool {
    !params.has("congestion_control")
}

fn has_timestamps(facts: &Facts) -> bool {
    facts.sysctls.get("net.ipv4.tcp_timestamps").is_none_or(|value| value != "0")
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use proto::{EndReport, HostWindow, InterfaceWindow, Metrics, Params};

    use super::{Packets, add_ceilings};

    const GIGABIT: u64 = 1_000_000_000;

    fn end(speed_bps: Option<u64>, mtu_bytes: u32) -> EndReport {
        let interface = InterfaceWindow {
            name: "eth0".to_owned(),
            carries_test: true,
            speed_bps,
            mtu_bytes: Some(mtu_bytes),
            ..InterfaceWindow::default()
        };
        let host =
            HostWindow { seconds: 1.0, interfaces: vec![interface], ..HostWindow::default() };
        EndReport { host: Some(host), ..EndReport::default() }
    }

    fn ceiling(source: &EndReport, sink: &EndReport) -> Metrics {
        let mut metrics = Metrics::from([("reverse_throughput_bps".to_owned(), 1.0)]);
        let mut params = Params::default();
        params.set("congestion_control", "");
        let address = Some(IpAddr::from(Ipv4Addr::LOCALHOST));
        add_ceilings(&mut metrics, &params, (source, sink), [None, None], address);
        metrics
    }

    #[test]
    fn a_gigabit_carries_941_megabits_of_tcp_payload() {
        let packets = Packets { mtu: 1_500, is_ipv6: false };
        let bps = |share: Option<f64>| (share.expect("it fits") * 1e9).round() / 1e3;
        assert_eq!(bps(packets.tcp_share(true)).to_bits(), 941_482.445_f64.to_bits());
        assert_eq!(bps(packets.tcp_share(false)).to_bits(), 949_284.785_f64.to_bits());
        let ipv6 = Packets { mtu: 1_500, is_ipv6: true };
        assert_eq!(bps(ipv6.tcp_share(true)).to_bits(), 928_478.544_f64.to_bits());
    }

    #[test]
    fn datagrams_that_one_frame_does_not_hold_cost_fragments() {
        let packets = Packets { mtu: 1_500, is_ipv6: false };
        let wire = |message: u64| message as f64 / packets.udp_share(message).expect("it fits");
        // 1,472 B and 28 B of headers fill a frame; one byte more costs a whole one.
        assert_eq!(wire(1_472).round().to_bits(), 1_538_f64.to_bits());
        assert_eq!(wire(1_473).round().to_bits(), (1_538_f64 + 84.0).to_bits());
        // The least frame: 64 B and 20 B around it.
        assert_eq!(wire(1).round().to_bits(), 84_f64.to_bits());
        assert_eq!(wire(64).round().to_bits(), 130_f64.to_bits());
    }

    #[test]
    fn the_slower_link_and_the_smaller_mtu_count_for_each_direction_measured() {
        let metrics = ceiling(&end(Some(10 * GIGABIT), 9_000), &end(Some(GIGABIT), 1_500));
        assert!((metrics["reverse_payload_ceiling_bps"] - 941_482_444.7).abs() < 1.0);
        assert!(!metrics.contains_key("payload_ceiling_bps"));
    }

    #[test]
    fn a_link_whose_speed_is_not_told_has_no_ceiling() {
        assert_eq!(ceiling(&end(Some(GIGABIT), 1_500), &end(None, 1_500)).len(), 1);
        assert_eq!(ceiling(&EndReport::default(), &end(Some(GIGABIT), 1_500)).len(), 1);
    }
}
