//! Sockets, files, CPUs and kernel figures: the only home of `unsafe` in the workspace.
//!
//! The data path uses `rustix` with its raw-syscall backend: libc's `send()` is a cancellation
//! point, which costs a multi-threaded process about a quarter of its rate at one byte.

mod child;
mod disk;
mod features;
mod figures;
mod host;
mod icmp;
mod interrupt;
mod memory;
mod poller;
mod socket;
mod traffic;

pub use child::tie_to_this_thread;
pub use disk::{Room, free_device, is_device, let_inherit, nameless_file, room};
pub use features::{Feature, features};
pub use figures::{
    TcpInfo, WireCounts, children_cpu_seconds, process_cpu_seconds, socket_drops, tcp_info,
    thread_cpu_seconds, wire_counts,
};
pub use host::{
    Link, OFFLOADS, allowed_cpus, descriptor_limit, fill_random, interface_addresses,
    interface_name, interfaces_up, link, open_tap, parse_cpu_list, pin_this_thread, random_number,
    tighten_timer_slack,
};
pub use icmp::{ECHO_HEADER_BYTES, EchoRefusal, EchoReply, EchoSocket};
pub use interrupt::InterruptibleThread;
pub use memory::copy_by_element;
pub use poller::{Happening, Poller, Timer};
pub use socket::{
    LocalEnd, Options, apply, begin_connect, bind_reusable, connect, connect_tcp, granted_buffers,
    keep_segments_small, limit_rate, limit_unsent, local_address, never_fragment, open_tcp,
    open_udp, peer_address, prefer, set_receive_timeout, set_send_timeout, take_error,
};
pub use traffic::{
    Arrived, MOST_BYTES, MOST_DATAGRAMS, RECEIVE_BYTES, Readiness, Released, Wake, accept,
    allow_pages, block, disconnect, end_reading, end_sending, end_traffic, is_readable,
    join_receives, may_pass, memory_file, never_block, path_mtu, receive, receive_from,
    receive_joined, receive_now, receive_stamped, released, reset_on_close, send, send_each,
    send_file, send_from, send_now, send_pages, split_sends, stamp_arrivals, tell_destinations,
    unread_bytes, wait_for_release, wait_readable,
};

/// The error of a system call; `std::io::Error` is made from it where an owner wants more.
pub use rustix::io::Errno;
