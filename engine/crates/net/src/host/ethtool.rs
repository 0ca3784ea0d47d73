//! What the kernel says of a network interface: driver, speed, offloads, addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::socket::last_error;

const SIOCETHTOOL: u32 = 0x8946;
const ETHTOOL_GDRVINFO: u32 = 0x03;
const ETHTOOL_GFLAGS: u32 = 0x25;
const FLAG_LRO: u32 = 1 << 15;
/// `IFF_UP` of an interface's flags.
const IS_UP: u32 = 1;

/// Offloads by name and the `ETHTOOL_G…` command that tells of each.
pub const OFFLOADS: [(&str, u32); 6] = [
    ("rx_checksum", 0x14),
    ("tx_checksum", 0x16),
    ("scatter_gather", 0x18),
    ("tso", 0x1e),
    ("gso", 0x23),
    ("gro", 0x2b),
];

/// What ethtool tells of one interface.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The driver's name, where there is one.
    pub driver: Option<String>,
    /// Whether each offload is on.
    pub offloads: BTreeMap<String, bool>,
}

/// Asks ethtool about the interface `name`; what it doesn't answer is absent.
///
/// # Errors
/// When no socket can be had to ask with.
pub fn link(name: &str) -> Result<Link, Errno> {
    let socket = rustix::net::socket_with(
        AddressFamily::INET,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let mut offloads = BTreeMap::new();
    for (offload, command) in OFFLOADS {
        if let Ok(value) = ask_value(&socket, name, command) {
            offloads.insert(offload.to_owned(), value != 0);
        }
    }
    if let Ok(flags) = ask_value(&socket, name, ETHTOOL_GFLAGS) {
        offloads.insert("lro".to_owned(), flags & FLAG_LRO != 0);
    }
    Ok(Link { driver: ask_driver(&socket, name).ok(), offloads })
}

/// The name of the interface with this index; none where there is none, as of 0.
#[must_use]
pub fn interface_name(index: u32) -> Option<String> {
    let mut name = [0; libc::IF_NAMESIZE];
    // SAFETY: the buffer has room for the longest name and its end, which is what the call writes at most.
    let found = unsafe { libc::if_indextoname(index, name.as_mut_ptr()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: the call has written a name with its end into the buffer, which is still there.
    let name = unsafe { CStr::from_ptr(found) };
    name.to_str().ok().map(str::to_owned)
}

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// `struct ethtool_drvinfo`.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    rest: [u8; 160],
}

fn ask_value(socket: &OwnedFd, name: &str, command: u32) -> Result<u32, Errno> {
    let mut value = Value { command, data: 0 };
    ask(socket, name, (&raw mut value).cast())?;
    Ok(value.data)
}

fn ask_driver(socket: &OwnedFd, name: &str) -> Result<String, Errno> {
    let mut info = DriverInfo { command: ETHTOOL_GDRVINFO, driver: [0; 32], rest: [0; 160] };
    ask(socket, name, (&raw mut info).cast())?;
    let text = CStr::from_bytes_until_nul(&info.driver).map_err(|_| Errno::ILSEQ)?;
    Ok(text.to_string_lossy().into_owned())
}

fn ask(socket: &OwnedFd, name: &str, command: *mut libc::c_char) -> Result<(), Errno> {
    // SAFETY: `ifreq` is plain integers and a pointer, for which all zeros is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(Errno::NAMETOOLONG);
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = libc::c_char::from_ne_bytes([byte]);
    }
    request.ifr_ifru.ifru_data = command;
    // SAFETY: `request` names an interface and points to the structure that `command` begins with,
    // each sized as the kernel's; both live through the call.
    let status = unsafe {
        libc::ioctl(socket.as_raw_fd(), libc::Ioctl::from(SIOCETHTOOL), &raw mut request)
    };
    if status == 0 { Ok(()) } else { Err(last_error()) }
}

/// Addresses of every interface, by interface name.
///
/// # Errors
/// What `getifaddrs(3)` says.
pub fn interface_addresses() -> Result<BTreeMap<String, Vec<IpAddr>>, Errno> {
    let mut addresses: BTreeMap<String, Vec<IpAddr>> = BTreeMap::new();
    for_each_address(|name, _, address| addresses.entry(name).or_default().extend(address))?;
    Ok(addresses)
}

/// Names of the interfaces that are up, in the process's own network namespace.
///
/// # Errors
/// What `getifaddrs(3)` says.
pub fn interfaces_up() -> Result<BTreeSet<String>, Errno> {
    let mut names = BTreeSet::new();
    for_each_address(|name, is_up, _| {
        if is_up {
            names.insert(name);
        }
    })?;
    Ok(names)
}

/// Shows each entry's interface, whether that is up, and its IP address where it has one.
fn for_each_address(mut show: impl FnMut(String, bool, Option<IpAddr>)) -> Result<(), Errno> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: `first` is valid for writes; on success it heads a list that `freeifaddrs` frees below.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return Err(last_error());
    }
    let mut next = first;
    while !next.is_null() {
        // SAFETY: a non-null entry of the list stays valid, with its name, until the list is freed.
        let entry = unsafe { &*next };
        // SAFETY: as above; the name is a C string.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned();
        let is_up = entry.ifa_flags & IS_UP != 0;
        show(name, is_up, ip_address(entry.ifa_addr));
        next = entry.ifa_next;
    }
    // SAFETY: `first` came from `getifaddrs`, and nothing borrowed from the list is left.
    unsafe { libc::freeifaddrs(first) };
    Ok(())
}

fn ip_address(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: a non-null address of the list begins with its family, which tells the rest's layout.
    unsafe {
        match i32::from((*address).sa_family) {
            libc::AF_INET => {
                let inner = address.cast::<libc::sockaddr_in>().read_unaligned();
                Some(Ipv4Addr::from(u32::from_be(inner.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let inner = address.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(Ipv6Addr::from(inner.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::{interface_addresses, interface_name, interfaces_up, link};

    #[test]
    fn the_loopback_interface_has_its_address_and_offloads() {
        let addresses = interface_addresses().expect("the kernel tells");
        assert!(addresses["lo"].contains(&IpAddr::from(Ipv4Addr::LOCALHOST)));
        assert!(link("lo").expect("a socket").offloads.contains_key("gso"));
    }

    #[test]
    fn an_index_is_an_interfaces_or_nobodys() {
        assert_eq!(interface_name(1).as_deref(), Some("lo"));
        assert_eq!(interface_name(0), None);
    }

    #[test]
    fn the_loopback_is_up() {
        assert!(interfaces_up().expect("the kernel tells").contains("lo"));
    }

    #[test]
    fn an_interface_that_does_not_exist_has_nothing() {
        let nothing = link("no-such-link").expect("a socket");
        assert_eq!((nothing.driver, nothing.offloads.len()), (None, 0));
    }
}
