//! What a host measures alone between tests, which no network can change.

use serde::Serialize;

/// What a canary measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Canary {
    /// How long all of it took.
    pub seconds: f64,
    /// What could be measured.
    pub figures: Vec<CanaryFigure>,
}

/// One figure of a canary: of several passes over the same work, without the first, which warms up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CanaryFigure {
    /// What it is.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The middle pass.
    pub median: f64,
    /// The least pass.
    pub least: f64,
    /// The greatest pass.
    pub most: f64,
    /// How many passes.
    pub n: usize,
}
