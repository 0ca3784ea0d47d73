//! What the kernel knows of a TCP connection.

use std::os::fd::{AsRawFd, BorrowedFd};

/// Figures of `TCP_INFO` that results carry; what the kernel doesn't tell is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TcpInfo {
    /// Segments sent again since the connection began.
    pub retransmits: u32,
    /// Congestion window, in bytes.
    pub congestion_window_bytes: u64,
    /// Smoothed round-trip time, in seconds.
    pub rtt_seconds: f64,
    /// Segments with data received since the connection began (kernel 4.6 and later).
    pub data_segments_received: Option<u64>,
}

/// The head of the kernel's `struct tcp_info`; fields are only ever appended to it.
#[repr(C)]
#[derive(Default)]
struct KernelTcpInfo {
    state_to_window_scale: [u8; 8],
    words: [u32; 24],
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segments_out: u32,
    segments_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segments_in: u32,
    data_segments_out: u32,
}

// Places of the u32 fields after the eight bytes, in the order of linux/tcp.h.
const WORD_SEND_MSS: usize = 2;
const WORD_RTT_MICROSECONDS: usize = 15;
const WORD_SEND_WINDOW: usize = 18;
const WORD_TOTAL_RETRANSMITS: usize = 23;
const DATA_SEGMENTS_IN_END: usize = std::mem::offset_of!(KernelTcpInfo, data_segments_in) + 4;

/// Reads `TCP_INFO`, or nothing where the socket has none.
#[must_use]
pub fn tcp_info(socket: BorrowedFd<'_>) -> Option<TcpInfo> {
    let mut raw = KernelTcpInfo::default();
    let mut length = libc::socklen_t::try_from(std::mem::size_of::<KernelTcpInfo>()).ok()?;
    // SAFETY: `raw` is plain integers, valid for writes of `length` bytes; the kernel writes at most that many.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut raw).cast(),
            &raw mut length,
        )
    };
    (status == 0).then(|| raw.readable(length as usize))
}

impl KernelTcpInfo {
    fn readable(&self, length: usize) -> TcpInfo {
        let word = |place: usize| self.words[place];
        TcpInfo {
            retransmits: word(WORD_TOTAL_RETRANSMITS),
            congestion_window_bytes: u64::from(word(WORD_SEND_WINDOW))
                * u64::from(word(WORD_SEND_MSS)),
            rtt_seconds: f64::from(word(WORD_RTT_MICROSECONDS)) / 1e6,
            data_segments_received: (length >= DATA_SEGMENTS_IN_END)
                .then(|| u64::from(self.data_segments_in)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsFd;

    use super::tcp_info;

    #[test]
    fn a_connection_counts_its_data_segments_and_knows_its_window() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mut near = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        let (mut far, _) = listener.accept().expect("accepts");
        near.write_all(b"three").expect("writes");
        far.read_exact(&mut [0; 5]).expect("reads");
        let info = tcp_info(far.as_fd()).expect("a TCP socket has it");
        assert_eq!(info.data_segments_received, Some(1));
        assert_eq!(info.retransmits, 0);
        assert!(info.congestion_window_bytes >= 1_000);
        assert!(tcp_info(near.as_fd()).expect("a TCP socket has it").rtt_seconds > 0.0);
    }

    #[test]
    fn a_udp_socket_has_none() {
        assert_eq!(tcp_info(UdpSocket::bind("127.0.0.1:0").expect("a port is free").as_fd()), None);
    }
}
