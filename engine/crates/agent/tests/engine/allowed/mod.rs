//! What only an engine's operator can allow.

mod disks;
mod urls;
