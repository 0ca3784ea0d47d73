//! What the way between two hosts lets through, asked before a test.

pub mod check;
pub mod probe;
