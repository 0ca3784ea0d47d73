//! Moments that no setting of the wall clock moves, told apart across restarts of the engine.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// So long after a boot of the host; it goes on while the host sleeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Which boot; empty where the kernel doesn't say.
    boot_id: String,
    uptime_seconds: f64,
}

impl Moment {
    pub fn now() -> Self {
        let time = clock_gettime(ClockId::Boottime);
        let since_boot = Duration::try_from(time).unwrap_or_default();
        Self { boot_id: boot_id(), uptime_seconds: since_boot.as_secs_f64() }
    }

    /// How much later this is; None for a moment of another boot, whose distance nobody knows.
    pub fn since(&self, earlier: &Self) -> Option<Duration> {
        let is_same_boot = !self.boot_id.is_empty() && self.boot_id == earlier.boot_id;
        let seconds = self.uptime_seconds - earlier.uptime_seconds;
        is_same_boot.then(|| Duration::try_from_secs_f64(seconds).unwrap_or_default())
    }
}

/// The kernel's name of this boot.
pub fn boot_id() -> String {
    fs::read_to_string(BOOT_ID).unwrap_or_default().trim().to_owned()
}
