//! What reaches a session's main thread.

use std::os::fd::OwnedFd;

use proto::{LinkMessage, Reason};

use crate::failure::Failure;
use crate::flow::thread_times::ThreadTimes;
use crate::measurements::Finished;
use crate::supply::Supply;

/// One thing that happened.
pub enum Signal {
    /// A line came on the link.
    Link(LinkMessage),
    /// The link is gone; why.
    LinkLost(Reason),
    /// The agent hands something over.
    Supply(Supply),
    /// The source's connections are up, or could not be made.
    Connected(Result<Vec<OwnedFd>, Failure>),
    /// A sending flow passed the end of its warm-up at this offset.
    Mark {
        /// The flow's index.
        flow: u32,
        /// Bytes sent before the first measured one.
        offset_bytes: u64,
    },
    /// The task of this place has ended.
    Done {
        /// Its place among the session's tasks.
        task: usize,
        /// What it measured.
        finished: Box<Finished>,
        /// How its thread spent its time.
        times: ThreadTimes,
    },
}
