//! What a test kind provides: the threads of one end, and its half of the result.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use proto::{EndReport, Metrics, Params};

use crate::counter::Count;
use crate::end::End;
use crate::failure::Failure;
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

/// One test kind.
pub trait Kind: Sync {
    /// Its name in the catalog.
    fn name(&self) -> &'static str;
    /// How its traffic is connected.
    fn transport(&self, settings: &Settings) -> &'static dyn Transport;
    /// How its warm-up is cut.
    fn cut(&self) -> Cut {
        Cut::OwnAccord
    }
    /// The longest that its traffic may take after the warm-up, where that isn't the asked duration.
    fn longest(&self, settings: &Settings, _params: &proto::Params) -> Duration {
        settings.duration
    }
    /// Why this host can't run this end of it, if it can't; nothing is connected yet.
    ///
    /// # Errors
    /// What is missing, and how to give it.
    fn check(&self, _spec: &proto::SessionSpec) -> Result<(), String> {
        Ok(())
    }
    /// A first connection to where the source's connections go, when that is not the sink's data port.
    fn reach(&self, _params: &Params) -> Result<Option<OwnedFd>, Failure> {
        Ok(None)
    }
    /// The threads that this end runs.
    fn tasks(&self, end: &Arc<End>) -> Vec<Task>;
    /// Metrics of an interval of `seconds` in which the measuring tasks of this end counted `count`.
    fn interval(&self, end: &End, count: Count, seconds: f64) -> Metrics;
    /// This end's half of the result.
    fn report(&self, end: &End, measured: &Measured) -> EndReport;
}
