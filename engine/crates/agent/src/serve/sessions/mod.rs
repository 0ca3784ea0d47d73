//! The sessions: their processes, their events, and what is kept of them.

pub mod event_log;
pub mod neighbours;
pub mod process;
pub mod session;
pub mod store;
pub mod uptime;
pub mod watchdog;
