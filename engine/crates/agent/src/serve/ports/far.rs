//! How much longer a peer from far may take than one from near.

use std::os::fd::BorrowedFd;
use std::time::Duration;

/// A stranger that delays its packets gains no more than this by each of them.
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(5);

/// How long to wait for what a near peer does within `limit`, by what the kernel measured on the connection.
pub fn patience(limit: Duration, connection: BorrowedFd<'_>) -> Duration {
    let seconds = net::tcp_info(connection).map_or(0.0, |info| info.rtt_seconds);
    let round_trip = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    kinds::patience(limit, round_trip.min(LONGEST_ROUND_TRIP))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn a_near_peer_has_hardly_longer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        let limit = Duration::from_secs(2);
        let patience = patience(limit, far.as_fd());
        assert!(patience >= limit && patience < limit + Duration::from_secs(1), "{patience:?}");
    }
}
