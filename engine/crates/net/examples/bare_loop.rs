//! The physical limit of a traffic engine: nothing but the system calls, one thread an end. What an engine measures
//! beside them is what it falls short of this; what this falls short of a wire is the kernel's.
//!
//! `bare_loop sink KIND ADDRESS:PORT CPU BYTES` and `bare_loop source KIND ADDRESS:PORT CPU BYTES SECONDS`, where KIND is
//! `tcp_stream`, `udp_stream`, `tcp_rr`, `udp_rr` or `tcp_crr`. The source prints one JSON object.

// Counts become rates: 53 bits are enough for a figure.
#![allow(clippy::cast_precision_loss)]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::{Duration, Instant};

type Outcome = Result<(), Box<dyn std::error::Error>>;

const RECEIVE_BYTES: usize = 256 * 1024;
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

struct Loop {
    kind: String,
    address: SocketAddr,
    cpu: usize,
    bytes: usize,
}

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [role, kind, address, cpu, bytes, rest @ ..] = words.as_slice() else {
        return Err("bare_loop sink|source KIND ADDRESS:PORT CPU BYTES [SECONDS]".into());
    };
    let it = Loop {
        kind: kind.clone(),
        address: address.parse()?,
        cpu: cpu.parse()?,
        bytes: bytes.parse()?,
    };
    if role == "sink" { it.sink() } else { it.source(rest.first().map_or(Ok(1.0), |s| s.parse())?) }
}

impl Loop {
    fn pin(&self) -> Outcome {
        Ok(net::pin_this_thread(self.cpu)?)
    }

    fn sink(&self) -> Outcome {
        let listener = TcpListener::bind(self.address)?;
        let datagrams = UdpSocket::bind(self.address)?;
        if self.kind == "tcp_crr" {
            return self.accept_each(&listener);
        }
        let (mut control, peer) = listener.accept()?;
        match self.kind.as_str() {
            "tcp_rr" => self.answer(control.as_fd()),
            "tcp_stream" => {
                let figures = self.receive_stream(control.as_fd())?;
                tell(&mut control, figures)
            }
            _ => {
                let mut port = [0; 2];
                control.read_exact(&mut port)?;
                datagrams.connect((peer.ip(), u16::from_be_bytes(port)))?;
                // Connected before the source sends: nobody else's datagrams count, and a shutdown wakes the loop.
                control.write_all(&[1])?;
                if self.kind == "udp_rr" {
                    return self.answer(datagrams.as_fd());
                }
                let watched = (control.try_clone()?, datagrams.try_clone()?);
                thread::spawn(move || {
                    let _ = (&watched.0).read(&mut [0]);
                    // What is queued was sent in time.
                    thread::sleep(Duration::from_millis(50));
                    net::end_reading(&watched.1);
                });
                let figures = self.receive_datagrams(datagrams.as_fd())?;
                tell(&mut control, figures)
            }
        }
    }

    fn source(&self, seconds: f64) -> Outcome {
        let limit = Duration::from_secs_f64(seconds);
        if self.kind == "tcp_crr" {
            return self.connect_each(limit);
        }
        let mut control = connect(self.address)?;
        if self.kind == "tcp_rr" {
            return self.ask(control.as_fd(), limit);
        }
        if self.kind == "tcp_stream" {
            self.send_until(control.as_fd(), &control.try_clone()?, limit)?;
            return report(&mut control, None);
        }
        let datagrams = UdpSocket::bind((control.local_addr()?.ip(), 0))?;
        datagrams.connect(self.address)?;
        control.write_all(&datagrams.local_addr()?.port().to_be_bytes())?;
        control.read_exact(&mut [0])?;
        if self.kind == "udp_rr" {
            return self.ask(datagrams.as_fd(), limit);
        }
        let sent = self.send_datagrams(datagrams.as_fd(), limit)?;
        control.write_all(&[1])?;
        report(&mut control, Some(sent as f64 / seconds))
    }

    fn send_until(&self, socket: BorrowedFd<'_>, control: &TcpStream, limit: Duration) -> Outcome {
        let control = control.try_clone()?;
        let stopper = thread::spawn(move || {
            thread::sleep(limit);
            let _ = control.shutdown(Shutdown::Write);
        });
        self.pin()?;
        let message = vec![0xa5; self.bytes];
        while net::send(socket, &message).is_ok() {}
        stopper.join().map_err(|_| "the stopper panicked".into())
    }

