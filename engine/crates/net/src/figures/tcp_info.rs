//! What the kernel knows of a TCP connection.

use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Figures of `TCP_INFO` that results carry; what the kernel doesn't tell is absent.
///
/// Counts and times are of the connection's whole life. The times come from the kernel's TCP chronograph, which
/// counts in ticks of 1 to 10 ms; it is in exactly one state at a time, so the two limited times are disjoint parts of
/// the busy time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TcpInfo {
    /// Segments sent again.
    pub retransmits: u32,
    /// Congestion window, in bytes.
    pub congestion_window_bytes: u64,
    /// Smoothed round-trip time, in seconds.
    pub rtt_seconds: f64,
    /// Mean deviation of the round-trip time, in seconds.
    pub rtt_variation_seconds: f64,
    /// Least round-trip time seen lately, in seconds (kernel 4.6 and later, once there was one).
    pub minimum_rtt_seconds: Option<f64>,
    /// Data segments received (kernel 4.6 and later).
    pub data_segments_received: Option<u64>,
    /// Data segments sent, those sent again included (kernel 4.6 and later).
    pub data_segments_sent: Option<u64>,
    /// Latest delivery rate, in bits per second (kernel 4.9 and later).
    pub delivery_rate_bps: Option<f64>,
    /// Whether the application, not the path, bounded that rate (kernel 4.9 and later).
    pub is_delivery_application_limited: Option<bool>,
    /// Time with data to send or in flight, in seconds (kernel 4.10 and later).
    pub busy_seconds: Option<f64>,
    /// Of that, time in which the receiver's window allowed nothing more, in seconds.
    pub receiver_limited_seconds: Option<f64>,
    /// Of that, time in which the send buffer was too small to hold more, in seconds.
    pub send_buffer_limited_seconds: Option<f64>,
    /// Payload bytes sent again (kernel 4.19 and later).
    pub retransmitted_bytes: Option<u64>,
    /// Segments that were sent and not acknowledged yet.
    pub unacknowledged_segments: u32,
    /// Payload bytes that the peer has acknowledged (kernel 4.1 and later).
    pub acknowledged_bytes: Option<u64>,
    /// Payload bytes received in order (kernel 4.1 and later).
    pub received_bytes: Option<u64>,
    /// Time since the peer's kernel acknowledged anything, in seconds.
    pub silence_seconds: f64,
}

/// The head of the kernel's `struct tcp_info`; fields are only ever appended to it.
#[repr(C)]
#[derive(Default)]
struct KernelTcpInfo {
    state_to_flags: [u8; 8],
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
    delivery_rate: u64,
    busy_time: u64,
    receiver_limited: u64,
    send_buffer_limited: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retransmitted: u64,
}

// Places of the u32 fields after the eight bytes, in the order of linux/tcp.h.
const WORD_SEND_MSS: usize = 2;
const WORD_UNACKNOWLEDGED: usize = 4;
const WORD_LAST_ACKNOWLEDGEMENT_MILLISECONDS: usize = 12;
const WORD_RTT_MICROSECONDS: usize = 15;
const WORD_RTT_VARIATION_MICROSECONDS: usize = 16;
const WORD_SEND_WINDOW: usize = 18;
const WORD_TOTAL_RETRANSMITS: usize = 23;
/// The eighth byte holds bit fields; the first of them says that the application bounded the delivery rate.
const FLAGS_PLACE: usize = 7;
/// C compilers fill bit fields from the end of the byte that the word order begins with.
const APPLICATION_LIMITED: u8 = if cfg!(target_endian = "little") { 0x01 } else { 0x80 };
/// Where the part ends that every kernel since 2.6 has.
const LEAST_BYTES: usize = offset_of!(KernelTcpInfo, pacing_rate);
/// `min_rtt` before the first sample.
const NO_RTT_YET: u32 = u32::MAX;

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
    // Emulators of system calls answer with less than any kernel ever did: that is nothing, not zeros.
    (status == 0 && length as usize >= LEAST_BYTES).then(|| raw.readable(length as usize))
}

/// The value of a field that an older kernel may not have written: only what `length` covers was.
macro_rules! written {
    ($raw:expr, $length:expr, $field:ident) => {{
        let end = offset_of!(KernelTcpInfo, $field) + std::mem::size_of_val(&$raw.$field);
        ($length >= end).then_some($raw.$field)
    }};
}

impl KernelTcpInfo {
    fn readable(&self, length: usize) -> TcpInfo {
        let word = |place: usize| self.words[place];
        let minimum_rtt = written!(self, length, min_rtt).filter(|&rtt| rtt != NO_RTT_YET);
        let delivery_rate = written!(self, length, delivery_rate);
        TcpInfo {
            retransmits: word(WORD_TOTAL_RETRANSMITS),
            congestion_window_bytes: u64::from(word(WORD_SEND_WINDOW))
                * u64::from(word(WORD_SEND_MSS)),
            rtt_seconds: seconds(word(WORD_RTT_MICROSECONDS).into()),
            rtt_variation_seconds: seconds(word(WORD_RTT_VARIATION_MICROSECONDS).into()),
            minimum_rtt_seconds: minimum_rtt.map(|rtt| seconds(rtt.into())),
            data_segments_received: written!(self, length, data_segments_in).map(u64::from),
            data_segments_sent: written!(self, length, data_segments_out).map(u64::from),
            delivery_rate_bps: delivery_rate.map(bits_per_second),
            is_delivery_application_limited: delivery_rate
                .map(|_| self.state_to_flags[FLAGS_PLACE] & APPLICATION_LIMITED != 0),
            busy_seconds: written!(self, length, busy_time).map(seconds),
            receiver_limited_seconds: written!(self, length, receiver_limited).map(seconds),
            send_buffer_limited_seconds: written!(self, length, send_buffer_limited).map(seconds),
            retransmitted_bytes: written!(self, length, bytes_retransmitted),
            unacknowledged_segments: word(WORD_UNACKNOWLEDGED),
            acknowledged_bytes: written!(self, length, bytes_acked),
            received_bytes: written!(self, length, bytes_received),
            silence_seconds: f64::from(word(WORD_LAST_ACKNOWLEDGEMENT_MILLISECONDS)) / 1e3,
        }
    }
}

