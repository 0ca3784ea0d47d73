//! What this host has: CPUs, interfaces, limits, random numbers.

mod affinity;
mod ethtool;
mod limits;
mod random;
mod tap;

pub use affinity::{allowed_cpus, parse_cpu_list, pin_this_thread, tighten_timer_slack};
pub use ethtool::{Link, OFFLOADS, interface_addresses, interface_name, interfaces_up, link};
pub use limits::descriptor_limit;
pub use random::{fill_random, random_number};
pub use tap::open_tap;
