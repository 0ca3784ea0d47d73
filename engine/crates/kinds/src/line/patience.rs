//! How long to wait for another end, by how far it is.

use std::time::Duration;

/// What takes a near end no time takes one from far so many round trips, with one of its packets lost.
const ROUND_TRIPS: u32 = 4;

/// How long to wait for what a near end does within `limit`.
#[must_use]
pub fn patience(limit: Duration, round_trip: Duration) -> Duration {
    limit + round_trip * ROUND_TRIPS
}
