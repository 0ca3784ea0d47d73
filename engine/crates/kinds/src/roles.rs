//! What follows from the role of an end.

use proto::{Reason, Role, reason};

/// The role at the other end.
pub fn other(role: Role) -> Role {
    match role {
        Role::Source => Role::Sink,
        Role::Sink => Role::Source,
    }
}

/// What sentences call the end of a role.
pub fn role_word(role: Role) -> Reason {
    match role {
        Role::Source => reason!("end_source"),
        Role::Sink => reason!("end_sink"),
    }
}

/// A stream that arrives at the sink is measured by the sink's clock.
pub fn clock_of(role: Role) -> &'static str {
    match role {
        Role::Source => "source",
        Role::Sink => "sink",
    }
}
