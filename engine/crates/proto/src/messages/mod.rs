//! What the engine, its processes and its controller tell each other.

mod canary;
mod channel;
mod event;
mod link;
mod path_check;

pub use canary::{Canary, CanaryFigure};
pub use channel::{AgentMessage, DescriptorRole, Lane, ProcessMessage};
pub use event::{Event, EventBody, FailureCode, SessionState};
pub use link::{EndReport, LinkMessage, SentCount};
pub use path_check::{PathArrivals, PathCheck, PathFault, PathPassage, PathRequest, PathSize};
