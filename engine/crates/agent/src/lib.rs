//! The engine: command line and control plane.

// Counts become rates and means for people here: 53 bits are enough for a figure.
#![allow(clippy::cast_precision_loss)]

/// As `eprintln!`, which panics where nobody reads standard error any more, such as behind a pipe that was closed.
macro_rules! note {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($part)*);
    }};
}

mod channel;
mod cli;
pub mod client;
mod completions;
mod failure;
#[doc(hidden)]
pub mod fuzzing;
mod manual;
mod run;
mod serve;
mod session_process;

use std::process::ExitCode;

use clap::Parser as _;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};

use cli::{Command, CommandLine};
use failure::Failure;

/// Runs the program and answers its exit code.
#[must_use]
pub fn main() -> ExitCode {
    allow_many_descriptors();
    // A session's start is part of every trial's overhead: it skips the command line's parser.
    let outcome = if std::env::args_os().nth(1).is_some_and(|argument| argument == "session") {
        session_process::main().map_err(Failure::from)
    } else {
        command(CommandLine::parse().command)
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            note!("benchweb-engine: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Raises the soft limit of open files to the hard one: thousands of flows or strangers are a descriptor each.
fn allow_many_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Within the hard limit this is always allowed; failing, the old limit stays, and a test that needs more says so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

fn command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Serve(options) => Ok(serve::main(&options)?),
        Command::Run(options) => run::main(&options),
        Command::Catalog => print(proto::Catalog::embedded().document()),
        Command::Facts => print(&kinds::facts()),
        Command::Completions { shell } => write_line(completions::script(shell).trim_end()),
        Command::Man { command, out: None } => {
            write_line(manual::page(command.as_deref())?.trim_end())
        }
        Command::Man { out: Some(folder), .. } => manual::write_all(&folder),
    }
}

fn print(document: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).map_err(anyhow::Error::from)?;
    write_line(&text)
}

/// Writes to standard output; a reader that has gone away is not an error.
fn write_line(text: &str) -> Result<(), Failure> {
    use std::io::{ErrorKind, Write as _};
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow::Error::from(error).context("can't write to standard output").into())
        }
        _ => Ok(()),
    }
}

pub(crate) fn tls_provider() -> CryptoProvider {
    ring::default_provider()
}
