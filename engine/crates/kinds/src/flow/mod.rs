//! What a flow's thread works with: its task, its time, its counts and its loops.

pub mod counter;
pub mod gate;
pub mod loops;
pub mod pacer;
pub mod part;
pub mod receipts;
pub mod task;
pub mod thread_times;
