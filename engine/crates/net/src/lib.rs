//! Sockets, CPUs and kernel figures: the only home of `unsafe` in the workspace.
//!
//! The data path uses `rustix` with its raw-syscall backend: libc's `send()` is a cancellation
//! point, which costs a multi-threaded process about a quarter of its rate at one byte.

mod addressed;
mod affinity;
mod arrivals;
mod batches;
mod control;
mod drops;
mod ethtool;
mod features;
mod icmp;
mod in_place;
mod interrupt;
mod limits;
mod pacing;
mod poller;
mod random;
mod socket;
mod tap;
mod tcp_info;
mod traffic;
mod usage;
mod wire_counts;
mod words;

pub use addressed::{Arrived, receive_from, send_from, tell_destinations};
pub use affinity::{parse_cpu_list, pin_this_thread, tighten_timer_slack};
pub use arrivals::{receive_stamped, stamp_arrivals};
pub use batches::{
    MOST_BYTES, MOST_DATAGRAMS, RECEIVE_BYTES, join_receives, path_mtu, receive_joined, send_each,
    split_sends,
};
pub use drops::socket_drops;
pub use ethtool::{Link, OFFLOADS, interface_addresses, interface_name, interfaces_up, link};
pub use features::{Feature, features};
pub use icmp::{ECHO_HEADER_BYTES, EchoRefusal, EchoReply, EchoSocket};
pub use in_place::{
    Released, allow_pages, memory_file, released, send_file, send_pages, wait_for_release,
};
pub use interrupt::InterruptibleThread;
pub use limits::descriptor_limit;
pub use pacing::{limit_rate, limit_unsent};
pub use poller::{Happening, Poller, Timer};
pub use random::{fill_random, random_number};
pub use socket::{
    LocalEnd, Options, apply, begin_connect, bind_reusable, connect, connect_tcp, granted_buffers,
    local_address, open_tcp, open_udp, peer_address, set_receive_timeout, set_send_timeout,
    take_error,
};
pub use tap::open_tap;
pub use tcp_info::{TcpInfo, tcp_info};
pub use traffic::{
    Readiness, Wake, accept, block, disconnect, end_reading, end_sending, end_traffic, is_readable,
    may_pass, never_block, receive, receive_now, reset_on_close, send, send_now, unread_bytes,
    wait_readable,
};
pub use usage::{process_cpu_seconds, thread_cpu_seconds};
pub use wire_counts::{WireCounts, wire_counts};
pub use words::{keep_segments_small, never_fragment, prefer};

/// The error of a system call; `std::io::Error` is made from it where an owner wants more.
pub use rustix::io::Errno;
