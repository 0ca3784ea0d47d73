//! What a TCP connection has put on the wire and taken from it.

use std::os::fd::{AsRawFd, BorrowedFd};

/// Counts since the connection began, as the kernel keeps them; what an older kernel doesn't tell is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WireCounts {
    /// Payload bytes received in order, read by the program or not (kernel 4.1 and later).
    pub bytes_received: Option<u64>,
    /// Payload bytes sent, those sent again included (kernel 4.19 and later).
    pub bytes_sent: Option<u64>,
    /// Payload bytes sent again (kernel 4.19 and later).
    pub bytes_retransmitted: Option<u64>,
    /// Segments received, those without payload included (kernel 4.2 and later).
    pub segments_received: Option<u64>,
    /// Segments sent, those without payload included (kernel 4.2 and later).
    pub segments_sent: Option<u64>,
}

// Places in the kernel's `struct tcp_info` (linux/tcp.h), in bytes; fields are only ever appended to it.
const BYTES_RECEIVED: usize = 128;
const SEGMENTS_OUT: usize = 136;
const SEGMENTS_IN: usize = 140;
const BYTES_SENT: usize = 200;
const BYTES_RETRANSMITTED: usize = 208;
const NEEDED_BYTES: usize = 216;

/// Reads a connection's counts; none for a socket that is no TCP connection.
#[must_use]
pub fn wire_counts(socket: BorrowedFd<'_>) -> Option<WireCounts> {
    let mut raw = [0_u8; NEEDED_BYTES];
    let mut length = libc::socklen_t::try_from(raw.len()).ok()?;
    // SAFETY: `raw` is valid for writes of `length` bytes; the kernel writes at most that many.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            raw.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    (status == 0).then(|| of_structure(&raw[..length as usize]))
}

fn of_structure(told: &[u8]) -> WireCounts {
    let long = |place: usize| told.get(place..place + 8)?.try_into().ok().map(u64::from_ne_bytes);
    let word = |place: usize| {
        told.get(place..place + 4)?
            .try_into()
            .ok()
            .map(|bytes| u64::from(u32::from_ne_bytes(bytes)))
    };
    WireCounts {
        bytes_received: long(BYTES_RECEIVED),
        bytes_sent: long(BYTES_SENT),
        bytes_retransmitted: long(BYTES_RETRANSMITTED),
        segments_received: word(SEGMENTS_IN),
        segments_sent: word(SEGMENTS_OUT),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsFd;

    use super::{BYTES_RECEIVED, WireCounts, of_structure, wire_counts};

    #[test]
    fn a_connection_counts_what_it_sent_and_received() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mut near = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        let (mut far, _) = listener.accept().expect("accepts");
        near.write_all(b"seven b").expect("writes");
        far.read_exact(&mut [0; 7]).expect("reads");
        let (sent, received) =
            (wire_counts(near.as_fd()).expect("TCP"), wire_counts(far.as_fd()).expect("TCP"));
        assert_eq!((received.bytes_received, received.bytes_sent), (Some(7), Some(0)));
        assert_eq!((sent.bytes_sent, sent.bytes_retransmitted), (Some(7), Some(0)));
        // The handshake's last acknowledgement and the data; which of the two opens the count is the kernel's affair.
        assert!(received.segments_received >= Some(2), "{received:?}");
    }

    #[test]
    fn what_an_older_kernel_does_not_tell_is_absent() {
        let mut told = vec![0; BYTES_RECEIVED + 8];
        told[BYTES_RECEIVED..].copy_from_slice(&5_u64.to_ne_bytes());
        let expected = WireCounts { bytes_received: Some(5), ..WireCounts::default() };
        assert_eq!(of_structure(&told), expected);
    }

    #[test]
    fn a_udp_socket_has_none() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        assert_eq!(wire_counts(socket.as_fd()), None);
    }
}
