//! Starts sessions' processes.

use std::ffi::OsString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::{env, io, thread};

use tokio::sync::oneshot;

type Request = (OwnedFd, oneshot::Sender<io::Result<Child>>);

/// Starts processes from one thread that lives as long as the agent: the kernel sends a child its parent-death
/// signal when the thread that started it ends, not the process.
pub struct Spawner {
    requests: Sender<Request>,
}

impl Spawner {
    pub fn start() -> io::Result<Self> {
        let (requests, inbox) = channel::<Request>();
        thread::Builder::new().name("spawner".into()).spawn(move || {
            for (socket, answer) in inbox {
                // A request whose asker has gone leaves a child whose channel closes at once.
                let _ = answer.send(spawn(socket));
            }
        })?;
        Ok(Self { requests })
    }

    /// Starts a session's process with `socket` as its channel.
    pub async fn spawn(&self, socket: OwnedFd) -> io::Result<Child> {
        let (answer, child) = oneshot::channel();
        let gone = || io::Error::other("the thread that starts processes is gone");
        self.requests.send((socket, answer)).map_err(|_| gone())?;
        child.await.map_err(|_| gone())?
    }
}

/// This same program, even if its file has been replaced meanwhile.
const OWN_PROGRAM: &str = "/proc/self/exe";

fn spawn(socket: OwnedFd) -> io::Result<Child> {
    // A session prints nothing; what it prints all the same belongs into the log, and an empty root has no /dev/null.
    let log = io::stderr().as_fd().try_clone_to_owned()?;
    Command::new(own_program())
        .arg0("benchweb-engine")
        .arg("session")
        .stdin(Stdio::from(socket))
        .stdout(Stdio::from(log))
        .spawn()
}

/// Without /proc there is the path that this program was started by.
fn own_program() -> OsString {
    let has_proc = Path::new(OWN_PROGRAM).exists();
    env::args_os().next().filter(|_| !has_proc).unwrap_or_else(|| OWN_PROGRAM.into())
}
