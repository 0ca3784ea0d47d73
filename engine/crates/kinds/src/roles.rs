//! What follows from the role of an end.

use proto::Role;

/// The role at the other end.
pub fn other(role: Role) -> Role {
    match role {
        Role::Source => Role::Sink,
        Role::Sink => Role::Source,
    }
}

/// A stream that arrives at the sink is measured by the sink's clock.
pub fn clock_of(role: Role) -> &'static str {
    match role {
        Role::Source => "source",
        Role::Sink => "sink",
    }
}
