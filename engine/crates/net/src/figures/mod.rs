//! What the kernel counts: of a connection, of a socket, of this process.

mod drops;
mod tcp_info;
mod usage;
mod wire_counts;

pub use drops::socket_drops;
pub use tcp_info::{TcpInfo, tcp_info};
pub use usage::{children_cpu_seconds, process_cpu_seconds, thread_cpu_seconds};
pub use wire_counts::{WireCounts, wire_counts};
