//! The test kinds, one module each, behind one entry point.
//!
//! A session is one end of one test. Its main thread (`session`) talks to the peer over the link,
//! keeps time and makes intervals; the traffic runs in flow threads that a kind provides.

// Counts and nanoseconds become rates and ratios here: 53 bits are enough for a figure.
#![allow(clippy::cast_precision_loss)]
// "line" and "link", "sent" and "set" are this domain's words.
#![allow(clippy::similar_names)]

mod canary;
mod end;
mod facts;
mod failure;
mod features;
#[doc(hidden)]
pub mod fixture;
mod flow;
#[doc(hidden)]
pub mod fuzzing;
mod host_kind;
mod host_session;
mod host_window;
mod kind;
mod kinds;
mod limits;
mod line;
mod load;
mod measurements;
mod outcome;
mod path;
mod roles;
mod session;
mod settings;
mod supply;
mod task;
mod transport;

use std::sync::{Arc, mpsc::Receiver};

pub use canary::{CANARY_MEMORY_BYTES, canary};
pub use facts::facts;
pub use host_window::{History, Sample, host_load};
pub use kinds::arrays_bytes;
pub use line::patience::patience;
pub use path::check::check_path;
pub use supply::{Outbox, Supply};

/// Runs one session to its end and reports every event, the final one included, through `outbox`; a test of disks
/// may use `disk_places` alone.
// A session owns its outbox: that is the contract with the agent.
#[allow(clippy::needless_pass_by_value)]
pub fn run_session(
    spec: proto::SessionSpec,
    disk_places: Vec<proto::DiskPlace>,
    supply: Receiver<Supply>,
    outbox: Arc<dyn Outbox>,
) {
    match kinds::find_of_host(&spec.kind) {
        Some(read) => host_session::run(&spec, &disk_places, supply, &outbox, read),
        None => session::run(spec, supply, &outbox, kinds::find),
    }
}
