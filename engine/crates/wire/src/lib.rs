//! A wire in user space between two network namespaces.
//!
//! At each end is a TAP device, made here. Frames go from one to the other by a `Lane` each way, which decides the fate
//! of each by its `Way`, the description: `delay=600ms,rate=1Mbit,queue=1MB,loss=2%`. Everything by chance comes from one seed.
//! What the wire did is counted by protocol, and logged frame by frame when asked: the truth that proofs compare with.
//!
//! ARP, neighbour discovery and multicasts pass at once, whatever is described, as if each end's gateway were next door.

mod control;
mod counts;
mod ends;
mod lane;
mod log;
mod packet;
mod run;
mod too_big;
mod way;

pub use run::{Options, run};
