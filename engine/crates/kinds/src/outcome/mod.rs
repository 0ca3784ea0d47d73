//! What was measured, and how it becomes a half of the result, and the result.

pub mod buffers;
pub mod compose;
pub mod course;
pub mod distribution;
pub mod measurements;
pub mod requests;
pub mod streams;
pub mod tcp_window;
pub mod window;
