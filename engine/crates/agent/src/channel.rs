//! The socket pair between the agent and a session's process: JSON lines, some with a descriptor.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use proto::LineSplitter;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
    sockopt,
};
use serde::Serialize;

/// A result with its histogram and a day of intervals stays below this.
const RESULT_LIMIT_BYTES: usize = 256 * 1024 * 1024;
const READ_BUFFER_BYTES: usize = 16 * 1024;
/// One descriptor comes with a line; a little more room costs nothing.
const DESCRIPTORS_PER_READ: usize = 4;
/// A process that takes no line for so long is stuck; the agent must not hang with it.
const SEND_LIMIT: Duration = Duration::from_secs(1);

/// Makes a connected pair: the agent's end and the process's end.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let pair = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_timeout(&pair.0, sockopt::Timeout::Send, Some(SEND_LIMIT))?;
    Ok(pair)
}

/// The sending half.
pub struct ChannelSender {
    socket: Mutex<OwnedFd>,
}

impl ChannelSender {
    /// Sends on `socket`.
    pub fn new(socket: OwnedFd) -> Self {
        Self { socket: Mutex::new(socket) }
    }

    /// Sends one message as a line, with a descriptor where one belongs to it.
    pub fn send(
        &self,
        message: &impl Serialize,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        self.send_as(SendFlags::empty(), message, descriptor)
    }

    /// Sends one message as [`Self::send`] does, or answers false when the socket takes nothing at the moment.
    pub fn try_send(
        &self,
        message: &impl Serialize,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> io::Result<bool> {
        match self.send_as(SendFlags::DONTWAIT, message, descriptor) {
            Ok(()) => Ok(true),
            Err(error) if is_full(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The flags are those of the first piece: a line that has begun is finished.
    fn send_as(
        &self,
        flags: SendFlags,
        message: &impl Serialize,
        descriptor: Option<BorrowedFd<'_>>,
    ) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sent = send_piece(socket.as_fd(), flags, &line, descriptor)?;
        while sent < line.len() {
            sent += send_piece(socket.as_fd(), SendFlags::empty(), &line[sent..], None)?;
        }
        Ok(())
    }
}

/// A full socket, or too many descriptors on their way already.
fn is_full(error: &io::Error) -> bool {
    use rustix::io::Errno;
    [Errno::AGAIN, Errno::TOOMANYREFS]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn send_piece(
    socket: BorrowedFd<'_>,
    flags: SendFlags,
    bytes: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<BorrowedFd<'_>> = descriptor.into_iter().collect();
    if !descriptors.is_empty() {
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let sent = rustix::io::retry_on_intr(|| {
        sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, flags | SendFlags::NOSIGNAL)
    })?;
    Ok(sent)
}

/// The receiving half.
pub struct ChannelReceiver {
    socket: OwnedFd,
    splitter: LineSplitter,
    lines: VecDeque<Vec<u8>>,
    descriptors: VecDeque<OwnedFd>,
}

impl ChannelReceiver {
    /// Receives from `socket`.
    pub fn new(socket: OwnedFd) -> Self {
        let splitter = LineSplitter::new(RESULT_LIMIT_BYTES);
        Self { socket, splitter, lines: VecDeque::new(), descriptors: VecDeque::new() }
    }

    /// Waits for the next line; none when the other end is gone.
    pub fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        while self.lines.is_empty() {
            if !self.read()? {
                return Ok(None);
            }
        }
        Ok(self.lines.pop_front())
    }

    /// The descriptor that came with a line: they come in the lines' order.
    pub fn descriptor(&mut self) -> Option<OwnedFd> {
        self.descriptors.pop_front()
    }

    fn read(&mut self) -> io::Result<bool> {
        let mut buffer = [0; READ_BUFFER_BYTES];
        let mut space =
            [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_PER_READ))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let length = rustix::io::retry_on_intr(|| {
            let slices = &mut [IoSliceMut::new(&mut buffer)];
            recvmsg(&self.socket, slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)
        })?
        .bytes;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        self.lines.extend(self.splitter.push(&buffer[..length]).map_err(io::Error::other)?);
        Ok(length > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use proto::{AgentMessage, DescriptorRole};

    use super::*;

    #[test]
    fn a_full_channel_is_told_at_once_and_what_was_taken_arrives_whole() {
        let (ours, theirs) = pair().unwrap();
        let sender = ChannelSender::new(ours);
        let message = AgentMessage::Descriptor {
            role: DescriptorRole::Flow,
            index: 7,
            lane: proto::Lane::Test,
        };
        let (_kept, passed) = UnixStream::pair().unwrap();
        let begin = std::time::Instant::now();
        let taken = (0..100_000)
            .take_while(|_| sender.try_send(&message, Some(passed.as_fd())).unwrap())
            .count();
        assert!(begin.elapsed() < SEND_LIMIT, "it waited");
        assert!((1..100_000).contains(&taken), "{taken}");
        drop(sender);
        let mut receiver = ChannelReceiver::new(theirs);
        let lines = std::iter::from_fn(|| receiver.line().unwrap()).count();
        assert_eq!(lines, taken);
        assert_eq!(std::iter::from_fn(|| receiver.descriptor()).count(), taken);
    }

    #[test]
    fn a_line_arrives_with_its_descriptor_and_the_next_without() {
        let (ours, theirs) = pair().unwrap();
        let (mut kept, passed) = UnixStream::pair().unwrap();
        let sender = ChannelSender::new(ours);
        let message = AgentMessage::Descriptor {
            role: DescriptorRole::Flow,
            index: 7,
            lane: proto::Lane::Test,
        };
        sender.send(&message, Some(passed.as_fd())).unwrap();
        sender.send(&proto::ProcessMessage::Prepared, None).unwrap();
        drop((sender, passed));

        let mut receiver = ChannelReceiver::new(theirs);
        let line = receiver.line().unwrap().unwrap();
        assert_eq!(line, br#"{"type":"descriptor","role":"flow","index":7,"lane":"test"}"#);
        let mut handed_over = UnixStream::from(receiver.descriptor().unwrap());
        handed_over.write_all(b"hello").unwrap();
        let mut seen = [0; 5];
        kept.read_exact(&mut seen).unwrap();
        assert_eq!(&seen, b"hello");
        assert_eq!(receiver.line().unwrap().unwrap(), br#"{"type":"prepared"}"#);
        assert!(receiver.descriptor().is_none());
        assert!(receiver.line().unwrap().is_none());
    }
}
