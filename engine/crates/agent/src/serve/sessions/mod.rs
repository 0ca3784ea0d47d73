//! The sessions: what starts them, their events, and what is kept of them.

pub mod event_log;
pub mod session;
pub mod spawner;
pub mod store;
pub mod uptime;
