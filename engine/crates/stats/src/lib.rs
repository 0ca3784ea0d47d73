//! Pure arithmetic of measurements: no sockets, no clock, no threads.
//!
//! Time and bytes come in as arguments, so every rule here is tested with exact values.

// Counts and nanoseconds become ratios and seconds here: 53 bits are enough for a figure.
#![allow(clippy::cast_precision_loss)]

mod checkpoint;
mod confidence;
mod jitter;
mod latency;
mod round_trips;
mod sequence;
mod student;

pub use checkpoint::{Bracket, Checkpoints, Crossing};
pub use confidence::Confidence;
pub use jitter::Jitter;
pub use latency::{Latency, LatencyError, LatencySummary};
pub use round_trips::{RoundTripSummary, RoundTrips};
pub use sequence::{Arrival, SequenceWindow};
