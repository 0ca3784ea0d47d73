//! What a socket could not take.

use std::os::fd::{AsFd, AsRawFd};

/// Words of `SO_MEMINFO` (`linux/sock_diag.h`); drops are the last.
const MEMORY_WORDS: usize = 9;
const DROPS_PLACE: usize = 8;

/// Packets that a socket had no room for since it was made; absent before kernel 4.12.
#[must_use]
pub fn socket_drops(socket: &impl AsFd) -> Option<u32> {
    let mut words = [0_u32; MEMORY_WORDS];
    let mut length = libc::socklen_t::try_from(std::mem::size_of_val(&words)).ok()?;
    // SAFETY: `words` is valid for writes of `length` bytes; the kernel writes at most that many.
    let status = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            words.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let is_written = length as usize >= std::mem::size_of_val(&words);
    (status == 0 && is_written).then(|| words[DROPS_PLACE])
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::socket_drops;

    #[test]
    fn datagrams_that_find_the_socket_full_are_counted() {
        const SENT: u32 = 10_000;
        let receiver = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        let sender = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        sender.connect(receiver.local_addr().expect("bound")).expect("connects");
        assert_eq!(socket_drops(&receiver), Some(0));
        (0..SENT).for_each(|_| assert_eq!(sender.send(&[0; 1_000]).expect("sends"), 1_000));
        receiver.set_nonblocking(true).expect("a socket");
        let mut buffer = [0; 2_000];
        let taken = std::iter::from_fn(|| receiver.recv(&mut buffer).ok()).count();
        assert_eq!(socket_drops(&receiver), Some(SENT - u32::try_from(taken).expect("few")));
    }
}
