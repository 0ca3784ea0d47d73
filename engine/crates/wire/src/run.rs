//! The loop: frames in, frames out when they are due, words from standard input, counts at the end.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use clap::Parser;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::control::{Word, word};
use crate::counts::{ByProtocol, Fate};
use crate::ends::{End, Place};
use crate::lane::Lane;
use crate::log::Log;
use crate::way::Way;

const WAYS: [&str; 2] = ["forward", "backward"];
/// Frames read from one end before the other has its turn.
const MOST_AT_ONCE: usize = 64;

/// A wire between two network namespaces, until its standard input ends; then the counts are printed.
///
/// A description is NAME=VALUE,…: delay=20ms | 10ms..50ms | 50ms~5ms | 20ms+600ms@5s (a list by time), order=kept|free,
/// loss=2%|1/50, burst=8 (packets), duplicate=1%, reorder=1%, early=10ms, rate=1Mbit, queue=1MB, outage=3s-6s+9s-10s,
/// `mtu=1500`, `too_big=told|silent`, `block=icmp+udp+tcp:7411+fragments`.
///
/// Lines of standard input, each answered by a line of JSON: start, counts, [forward|backward] outage begin|end,
/// [forward|backward] NAME=VALUE,…
#[derive(Debug, Parser)]
#[command(name = "benchweb-wire")]
pub struct Options {
    /// NAMESPACE:DEVICE, made here; frames from it go forward.
    #[arg(value_parser = told_whole::<Place>)]
    left: Place,
    /// NAMESPACE:DEVICE, made here; frames from it go backward.
    #[arg(value_parser = told_whole::<Place>)]
    right: Place,
    /// The way from left to right.
    #[arg(long, default_value = "", value_name = "DESCRIPTION", value_parser = told_whole::<Way>)]
    forward: Way,
    /// The way from right to left.
    #[arg(long, default_value = "", value_name = "DESCRIPTION", value_parser = told_whole::<Way>)]
    backward: Way,
    /// Of all that happens by chance.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A file for a line a packet: way, fate, protocol, payload's bytes, nanoseconds in and out, ports, TCP's sequence
    /// number, payload's start.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// Reads an argument; of a refusal the whole chain of reasons is told, which clap would cut to its first.
fn told_whole<T: FromStr<Err = anyhow::Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| format!("{error:#}"))
}

#[derive(Serialize)]
struct Told<'a> {
    event: &'a str,
    forward: &'a ByProtocol,
    backward: &'a ByProtocol,
    /// Frames that came while the wire was too busy, at left and right: where they are not 0, counts are no truth.
    missed: [u64; 2],
}

struct Wire {
    ends: [End; 2],
    lanes: [Lane; 2],
    log: Log,
    begun: Instant,
    begun_wall: u64,
    /// What was read of a line that has not ended.
    line: Vec<u8>,
}

/// Carries frames until standard input ends.
///
/// # Errors
///
/// A namespace that isn't there, a right that is missing, a device that is gone.
pub fn run(options: &Options) -> Result<()> {
    net::tighten_timer_slack();
    let lane = |way: &Way, seed| Lane::new(way.clone(), seed);
    let mut wire = Wire {
        ends: [End::open(&options.left)?, End::open(&options.right)?],
        lanes: [lane(&options.forward, options.seed), lane(&options.backward, !options.seed)],
        log: Log::create(options.log.as_deref())?,
        begun: Instant::now(),
        begun_wall: nanoseconds(SystemTime::now().duration_since(UNIX_EPOCH)?),
        line: Vec::new(),
    };
    wire.tell("ready")?;
    while wire.wait()? {
        wire.receive()?;
        wire.send()?;
    }
    wire.log.end()?;
    wire.tell("done")
}

impl Wire {
    fn now(&self) -> u64 {
        nanoseconds(self.begun.elapsed())
    }

    /// Waits for a frame, a word or the next time due; false when standard input has ended.
    fn wait(&mut self) -> Result<bool> {
        let due = self.lanes.iter().filter_map(Lane::next_due).min();
        let limit = due.map(|due| Duration::from_nanos(due.saturating_sub(self.now())));
        let limit = limit.map(Timespec::try_from).transpose()?;
        let input = rustix::stdio::stdin();
        let mut waited = [self.ends[0].as_fd(), self.ends[1].as_fd(), input]
            .map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
        match poll(&mut waited, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if waited[2].revents().is_empty() { Ok(true) } else { self.listen() }
    }

    fn receive(&mut self) -> Result<()> {
        for place in [0, 1] {
            for _ in 0..MOST_AT_ONCE {
                let Some(frame) = self.ends[place].receive()? else { break };
                let now = self.now();
                let taken = self.lanes[place].take(frame, now, self.begun_wall + now);
                if let Some((fate, entry)) = taken.ended {
                    self.log.write(WAYS[place], fate, &entry, entry.arrived)?;
                }
                if let Some(answer) = taken.answer {
                    self.ends[place].send(&answer)?;
                }
            }
        }
        Ok(())
    }

    fn send(&mut self) -> Result<()> {
        for place in [0, 1] {
            let now = self.now();
            while let Some(next) = self.lanes[place].due(now) {
                let departed = self.begun_wall + self.now();
                let is_taken = self.ends[1 - place].send(&next.frame)?;
                let fate = if is_taken { Fate::Delivered } else { Fate::Refused };
                let counts = self.lanes[place].counts.of(next.entry.packet.protocol);
                counts.end(fate, next.frame.len() as u64);
                self.log.write(WAYS[place], fate, &next.entry, departed)?;
            }
        }
        Ok(())
    }

    /// Obeys the lines that have come; false when standard input has ended.
    fn listen(&mut self) -> Result<bool> {
        let mut bytes = [0; 4_096];
        let length = rustix::io::read(rustix::stdio::stdin(), &mut bytes)?;
        self.line.extend(&bytes[..length]);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            match self.obey(line.trim()) {
                Ok(()) => self.tell("obeyed")?,
                Err(error) => println!(
                    "{}",
                    serde_json::json!({"event": "refused", "why": format!("{error:#}")})
                ),
            }
        }
        Ok(length > 0)
    }

    fn obey(&mut self, line: &str) -> Result<()> {
        let now = self.now();
        match word(line)? {
            Word::Start => self.lanes.iter_mut().for_each(|lane| lane.start(now)),
            Word::Outage { places, begins } => {
                for place in places {
                    self.lanes[*place].is_out = begins;
                }
            }
            Word::Change { places, settings } => {
                settings.parse::<Way>()?;
                places.iter().try_for_each(|place| self.lanes[*place].way.change(&settings))?;
            }
            Word::Counts => {}
        }
        Ok(())
    }

    fn tell(&self, event: &str) -> Result<()> {
        let [forward, backward] = &self.lanes;
        let (forward, backward) = (&forward.counts, &backward.counts);
        let missed = [self.ends[0].missed()?, self.ends[1].missed()?];
        let mut output = io::stdout().lock();
        serde_json::to_writer(&mut output, &Told { event, forward, backward, missed })?;
        writeln!(output)?;
        Ok(output.flush()?)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).expect("nanoseconds of some centuries fit")
}
