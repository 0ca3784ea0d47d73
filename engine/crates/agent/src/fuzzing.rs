//! Parsers of what comes from the network, as they are, for the crate `fuzz`.

pub use crate::serve::fuzzing::{query, specification, token_file};