#[allow(clippy::cast_precision_loss)] // Microseconds of a connection's life fit 53 bits.
fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}

#[allow(clippy::cast_precision_loss)] // A rate is no count: 53 bits are enough.
fn bits_per_second(bytes_per_second: u64) -> f64 {
    bytes_per_second as f64 * 8.0
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::mem::offset_of;
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::fd::AsFd;

    use super::{KernelTcpInfo, tcp_info};

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
        let sender = tcp_info(near.as_fd()).expect("a TCP socket has it");
        assert!(sender.rtt_seconds > 0.0 && sender.rtt_variation_seconds > 0.0);
        assert_eq!((info.data_segments_sent, sender.data_segments_sent), (Some(0), Some(1)));
        // The handshake's own byte is counted as one that was acknowledged.
        assert_eq!((info.received_bytes, sender.acknowledged_bytes), (Some(5), Some(6)));
        assert!(sender.silence_seconds < 5.0, "{} s", sender.silence_seconds);
    }

    #[test]
    fn a_sender_whose_receiver_reads_nothing_is_busy_and_limited_by_the_receiver() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mut near = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        let (_far, _) = listener.accept().expect("accepts");
        near.set_nonblocking(true).expect("a socket");
        let message = vec![0; 65_536];
        while near.write(&message).is_ok() {}
        let before = std::time::Instant::now();
        let begin = tcp_info(near.as_fd()).expect("a TCP socket has it");
        std::thread::sleep(std::time::Duration::from_millis(200));
        let end = tcp_info(near.as_fd()).expect("a TCP socket has it");
        let change = |figure: fn(&super::TcpInfo) -> Option<f64>| {
            figure(&end).expect("this kernel tells") - figure(&begin).expect("this kernel tells")
        };
        let busy = change(|info| info.busy_seconds);
        let seconds = before.elapsed().as_secs_f64();
        assert!((0.18..seconds + 0.02).contains(&busy), "busy for {busy} s of {seconds} s");
        assert!((change(|info| info.receiver_limited_seconds) - busy).abs() < 0.03);
        assert!(change(|info| info.send_buffer_limited_seconds) < 0.03);
    }

    #[test]
    fn a_udp_socket_has_none() {
        assert_eq!(tcp_info(UdpSocket::bind("127.0.0.1:0").expect("a port is free").as_fd()), None);
    }

    #[test]
    fn the_layout_is_the_kernels() {
        // Offsets of linux/tcp.h, counted from its declaration.
        assert_eq!(offset_of!(KernelTcpInfo, pacing_rate), 104);
        assert_eq!(offset_of!(KernelTcpInfo, min_rtt), 148);
        assert_eq!(offset_of!(KernelTcpInfo, delivery_rate), 160);
        assert_eq!(offset_of!(KernelTcpInfo, busy_time), 168);
        assert_eq!(offset_of!(KernelTcpInfo, delivered), 192);
        assert_eq!(offset_of!(KernelTcpInfo, bytes_retransmitted), 208);
    }

    #[test]
    fn what_an_older_kernel_does_not_write_is_absent_and_not_zero() {
        const KERNEL_3_10: usize = 104;
        const KERNEL_4_9: usize = 168;
        let mut raw = KernelTcpInfo::default();
        raw.words[16] = 250;
        raw.words[4] = 3;
        raw.state_to_flags[7] = super::APPLICATION_LIMITED;
        raw.delivery_rate = 1_000;
        let oldest = raw.readable(KERNEL_3_10);
        assert_eq!((oldest.minimum_rtt_seconds, oldest.data_segments_received), (None, None));
        assert_eq!((oldest.delivery_rate_bps, oldest.busy_seconds), (None, None));
        assert_eq!(oldest.unacknowledged_segments, 3);
        assert_eq!(oldest.is_delivery_application_limited, None);
        assert!((oldest.rtt_variation_seconds - 250e-6).abs() < 1e-12);
        let old = raw.readable(KERNEL_4_9);
        assert_eq!((old.delivery_rate_bps, old.busy_seconds), (Some(8_000.0), None));
        assert_eq!(old.is_delivery_application_limited, Some(true));
        let new = raw.readable(std::mem::size_of::<KernelTcpInfo>());
        assert_eq!((new.busy_seconds, new.retransmitted_bytes), (Some(0.0), Some(0)));
    }

    #[test]
    fn a_least_rtt_that_was_never_sampled_is_absent() {
        let raw = KernelTcpInfo { min_rtt: u32::MAX, ..KernelTcpInfo::default() };
        assert_eq!(raw.readable(std::mem::size_of::<KernelTcpInfo>()).minimum_rtt_seconds, None);
    }
}
