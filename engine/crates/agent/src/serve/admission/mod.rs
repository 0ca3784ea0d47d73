//! Who is let in, what a controller may ask for, and how much of it.

pub mod access;
pub mod demand;
pub mod identity;
pub mod limits;
pub mod memory;
pub mod successors;
pub mod tokens;
pub mod urls;
pub mod waiting_room;
