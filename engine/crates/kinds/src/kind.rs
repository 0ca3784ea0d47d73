//! What a test kind provides: the threads of one end, and its half of the result.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use proto::{EndReport, Metrics, Params, Reason, RunResult, SessionSpec, reason};

use crate::end::End;
use crate::failure::Failure;
use crate::flow::counter::Count;
use crate::host_window::OwnTraffic;
use crate::limits::arrival;
use crate::measurements::Measured;
use crate::settings::Settings;
use crate::task::Task;
use crate::transport::Transport;

/// How the end of a warm-up becomes known to the end that measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// By the offset that the sender tells on the link.
    Offset,
    /// By the data itself, or by the measuring end's own clock.
    OwnAccord,
}

/// Reads what a kind alone has of checked and filled parameters; `settings` are those that every kind has.
///
/// # Errors
/// When a value is of another type than the catalog says, or values don't go together.
pub type Read = fn(&Params, &Settings) -> Result<Arc<dyn Kind>, Reason>;

/// One test kind, with the settings that it alone has.
pub trait Kind: Send + Sync {
    /// How its traffic is connected.
    fn transport(&self) -> &'static dyn Transport;
    /// How its warm-up is cut.
    fn cut(&self) -> Cut {
        Cut::OwnAccord
    }
    /// The longest that its traffic may take after the warm-up, where that isn't the requested duration.
    fn longest(&self) -> Option<Duration> {
        None
    }
    /// Why this host can't run this end of it, if it can't; nothing is connected yet.
    ///
    /// # Errors
    /// What is missing, and how to give it.
    fn check(&self, _spec: &SessionSpec, _settings: &Settings) -> Result<(), Reason> {
        Ok(())
    }
    /// Why the connected flows of this end can't carry it, if they can't.
    ///
    /// # Errors
    /// What doesn't fit, and what does.
    fn check_flows(&self, _end: &End) -> Result<(), Reason> {
        Ok(())
    }
    /// A first connection to where the source's connections go, when that is not the sink's data port.
    ///
    /// # Errors
    /// When the server can't be reached.
    fn reach(&self) -> Result<Option<OwnedFd>, Failure> {
        Ok(None)
    }
    /// Whether its traffic goes to the other end's host, and not to another server.
    fn goes_to_peer(&self) -> bool {
        true
    }
    /// Whether several of its transactions may share a packet.
    fn shares_packets(&self) -> bool {
        false
    }
    /// Whether what it sends tells its number to who receives it.
    fn numbers_datagrams(&self, _end: &End) -> bool {
        false
    }
    /// The time from one arrival to the next, as requested; zero for as fast as it goes.
    fn spacing(&self) -> Duration {
        Duration::ZERO
    }
    /// The longest silence that is no outage; none where no silence is one.
    fn longest_silence(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }
    /// The threads that this end runs.
    fn tasks(&self, end: &Arc<End>) -> Vec<Task>;
    /// Metrics of an interval of `seconds` in which the measuring tasks of this end counted `count`.
    fn interval(&self, end: &End, count: Count, seconds: f64) -> Metrics;
    /// This end's half of the result.
    fn report(&self, end: &End, measured: &Measured) -> EndReport;
    /// What this end put on its interface, as its tasks and the peer counted; none where nobody did, or where lasting
    /// connections tell.
    fn own_traffic(&self, _end: &End, _measured: &Measured) -> Option<OwnTraffic> {
        None
    }
    /// What is said of a test of which nothing arrived; none where something did.
    fn silence(&self, result: &RunResult) -> Option<Reason> {
        arrival::unanswered(result, |_| reason!("says_no_transaction_in_time"))
    }
    /// Whether nothing arrived on a flow that was to carry data.
    fn has_silent_flow(&self, _result: &RunResult) -> bool {
        false
    }
}
