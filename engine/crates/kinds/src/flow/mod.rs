//! What a flow's thread keeps: its start, its pace, its counts and its time.

pub mod counter;
pub mod gate;
pub mod pacer;
pub mod part;
pub mod receipts;
pub mod thread_times;
