//! Socket buffers as the kernels granted them: a limit of the host's may cut what was asked for.

use std::os::fd::{AsFd, OwnedFd};

use proto::{EndReport, Role};

use crate::end::End;
use crate::transport::Transport;

/// Linux books twice the size that it grants, for its own bookkeeping (socket(7)).
const BOOKED_PER_GRANTED: u64 = 2;

/// The sizes of one socket's buffers that a program may fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Buffers {
    send: u64,
    receive: u64,
}

impl Buffers {
    fn of_booked((send, receive): (u64, u64)) -> Self {
        Self { send: send / BOOKED_PER_GRANTED, receive: receive / BOOKED_PER_GRANTED }
    }

    fn least(self, other: Self) -> Self {
        Self { send: self.send.min(other.send), receive: self.receive.min(other.receive) }
    }
}

/// Tells what this end's sockets were granted, where a size was asked for, and flags another one.
pub fn tell(end: &End, transport: &dyn Transport, report: &mut EndReport) {
    let asked = end.settings.end(end.role).options.buffer_bytes as u64;
    if asked == 0 {
        return;
    }
    let granted = of_flows(&end.flows).or_else(|| of_any(end, transport));
    if let Some(granted) = granted {
        tell_granted(asked, granted, end.role, report);
    }
}

fn tell_granted(asked: u64, granted: Buffers, role: Role, report: &mut EndReport) {
    let name = if role == Role::Source { "source" } else { "sink" };
    let mut set = |key: &str, bytes: u64| {
        report.metrics.insert(format!("{name}_{key}_buffer_bytes"), bytes as f64);
    };
    set("send", granted.send);
    set("receive", granted.receive);
    if granted.send != asked || granted.receive != asked {
        report.flags.push("buffer_not_granted".to_owned());
    }
}

/// The least that any flow's socket was granted.
fn of_flows(flows: &[OwnedFd]) -> Option<Buffers> {
    let booked = flows.iter().filter_map(|flow| net::granted_buffers(flow.as_fd()).ok());
    booked.map(Buffers::of_booked).reduce(Buffers::least)
}

/// Connections that come and go are all granted the same: what one more would be.
fn of_any(end: &End, transport: &dyn Transport) -> Option<Buffers> {
    if transport.has_datagrams() {
        return None;
    }
    let anywhere = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
    let options = net::Options {
        buffer_bytes: end.settings.end(end.role).options.buffer_bytes,
        ..net::Options::default()
    };
    let socket = net::open_tcp(anywhere, &net::LocalEnd::default(), &options).ok()?;
    net::granted_buffers(socket.as_fd()).ok().map(Buffers::of_booked)
}

#[cfg(test)]
mod tests {
    use proto::{EndReport, Role};

    use super::{Buffers, of_flows, tell_granted};

    const MEBIBYTE: u64 = 1 << 20;

    fn told(asked: u64, granted: Buffers) -> (Vec<f64>, Vec<String>) {
        let mut report = EndReport::default();
        tell_granted(asked, granted, Role::Sink, &mut report);
        (report.metrics.into_values().collect(), report.flags)
    }

    #[test]
    fn a_buffer_that_a_sysctl_caps_is_told_as_granted_and_flagged() {
        let granted = Buffers { send: 4 * MEBIBYTE, receive: 6 * MEBIBYTE };
        let (sizes, flags) = told(64 * MEBIBYTE, granted);
        assert_eq!(sizes, [6.0 * MEBIBYTE as f64, 4.0 * MEBIBYTE as f64]);
        assert_eq!(flags, ["buffer_not_granted"]);
    }

    #[test]
    fn one_that_was_granted_has_no_flag_and_one_below_the_kernels_least_has() {
        assert_eq!(told(MEBIBYTE, Buffers { send: MEBIBYTE, receive: MEBIBYTE }).1, [""; 0]);
        assert_eq!(told(1, Buffers { send: 2_304, receive: 1_152 }).1, ["buffer_not_granted"]);
    }

    #[test]
    fn the_socket_that_was_granted_least_counts_and_half_of_what_is_booked() {
        let anywhere = std::net::SocketAddr::from(([127, 0, 0, 1], 1));
        let socket = |buffer_bytes| {
            let options = net::Options { buffer_bytes, ..net::Options::default() };
            net::open_tcp(anywhere, &net::LocalEnd::default(), &options).expect("a socket")
        };
        let flows = [socket(64 << 10), socket(32 << 10)];
        assert_eq!(of_flows(&flows), Some(Buffers { send: 32 << 10, receive: 32 << 10 }));
        assert_eq!(of_flows(&[]), None);
    }
}
