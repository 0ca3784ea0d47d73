//! HTTP requests on connections that stay open, as wrk makes them; at a fixed rate as wrk2 does.
//!
//! With an empty `url` the connections are the session's own flows and the sink answers; else the source connects to
//! the URL's server by itself, and the sink has nothing to do. A thread drives its share of the connections with one
//! poller; nothing is shared between threads.

mod chunked;
mod client;
mod connection;
mod report;
mod responder;
mod response;
mod schedule;
mod tally;
mod target;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use proto::{EndReport, Metrics, Params, Role};

use crate::counter::Count;
use crate::end::End;
use crate::failure::Failure;
use crate::kind::Kind;
use crate::measurements::Measured;
use crate::part::Part;
use crate::settings::Settings;
use crate::task::Task;
use crate::transport::{Nothing, Tcp, Transport};
use client::Client;

pub use response::ResponseReader;

/// The kind.
pub struct HttpLoad;

impl Kind for HttpLoad {
    fn name(&self) -> &'static str {
        "http_load"
    }

    fn transport(&self, settings: &Settings) -> &'static dyn Transport {
        if settings.url.is_empty() { &Tcp } else { &Nothing }
    }

    fn reach(&self, params: &Params) -> Result<Option<OwnedFd>, Failure> {
        target::reach(params)
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let threads = threads(end);
        match end.role {
            Role::Source => (0..threads)
                .map(|thread| {
                    Task::new(Part::Client, thread, move |end, cue| {
                        Client::run(end, cue, Share { thread, threads })
                    })
                })
                .collect(),
            // With a URL nobody asks the sink anything: it has no flows, and its threads would only wait.
            Role::Sink if end.flows.is_empty() => Vec::new(),
            Role::Sink => (0..threads)
                .map(|thread| {
                    Task::new(Part::Server, thread, move |end, cue| {
                        responder::answer(end, cue, Share { thread, threads })
                    })
                })
                .collect(),
        }
    }

    fn interval(&self, _end: &End, count: Count, seconds: f64) -> Metrics {
        report::interval(count, seconds)
    }

    fn report(&self, end: &End, measured: &Measured) -> EndReport {
        report::report(end, measured)
    }
}

/// A thread without a connection would have nothing to do.
fn threads(end: &End) -> u32 {
    let asked = end.params.integer("threads").unwrap_or(1);
    u32::try_from(asked).unwrap_or(u32::MAX).clamp(1, end.settings.flows)
}

/// Which connections are a thread's: each in turn, so that all threads have as many, or one more.
#[derive(Debug, Clone, Copy)]
struct Share {
    thread: u32,
    threads: u32,
}

impl Share {
    fn of(self, connections: u32) -> impl Iterator<Item = u32> {
        (self.thread..connections).step_by(self.threads as usize)
    }
}
