//! What datagrams must fit: a rate, and, as segments, the path.

use std::os::fd::{AsFd, OwnedFd};

use proto::{Reason, reason};

use crate::outcome::streams::Stream;

/// Refuses datagrams greater than a flow's rate of a second: they can't be cut, and whenever one is sent, the rate is
/// broken.
pub fn check_rate(stream: &Stream) -> Result<(), Reason> {
    let second = stream.flow_rate_bps() / 8.0;
    if second <= 0.0 || stream.message_bytes as f64 <= second {
        return Ok(());
    }
    Err(reason!(
        "setup_datagram_too_large",
        bytes = stream.message_bytes,
        rate = stream.flow_rate_bps().to_string(),
        most = format!("{:.0}", second.floor())
    ))
}

/// Refuses segments that don't fit the path, as the kernel would: they are never fragmented.
pub fn check_segments(message_bytes: usize, flows: &[OwnedFd]) -> Result<(), Reason> {
    let is_too_long = flows.iter().find_map(|flow| {
        let socket = flow.as_fd();
        let is_ipv4 = net::local_address(socket).is_ok_and(|address| address.is_ipv4());
        too_long(message_bytes, net::path_mtu(socket, is_ipv4)?, is_ipv4)
    });
    is_too_long.map_or(Ok(()), Err)
}

fn too_long(message_bytes: usize, mtu: usize, is_ipv4: bool) -> Option<Reason> {
    let most = mtu.saturating_sub(if is_ipv4 { 28 } else { 48 });
    (message_bytes > most)
        .then(|| reason!("setup_segment_too_large", bytes = message_bytes, mtu = mtu, most = most))
}

#[cfg(test)]
mod tests {
    use super::too_long;
    use crate::kinds;
    use crate::settings::Settings;

    #[test]
    fn a_datagram_must_fit_a_flows_rate_of_a_second_and_tcp_is_cut() {
        let check = |kind: &str, rate: u64, flows: u64| {
            let given = proto::Params::from([
                ("rate_bps", rate.into()),
                ("flows", flows.into()),
                ("message_size_bytes", 1_000.into()),
                ("duration_seconds", 60.into()),
            ]);
            let params = proto::Catalog::embedded().fill(kind, &given).expect("in bounds");
            let settings = Settings::read(&params).expect("valid");
            kinds::find(kind).expect("a kind")(&params, &settings).map(|_| ())
        };
        let udp = |rate, flows| check("udp_stream", rate, flows);
        assert_eq!([udp(0, 1), udp(8_000, 1), udp(16_000, 2)], [Ok(()), Ok(()), Ok(())]);
        assert_eq!(check("tcp_stream", 4_000, 1), Ok(()));
        let reason = udp(15_000, 2).expect_err("a datagram takes more than a second");
        assert_eq!(
            &*reason,
            "message_size_bytes is 1000, more than the 7500 bit/s of each flow are in a second; the largest datagram \
             that fits is 937 B: ask for that, or for a higher rate"
        );
    }

    #[test]
    fn segments_must_fit_the_path_with_their_headers() {
        assert_eq!(too_long(1_472, 1_500, true), None);
        assert_eq!(too_long(1_452, 1_500, false), None);
        let reason = too_long(1_453, 1_500, false).expect("one byte too long");
        assert!(
            reason.contains("can't send 1453 bytes") && reason.contains("leaves 1452"),
            "{reason}"
        );
    }
}
