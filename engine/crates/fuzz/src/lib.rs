//! Inputs for parsers of what comes from the network: valid ones, broken in many ways.

mod mutation;
mod targets;

pub use mutation::Mutator;
pub use targets::{Target, targets};
