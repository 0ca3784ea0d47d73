//! A message of a TCP stream, as its send mode hands it to the kernel.

use std::os::fd::{BorrowedFd, OwnedFd};

use net::Errno;
use proto::{Reason, reason};

use super::SendMode;
use super::page_aligned::PageAligned;
use crate::outcome::streams;

/// So many sends may wait for the kernel's word that it is done with them before it is looked for.
const SENDS_UNTIL_RELEASED: u32 = 32;

/// A message that all flows of an end send over and over.
pub struct Message {
    bytes: PageAligned,
    from: From,
}

enum From {
    Memory,
    Pages,
    File(Result<OwnedFd, Errno>),
}

impl Message {
    /// A message of so many bytes.
    pub fn new(length: usize, mode: SendMode) -> Self {
        let bytes = PageAligned::copy_of(&streams::payload(length));
        let from = match mode {
            SendMode::File => From::File(net::memory_file(bytes.as_ref())),
            SendMode::ZeroCopy => From::Pages,
            SendMode::Send => From::Memory,
        };
        Self { bytes, from }
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.bytes.as_ref().len()
    }
}

/// One flow's sending of a message.
pub struct Sender<'a> {
    socket: BorrowedFd<'a>,
    message: &'a Message,
    // Of sends of pages: how many the kernel may still read, and whether it copied any after all.
    unreleased: u32,
    is_copied: bool,
}

impl<'a> Sender<'a> {
    /// Prepares a flow's socket.
    ///
    /// # Errors
    /// What the mode lacks here.
    pub fn new(socket: BorrowedFd<'a>, message: &'a Message) -> Result<Self, Reason> {
        match &message.from {
            From::Pages => net::allow_pages(socket)
                .map_err(|error| reason!("flow_no_zerocopy", why = error.to_string()))?,
            From::File(Err(error)) => {
                return Err(reason!("flow_no_memory_file", why = error.to_string()));
            }
            From::Memory | From::File(Ok(_)) => {}
        }
        Ok(Self { socket, message, unreleased: 0, is_copied: false })
    }

    /// Sends once, blocking, from `place` of the message up to `until` at most; the bytes that the kernel took.
    ///
    /// # Errors
    /// What the call says; `EINTR` when it has to be tried again.
    #[inline]
    pub fn send(&mut self, place: usize, until: usize) -> Result<usize, Errno> {
        let bytes = &self.message.bytes.as_ref()[place..until];
        match &self.message.from {
            From::Memory => net::send(self.socket, bytes),
            From::File(file) => {
                let file = file.as_ref().map_err(|&error| error)?;
                net::send_file(self.socket, file, place, until - place)
            }
            From::Pages => self.send_pages(bytes),
        }
    }

    fn send_pages(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        match net::send_pages(self.socket, bytes) {
            Ok(taken) => {
                self.unreleased += 1;
                if self.unreleased >= SENDS_UNTIL_RELEASED {
                    self.release();
                }
                Ok(taken)
            }
            // As much as may be pinned is; what waits for the path is released by and by.
            Err(Errno::NOBUFS) if self.unreleased > 0 => {
                net::wait_for_release(self.socket);
                self.release();
                Err(Errno::INTR)
            }
            Err(error) => Err(error),
        }
    }

    /// Takes the kernel's word of what it is done with.
    fn release(&mut self) {
        while let Ok(Some(released)) = net::released(self.socket) {
            self.unreleased = self.unreleased.saturating_sub(released.sends);
            self.is_copied |= released.is_copied;
        }
    }

    /// Whether the kernel copied pages that it was to send as they are.
    pub fn was_copied(&mut self) -> bool {
        self.release();
        self.is_copied
    }

    /// What an error of a send means.
    pub fn explain(&self, error: Errno) -> Reason {
        if error == Errno::NOBUFS && matches!(self.message.from, From::Pages) {
            return reason!("flow_message_not_pinned", bytes = self.message.len());
        }
        error.to_string().into()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::{Message, SendMode, Sender};

    #[test]
    fn every_mode_sends_the_same_bytes() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("bound");
        let all = [SendMode::Send, SendMode::File, SendMode::ZeroCopy].map(|mode| {
            let socket = TcpStream::connect(address).expect("connects");
            let (mut sink, _) = listener.accept().expect("a connection");
            let message = Message::new(50_000, mode);
            let mut sender = Sender::new(socket.as_fd(), &message).expect("this kernel has it");
            let mut place = 0;
            while place < message.len() {
                let until = message.len().min(place + 20_000);
                place += sender.send(place, until).expect("sends");
            }
            let mut received = vec![0; message.len()];
            sink.read_exact(&mut received).expect("all of it");
            assert_eq!(sender.was_copied(), mode == SendMode::ZeroCopy, "loopback copies");
            received
        });
        assert_eq!(all[0], all[1]);
        assert_eq!(all[0], all[2]);
    }
}
