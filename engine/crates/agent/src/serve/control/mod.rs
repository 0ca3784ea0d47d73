//! The control plane: HTTP, who speaks to it, and what it answers.

pub mod answer;
mod canary;
pub mod creation;
pub mod event_stream;
pub mod http;
pub mod path_checks;
pub mod renewal;
pub mod routes;
