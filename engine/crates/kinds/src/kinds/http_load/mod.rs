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
use std::time::Duration;

use proto::{EndReport, HttpUrl, Metrics, Params, Reason, Role, RunResult, reason};

use crate::end::End;
use crate::failure::Failure;
use crate::flow::counter::Count;
use crate::flow::part::Part;
use crate::kind::Kind;
use crate::limits::arrival;
use crate::measurements::Measured;
use crate::settings::{Settings, number, size};
use crate::task::Task;
use crate::transport::{Nothing, Tcp, Transport};
use client::Client;

pub use response::ResponseReader;

/// The kind.
#[derive(Clone)]
pub struct HttpLoad {
    /// The URL that is asked for; none for the sink's own responder.
    url: Option<HttpUrl>,
    /// Bytes of the responder's response.
    response_bytes: usize,
    /// Requests per second; 0 for as many as are answered.
    rate_rps: f64,
    /// A response that takes longer is counted as timed out.
    timeout: Duration,
    threads: u32,
}

/// Reads checked and filled parameters.
pub fn read(params: &Params, settings: &Settings) -> Result<Arc<dyn Kind>, Reason> {
    let threads = u32::try_from(size(params, "threads")?).unwrap_or(u32::MAX);
    Ok(Arc::new(HttpLoad {
        url: target::url(params)?,
        response_bytes: size(params, "response_size_bytes")?,
        rate_rps: number(params, "rate_rps")?,
        timeout: Duration::from_secs_f64(number(params, "timeout_seconds")?),
        // A thread without a connection would have nothing to do.
        threads: threads.clamp(1, settings.flows),
    }))
}

impl Kind for HttpLoad {
    fn transport(&self) -> &'static dyn Transport {
        if self.url.is_none() { &Tcp } else { &Nothing }
    }

    fn reach(&self) -> Result<Option<OwnedFd>, Failure> {
        self.url.as_ref().map(target::reach).transpose()
    }

    fn goes_to_peer(&self) -> bool {
        self.url.is_none()
    }

    fn spacing(&self) -> Duration {
        if self.rate_rps <= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(1.0 / self.rate_rps).unwrap_or(Duration::MAX)
    }

    fn longest_silence(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    fn tasks(&self, end: &Arc<End>) -> Vec<Task> {
        let threads = self.threads;
        match end.role {
            Role::Source => (0..threads)
                .map(|thread| {
                    let load = self.clone();
                    Task::new(Part::Client, thread, move |end, cue| {
                        Client::run((end, cue), &load, Share { thread, threads })
                    })
                })
                .collect(),
            // With a URL nobody asks the sink anything: it has no flows, and its threads would only wait.
            Role::Sink if end.flows.is_empty() => Vec::new(),
            Role::Sink => (0..threads)
                .map(|thread| {
                    let response_bytes = self.response_bytes;
                    Task::new(Part::Server, thread, move |end, cue| {
                        responder::answer(end, cue, response_bytes, Share { thread, threads })
                    })
                })
                .collect(),
        }
    }

    fn interval(&self, _end: &End, count: Count, seconds: f64) -> Metrics {
        report::interval(count, seconds)
    }

    fn report(&self, end: &End, measured: &Measured) -> EndReport {
        report::report(end, self.rate_rps, measured)
    }

    fn silence(&self, result: &RunResult) -> Option<Reason> {
        arrival::unanswered(result, |count| reason!("says_no_response", count = count))
    }
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
