//! The time and fate of each packet, a line each: what a proof compares with.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::counts::Fate;
use crate::packet::Packet;

/// A line is: way, fate, protocol, bytes of the payload, nanoseconds of the wall clock in and out, the source's and the
/// destination's port, TCP's sequence number, the payload's first bytes in hexadecimal. What never went out has its time
/// of arrival twice.
pub struct Log(Option<BufWriter<File>>);

/// A packet's line, but for its end.
#[derive(Clone, Copy)]
pub struct Entry {
    pub arrived: u64,
    pub packet: Packet,
    pub start: [u8; crate::packet::START_BYTES],
}

impl Log {
    /// Without a path nothing is kept.
    pub fn create(path: Option<&Path>) -> io::Result<Self> {
        let file = path.map(File::create).transpose()?;
        Ok(Self(file.map(|file| BufWriter::with_capacity(1 << 20, file))))
    }

    pub fn write(&mut self, way: &str, fate: Fate, entry: &Entry, departed: u64) -> io::Result<()> {
        let Some(file) = &mut self.0 else { return Ok(()) };
        let Entry { arrived, packet, start } = entry;
        let bytes = packet.payload_bytes();
        write!(file, "{way} {fate:?} {:?} {bytes} {arrived} {departed} ", packet.protocol)?;
        let [source, destination] = packet.ports;
        write!(file, "{source} {destination} {} ", packet.sequence)?;
        let shown = &start[..bytes.min(start.len())];
        shown.iter().try_for_each(|byte| write!(file, "{byte:02x}"))?;
        writeln!(file)
    }

    pub fn end(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Write::flush)
    }
}