    fn receive_stream(
        &self,
        socket: BorrowedFd<'_>,
    ) -> Result<(u64, Duration), Box<dyn std::error::Error>> {
        self.pin()?;
        let mut buffer = vec![0; RECEIVE_BYTES];
        let mut bytes = net::receive(socket, &mut buffer)? as u64;
        let first = Instant::now();
        loop {
            match net::receive(socket, &mut buffer)? {
                0 => return Ok((bytes, first.elapsed())),
                received => bytes += received as u64,
            }
        }
    }

    fn send_datagrams(
        &self,
        socket: BorrowedFd<'_>,
        limit: Duration,
    ) -> Result<u64, Box<dyn std::error::Error>> {
        self.pin()?;
        let message = vec![0xa5; self.bytes];
        let begin = Instant::now();
        let mut sent = 0;
        while begin.elapsed() < limit {
            sent += u64::from(net::send(socket, &message).is_ok());
        }
        Ok(sent)
    }

    fn receive_datagrams(
        &self,
        socket: BorrowedFd<'_>,
    ) -> Result<(u64, Duration), Box<dyn std::error::Error>> {
        self.pin()?;
        let mut buffer = vec![0; self.bytes + 1];
        let mut datagrams = 0;
        let (mut first, mut last) = (None, None);
        // An empty receive is the shutdown.
        while net::receive(socket, &mut buffer)? > 0 {
            datagrams += 1;
            let now = Instant::now();
            first = first.or(Some(now));
            last = Some(now);
        }
        Ok((datagrams, first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first)))
    }

    fn ask(&self, socket: BorrowedFd<'_>, limit: Duration) -> Outcome {
        self.pin()?;
        let mut message = vec![0xa5; self.bytes];
        let begin = Instant::now();
        let mut transactions = 0_u64;
        while begin.elapsed() < limit {
            net::send(socket, &message)?;
            net::receive(socket, &mut message)?;
            transactions += 1;
        }
        println!("{{\"rate\": {}}}", transactions as f64 / begin.elapsed().as_secs_f64());
        Ok(())
    }

    fn answer(&self, socket: BorrowedFd<'_>) -> Outcome {
        self.pin()?;
        let mut message = vec![0; self.bytes];
        while net::receive(socket, &mut message).is_ok_and(|bytes| bytes > 0) {
            net::send(socket, &message)?;
        }
        Ok(())
    }

    fn connect_each(&self, limit: Duration) -> Outcome {
        connect(self.address)?;
        self.pin()?;
        let mut message = vec![0xa5; self.bytes];
        let (local, options) = (net::LocalEnd::default(), net::Options::default());
        let any = if self.address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let mut place: SocketAddr = any.parse()?;
        let begin = Instant::now();
        let mut transactions = 0_u64;
        for step in 0_u64.. {
            if begin.elapsed() >= limit {
                break;
            }
            place.set_port(10_000 + u16::try_from(step % 16_384)?);
            let socket = net::open_tcp(self.address, &local, &options)?;
            // Somebody else's port is skipped.
            if net::bind_reusable(socket.as_fd(), place).is_err() {
                continue;
            }
            net::connect(socket.as_fd(), self.address)?;
            net::send(socket.as_fd(), &message)?;
            while net::receive(socket.as_fd(), &mut message)? > 0 {}
            transactions += 1;
        }
        println!("{{\"rate\": {}}}", transactions as f64 / begin.elapsed().as_secs_f64());
        Ok(())
    }

    fn accept_each(&self, listener: &TcpListener) -> Outcome {
        self.pin()?;
        let mut message = vec![0; self.bytes];
        loop {
            let (socket, _) = net::accept(listener.as_fd())?;
            if net::receive(socket.as_fd(), &mut message)? > 0 {
                net::send(socket.as_fd(), &message)?;
            }
        }
    }
}

fn connect(address: SocketAddr) -> Result<TcpStream, std::io::Error> {
    let begin = Instant::now();
    loop {
        match TcpStream::connect(address) {
            Err(_) if begin.elapsed() < CONNECT_PATIENCE => {
                thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

fn tell(control: &mut TcpStream, (count, elapsed): (u64, Duration)) -> Outcome {
    let nanoseconds = u64::try_from(elapsed.as_nanos())?;
    control.write_all(&[count.to_be_bytes(), nanoseconds.to_be_bytes()].concat())?;
    Ok(())
}

fn report(control: &mut TcpStream, sent_rate: Option<f64>) -> Outcome {
    let mut words = [[0; 8]; 2];
    for word in &mut words {
        control.read_exact(word)?;
    }
    let [count, nanoseconds] = words.map(u64::from_be_bytes);
    let rate = count as f64 * 1e9 / nanoseconds as f64;
    println!(
        "{{\"rate\": {rate}, \"sent_rate\": {}, \"count\": {count}}}",
        sent_rate.unwrap_or(rate)
    );
    Ok(())
}
