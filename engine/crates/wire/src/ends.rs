//! The wire's ends: a TAP device in a network namespace.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, Error, Result, ensure};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Frames that a device holds while the wire is busy: a tenth of a second of a hundred thousand a second.
const QUEUE_FRAMES: u16 = 10_000;
const FRAME_BYTES: usize = 65_536 + 14;

/// Where an end is: `NAMESPACE:DEVICE`, a name of `ip netns` or a path such as `/proc/4711/ns/net`.
#[derive(Clone, Debug)]
pub struct Place {
    namespace: PathBuf,
    device: String,
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (namespace, device) = text.rsplit_once(':').unwrap_or((text, "data"));
        ensure!(!namespace.is_empty() && !device.is_empty(), "{text:?} is no NAMESPACE:DEVICE");
        let is_path = namespace.contains('/');
        let folder = if is_path { PathBuf::new() } else { PathBuf::from("/run/netns") };
        Ok(Self { namespace: folder.join(namespace), device: device.to_owned() })
    }
}

/// An end of the wire.
pub struct End {
    place: Place,
    namespace: File,
    device: File,
    buffer: Vec<u8>,
}

impl End {
    /// Makes the device; it is gone when the wire ends.
    pub fn open(place: &Place) -> Result<Self> {
        let told = || format!("network namespace {}", place.namespace.display());
        let namespace = File::open(&place.namespace).with_context(told)?;
        enter(&namespace).with_context(told)?;
        let device = net::open_tap(&place.device, QUEUE_FRAMES)
            .with_context(|| format!("making the device {} in {}", place.device, told()))?;
        Ok(Self { place: place.clone(), namespace, device, buffer: vec![0; FRAME_BYTES] })
    }

    /// A frame that came, if there is one.
    pub fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        match (&self.device).read(&mut self.buffer) {
            Ok(length) => Ok(Some(self.buffer[..length].to_vec())),
            // EIO and EBADFD: the device is down, or not yet up.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock || is_down(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a frame to the kernel there; false when the device is down.
    pub fn send(&self, frame: &[u8]) -> io::Result<bool> {
        match (&self.device).write(frame) {
            Ok(_) => Ok(true),
            Err(error) if is_down(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Frames that the device dropped because the wire was too busy to read them: they never came this far.
    pub fn missed(&self) -> Result<u64> {
        enter(&self.namespace)?;
        let table = std::fs::read_to_string("/proc/thread-self/net/dev")?;
        let line = table
            .lines()
            .find_map(|line| line.trim().strip_prefix(&self.place.device)?.strip_prefix(':'));
        // Eight columns of receiving, then bytes, packets, errors, drops of sending.
        let dropped = line.and_then(|line| line.split_whitespace().nth(11)?.parse().ok());
        dropped.with_context(|| format!("{} is not in /proc/net/dev", self.place.device))
    }
}

impl AsFd for End {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

fn is_down(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(number) if number == rustix::io::Errno::IO.raw_os_error()
        || number == rustix::io::Errno::BADFD.raw_os_error())
}

fn enter(namespace: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
}
