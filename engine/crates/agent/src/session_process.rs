//! The `session` subcommand: one session's process, spoken to by its agent over standard input.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use kinds::{Outbox, Supply};
use proto::{AgentMessage, DescriptorRole, EventBody, FailureCode, Lane, ProcessMessage, reason};

use crate::channel::{ChannelReceiver, ChannelSender};

/// Runs one session; the channel to the agent is the socket on standard input.
///
/// # Errors
/// When standard input is no such channel.
pub fn main() -> anyhow::Result<()> {
    // The process must not outlive its agent. An agent that died before this call shows as a closed channel.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // When memory runs out, this process goes first, and its agent tells why. Where that is not allowed, it stays as it is.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    let outbox = Arc::new(ChannelOutbox { sender: ChannelSender::new(socket.try_clone()?) });
    let mut receiver = ChannelReceiver::new(socket);
    let Some(AgentMessage::Config { spec, background, disk_places, .. }) =
        next_message(&mut receiver)?
    else {
        anyhow::bail!("the first line on standard input is not a session's configuration");
    };
    let (supply_sender, supply) = channel();
    if let Some(background) = background {
        // The receiver is in this function.
        let _ = supply_sender.send(Supply::Background(background));
    }
    thread::spawn(move || supply_from_agent(receiver, &supply_sender));
    kinds::run_session(*spec, disk_places, supply, outbox);
    Ok(())
}

fn next_message(receiver: &mut ChannelReceiver) -> anyhow::Result<Option<AgentMessage>> {
    Ok(match receiver.line()? {
        Some(line) => Some(proto::parse_json(&line)?),
        None => None,
    })
}

/// Hands on what the agent supplies; ends the process when the agent is gone.
fn supply_from_agent(mut receiver: ChannelReceiver, supply: &Sender<Supply>) {
    while let Ok(Some(message)) = next_message(&mut receiver) {
        let item = match message {
            AgentMessage::Config { .. } => continue,
            AgentMessage::Neighbours { neighbours } => Supply::Neighbours(neighbours),
            AgentMessage::Cancel { code, reason } => Supply::Cancel { code, reason },
            AgentMessage::Descriptor { role, index, lane } => match receiver.descriptor() {
                Some(fd) => supply_of(role, index, fd).on(lane),
                None => continue,
            },
        };
        // A session that has ended takes nothing more; its process is about to exit.
        let _ = supply.send(item);
    }
    std::process::exit(1);
}

fn supply_of(role: DescriptorRole, index: u32, fd: OwnedFd) -> Supply {
    match role {
        DescriptorRole::Link => Supply::Link(fd),
        DescriptorRole::Flow => Supply::Flow { index, fd },
        DescriptorRole::Listener => Supply::Listener(fd),
    }
}

struct ChannelOutbox {
    sender: ChannelSender,
}

impl ChannelOutbox {
    fn tell(&self, message: &ProcessMessage, descriptor: Option<&OwnedFd>) {
        // An agent that is gone can't be told; the supply thread ends the process.
        let _ = self.sender.send(message, descriptor.map(AsFd::as_fd));
    }
}

impl Outbox for ChannelOutbox {
    fn prepared(&self) {
        self.tell(&ProcessMessage::Prepared, None);
    }

    fn event(&self, event: EventBody) {
        self.tell(&ProcessMessage::Event { event }, None);
    }

    fn register_ports(&self, lane: Lane, address: IpAddr, first: u16, last: u16) {
        self.tell(&ProcessMessage::Register { ports: [first, last], address, lane }, None);
    }

    fn release_ports(&self, lane: Lane) {
        self.tell(&ProcessMessage::Release { lane }, None);
    }

    fn foreign(&self, fd: OwnedFd) {
        self.tell(&ProcessMessage::Foreign, Some(&fd));
    }
}

/// The failure of a session whose process ended without saying why.
pub fn silent_end(status: &str) -> EventBody {
    let reason = reason!("says_process_ended", status = status);
    EventBody::failure(FailureCode::Internal, reason, None)
}
