//! Round trips between two threads over the loopback: the kernel's own part of a packet's way.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use proto::CanaryFigure;

use super::{figure, passes, pin};

/// Round trips of a pass, a few milliseconds.
const TRIPS: usize = 300;
/// A loopback that loses packets ends the part.
const PATIENCE: Duration = Duration::from_millis(100);

/// Measures them with both threads on one CPU: which one the kernel would choose is no figure of the host.
pub fn round_trips(cpu: Option<usize>) -> Option<CanaryFigure> {
    let (near, far) = connected_pair()?;
    let seconds = thread::scope(|scope| {
        scope.spawn(move || {
            pin(cpu);
            answer(far);
        });
        // Dropped at the end of this block, which ends the other thread.
        let mut near = near;
        passes(|| (0..TRIPS).try_for_each(|_| trip(&mut near)))
    });
    let each = seconds.into_iter().map(|seconds| seconds / TRIPS as f64);
    figure("loopback_round_trip_seconds", "s", each.collect())
}

/// Two ends of a connection; none where the host has no loopback, or somebody else came first.
fn connected_pair() -> Option<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    let near = TcpStream::connect_timeout(&listener.local_addr().ok()?, PATIENCE).ok()?;
    let (far, from) = listener.accept().ok()?;
    for end in [&near, &far] {
        end.set_nodelay(true).ok()?;
        end.set_read_timeout(Some(PATIENCE)).ok()?;
    }
    (from == near.local_addr().ok()?).then_some((near, far))
}

fn trip(near: &mut TcpStream) -> Option<()> {
    near.write_all(&[1]).ok()?;
    near.read_exact(&mut [0]).ok()
}

/// Sends each byte back until there are no more.
fn answer(mut far: TcpStream) {
    let mut byte = [0];
    while far.read_exact(&mut byte).and_then(|()| far.write_all(&byte)).is_ok() {}
}
