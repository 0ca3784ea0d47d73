//! What was measured, as it becomes a half of the result.

pub mod buffers;
pub mod course;
pub mod distribution;
pub mod requests;
pub mod streams;
pub mod tcp_window;
pub mod window;
