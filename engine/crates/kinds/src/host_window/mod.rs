//! What happened on this host while a test was measured.
//!
//! A [`Meter`] reads everything at both ends of the window; `report` makes of it what results carry, `flags` judges it.

mod clock;
mod cpu;
mod flags;
mod frequency;
mod history;
mod interfaces;
mod load;
mod report;
mod surroundings;
mod transactions;

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Instant;

use net::WireCounts;

use clock::ClockWatch;
use cpu::{HostShares, HostTicks};
use frequency::{Frequencies, FrequencyWatch};
use interfaces::{Counters, own_traffic};

pub use flags::{Ends, flags, tell_others};
pub use history::{History, Sample};
pub use interfaces::{InterfaceWatch, OwnTraffic};
pub use load::host_load;
pub use report::{Scene, add_to};
pub use surroundings::Surroundings;
pub use transactions::see_through;

const CPU_FOLDER: &str = "/sys/devices/system/cpu";

/// Measures one window; begun at its begin.
#[derive(Debug)]
pub struct Meter {
    begin: Reading,
    clock: ClockWatch,
    frequency: FrequencyWatch,
}

/// All counters at one time.
#[derive(Debug)]
struct Reading {
    process_seconds: f64,
    connections: Vec<WireCounts>,
    interfaces: Option<Vec<Counters>>,
    at: Instant,
    /// From the first connection's count to the interfaces'.
    skew_seconds: f64,
    ticks: Option<HostTicks>,
}

/// What happened in a window.
#[derive(Debug, Clone)]
pub struct Occurred {
    /// Its length, between the two readings of the interfaces.
    pub seconds: f64,
    /// How far apart the connections and the interfaces were read, both ends of the window together.
    skew_seconds: f64,
    /// User and system time of this process, in seconds.
    process_seconds: f64,
    shares: Option<HostShares>,
    interfaces: Vec<Counters>,
    connections: Option<OwnTraffic>,
    retransmitted_bytes: Option<u64>,
    step_seconds: f64,
    frequencies: Option<Frequencies>,
}

impl Meter {
    /// Begins a window of a test on these TCP connections, with threads pinned to these CPUs.
    pub fn begin(connections: &[BorrowedFd<'_>], pinned: &[usize]) -> Self {
        let ticks = HostTicks::read();
        let logical = ticks.as_ref().map_or(0, HostTicks::cores);
        let frequency = FrequencyWatch::start(Path::new(CPU_FOLDER), pinned, logical);
        Self { clock: ClockWatch::start(), frequency, begin: Reading::take(connections) }
    }

    /// Looks in between at what may come and go.
    pub fn look(&mut self) {
        self.clock.look();
        self.frequency.look();
    }

    /// Ends the window.
    pub fn finish(mut self, connections: &[BorrowedFd<'_>]) -> Occurred {
        let (begin, end) = (&self.begin, Reading::take(connections));
        let shares = end.ticks.as_ref().zip(begin.ticks.as_ref());
        let shares = shares.and_then(|(after, before)| after.since(before));
        let interfaces = begin.interfaces.as_ref().zip(end.interfaces.as_ref());
        let (before, after) = (&begin.connections, &end.connections);
        self.clock.look();
        self.frequency.look();
        Occurred {
            seconds: end.at.saturating_duration_since(begin.at).as_secs_f64(),
            skew_seconds: begin.skew_seconds + end.skew_seconds,
            process_seconds: end.process_seconds - begin.process_seconds,
            frequencies: shares
                .as_ref()
                .and_then(|shares| self.frequency.of_busy_cores(&shares.cores)),
            shares,
            interfaces: interfaces
                .map(|(before, after)| interfaces::differences(before, after))
                .unwrap_or_default(),
            connections: OwnTraffic::of_connections(before, after),
            retransmitted_bytes: own_traffic::spent(before, after, |counts| {
                counts.bytes_retransmitted
            }),
            step_seconds: self.clock.step_seconds(),
        }
    }
}

impl Occurred {
    /// The same with the CPU time of programs that the test started.
    pub fn with_children(&self, seconds: f64) -> Self {
        Self { process_seconds: self.process_seconds + seconds, ..self.clone() }
    }
}

impl Reading {
    fn take(connections: &[BorrowedFd<'_>]) -> Self {
        let process_seconds = net::process_cpu_seconds();
        let begun = Instant::now();
        let connections =
            connections.iter().filter_map(|socket| net::wire_counts(*socket)).collect();
        let interfaces = interfaces::read();
        let at = Instant::now();
        let skew_seconds = (at - begun).as_secs_f64();
        let ticks = HostTicks::read();
        Self { process_seconds, connections, interfaces, at, skew_seconds, ticks }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::Meter;

    #[test]
    fn a_megabyte_over_the_loopback_is_in_its_counters_and_in_the_connections() {
        const BYTES: u32 = 1_000_000;
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mut near = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        let (mut far, _) = listener.accept().expect("accepts");
        let meter = Meter::begin(&[near.as_fd()], &[]);
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            far.read_to_end(&mut bytes).map(|_| bytes.len())
        });
        near.write_all(&vec![7; BYTES as usize]).expect("writes");
        near.shutdown(std::net::Shutdown::Write).expect("shuts down");
        assert_eq!(reader.join().expect("reads").expect("reads"), BYTES as usize);
        let occurred = meter.finish(&[near.as_fd()]);
        let loopback = occurred.interfaces.iter().find(|interface| interface.name == "lo");
        assert!(loopback.expect("there is a loopback").rx_bytes >= u64::from(BYTES));
        // A machine that stalls sends the last packets again, and what was sent has both.
        let again = net::wire_counts(near.as_fd()).and_then(|counts| counts.bytes_retransmitted);
        let sent = u64::from(BYTES) + again.expect("Linux counts what it sends again");
        assert_eq!(occurred.connections.map(|own| own.tx_bytes), Some(sent));
        // The end of a stream counts as one byte.
        assert!(occurred.connections.is_some_and(|own| own.rx_bytes <= 1));
        assert!(occurred.seconds > 0.0 && occurred.skew_seconds < occurred.seconds);
        assert!(occurred.process_seconds > 0.0);
    }
}
