//! The engine's program.
fn main() {}
