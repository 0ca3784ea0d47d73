//! How many descriptors this process may have.

use rustix::process::{Resource, getrlimit};

/// How many descriptors this process may have open; none for no limit.
#[must_use]
pub fn descriptor_limit() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}
