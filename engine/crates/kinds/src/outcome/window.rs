//! The measured window of an end, as its half tells it.

use std::time::{Instant, SystemTime};

use proto::{Role, Window};

use crate::end::End;
use crate::roles::clock_of;

/// The window in which `end` received `bytes`.
pub fn window(end: &End, begin: Option<Instant>, seconds: f64, bytes: u64) -> Option<Window> {
    let begin = begin?;
    let (bytes, reverse_bytes) = match end.role {
        Role::Sink => (bytes, None),
        Role::Source => (0, Some(bytes)),
    };
    Some(Window {
        started_at: wall_clock(begin).into(),
        elapsed_seconds: seconds,
        bytes,
        reverse_bytes,
        clock: clock_of(end.role).to_owned(),
    })
}

/// The wall-clock time of a monotonic instant that has passed.
pub fn wall_clock(instant: Instant) -> SystemTime {
    let now = SystemTime::now();
    now.checked_sub(instant.elapsed()).unwrap_or(now)
}
