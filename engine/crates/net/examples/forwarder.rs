//! Test equipment: joins two interfaces frame by frame, delays, drops, doubles and swaps, and logs what it did.
//!
//! `forwarder LEFT RIGHT [name=value]…` runs until it reads the end of its standard input, then prints one JSON object.
//! Names: `delay_us` (every frame, both ways), `jitter_us` (more for every other data frame), `length` (payload of a data
//! frame, UDP, TCP or ICMP), `drop`, `duplicate`, `swap` (every n-th data frame). A data frame that is to be swapped goes out behind
//! the next one. Delay counts from the kernel's receive time stamp. Needs `CAP_NET_RAW`.

use std::collections::VecDeque;
use std::ffi::CString;
use std::io::{self, Write};
use std::mem::{size_of, zeroed};
use std::ptr::{from_mut, from_ref};

const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const RECEIVE_BUFFER_BYTES: libc::c_int = 64 << 20;
const FRAME_BYTES: usize = 9_216;
/// A sleep may end this late; the rest of a wait is spun.
const SPIN_NANOSECONDS: u64 = 300_000;
const LONGEST_SLEEP_NANOSECONDS: u64 = 100_000_000;
/// A frame held back for a swap goes out by itself when no other has come for so long.
const HOLD_NANOSECONDS: u64 = 5_000_000;
const ETHERNET_BYTES: usize = 14;
const IPV6_BYTES: usize = 40;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP: u8 = 1;
const ICMP_V6: u8 = 58;
/// Of UDP, and of ICMP's echo.
const SHORT_HEADER_BYTES: usize = 8;

/// What is to be done.
#[derive(Default)]
struct Plan {
    delay: u64,
    jitter: u64,
    length: usize,
    drop: u64,
    duplicate: u64,
    swap: u64,
}

/// A frame on its way through.
struct Frame {
    arrived: u64,
    due: u64,
    bytes: Vec<u8>,
    is_data: bool,
    copies: u32,
}

/// One direction: what came in at one port and goes out at the other.
#[derive(Default)]
struct Lane {
    queue: VecDeque<Frame>,
    held: Option<Frame>,
    data_frames: u64,
    dropped: u64,
    duplicated: u64,
    swapped: u64,
    /// Arrival and departure of every data frame, and the first 16 bytes of its payload.
    log: Vec<(u64, u64, [u8; 16])>,
}

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [left, right, settings @ ..] = words.as_slice() else {
        return Err(io::Error::other("usage: forwarder LEFT RIGHT [name=value]…"));
    };
    let plan = plan(settings)?;
    let ports = [open(left)?, open(right)?];
    let mut lanes = [Lane::default(), Lane::default()];
    println!("{{\"event\":\"ready\"}}");
    while !is_told_to_end() {
        let next = lanes.iter().filter_map(Lane::next_due).min();
        sleep(&ports, next);
        for (port, lane) in lanes.iter_mut().enumerate() {
            while let Some(frame) = receive(ports[port], &plan)? {
                lane.take(frame, &plan);
            }
        }
        for (port, lane) in lanes.iter_mut().enumerate() {
            lane.send_due(ports[1 - port]);
        }
    }
    let missed = [missed(ports[0]), missed(ports[1])];
    report(&lanes, missed)
}

fn plan(settings: &[String]) -> io::Result<Plan> {
    let mut plan = Plan::default();
    for setting in settings {
        let wrong = || io::Error::other(format!("{setting:?} is no name=value that is known"));
        let (name, value) = setting.split_once('=').ok_or_else(wrong)?;
        let value: u64 = value.parse().map_err(|_| wrong())?;
        match name {
            "delay_us" => plan.delay = value * 1_000,
            "jitter_us" => plan.jitter = value * 1_000,
            "length" => plan.length = usize::try_from(value).map_err(|_| wrong())?,
            "drop" => plan.drop = value,
            "duplicate" => plan.duplicate = value,
            "swap" => plan.swap = value,
            _ => return Err(wrong()),
        }
    }
    Ok(plan)
}

impl Lane {
    fn take(&mut self, mut frame: Frame, plan: &Plan) {
        if !frame.is_data {
            self.queue.push_back(frame);
            return;
        }
        self.data_frames += 1;
        let is_turn = |every: u64| every > 0 && self.data_frames % every == 0;
        if is_turn(plan.drop) {
            self.dropped += 1;
            return;
        }
        if self.data_frames % 2 == 1 {
            frame.due += plan.jitter;
        }
        let is_swapped = self.held.is_none() && is_turn(plan.swap);
        if is_turn(plan.duplicate) {
            self.duplicated += 1;
            frame.copies = 2;
        }
        if is_swapped {
            self.held = Some(frame);
            return;
        }
        let due = frame.due;
        self.queue.push_back(frame);
        if let Some(mut held) = self.held.take() {
            held.due = due;
            self.swapped += 1;
            self.queue.push_back(held);
        }
    }

    fn next_due(&self) -> Option<u64> {
        let held = self.held.as_ref().map(|frame| frame.arrived + HOLD_NANOSECONDS);
        self.queue.front().map(|frame| frame.due).into_iter().chain(held).min()
    }

    fn send_due(&mut self, port: libc::c_int) {
        while self.queue.front().is_some_and(|frame| now() >= frame.due) {
            if let Some(frame) = self.queue.pop_front() {
                self.send(port, &frame);
            }
        }
        if let Some(frame) = self.held.take_if(|frame| now() >= frame.arrived + HOLD_NANOSECONDS) {
            self.send(port, &frame);
        }
    }

    fn send(&mut self, port: libc::c_int, frame: &Frame) {
        let departed = now();
        for _ in 0..frame.copies {
            // SAFETY: the pointer and the length are those of one live buffer.
            let sent =
                unsafe { libc::send(port, frame.bytes.as_ptr().cast(), frame.bytes.len(), 0) };
            assert!(sent >= 0, "the interface took no frame: {}", io::Error::last_os_error());
        }
        if frame.is_data {
            let mut start = [0; 16];
            let payload = payload(&frame.bytes).unwrap_or_default();
            let length = payload.len().min(16);
            start[..length].copy_from_slice(&payload[..length]);
            self.log.push((frame.arrived, departed, start));
        }
    }
}

/// The UDP or TCP payload of a frame; none when it is neither.
fn payload(frame: &[u8]) -> Option<&[u8]> {
    let packet = frame.get(ETHERNET_BYTES..)?;
    let word = |place: usize| {
        Some(usize::from(u16::from_be_bytes([*packet.get(place)?, *packet.get(place + 1)?])))
    };
    let (protocol, begin, end) = match frame[12..ETHERNET_BYTES] {
        [8, 0] => (*packet.get(9)?, usize::from(packet[0] & 15) * 4, word(2)?),
        [0x86, 0xdd] => (*packet.get(6)?, IPV6_BYTES, IPV6_BYTES + word(4)?),
        _ => return None,
    };
    let header = match protocol {
        UDP | ICMP | ICMP_V6 => SHORT_HEADER_BYTES,
        TCP => usize::from(packet.get(begin + 12)? >> 4) * 4,
        _ => return None,
    };
    packet.get(begin + header..end)
}

/// Nanoseconds of the wall clock, which receive time stamps use too.
fn now() -> u64 {
    // SAFETY: a timespec is plain data, and the clock exists.
    let time = unsafe {
        let mut time: libc::timespec = zeroed();
        libc::clock_gettime(libc::CLOCK_REALTIME, from_mut(&mut time));
        time
    };
    nanoseconds(time)
}

fn nanoseconds(time: libc::timespec) -> u64 {
    let part = |value: i64| u64::try_from(value).expect("the wall clock is after 1970");
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

/// A packet socket that sees what arrives at one interface and sends there.
fn open(device: &str) -> io::Result<libc::c_int> {
    let name = CString::new(device)?;
    // SAFETY: plain calls; every pointer is to a live value of the size given with it.
    unsafe {
        let index = libc::if_nametoindex(name.as_ptr());
        if index == 0 {
            return Err(io::Error::last_os_error());
        }
        let protocol = u16::try_from(libc::ETH_P_ALL).map_err(io::Error::other)?.to_be();
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        let port = check(libc::socket(libc::AF_PACKET, kind, i32::from(protocol)))?;
        let mut place: libc::sockaddr_ll = zeroed();
        place.sll_family = libc::AF_PACKET.try_into().map_err(io::Error::other)?;
        place.sll_protocol = protocol;
        place.sll_ifindex = index.try_into().map_err(io::Error::other)?;
        check(libc::bind(port, from_ref(&place).cast(), length_of::<libc::sockaddr_ll>()))?;
        set(port, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)?;
        set(port, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
        set(port, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES)?;
        Ok(port)
    }
}

fn set(
    port: libc::c_int,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the pointer is to a live integer of the size given with it.
    let status = unsafe {
        libc::setsockopt(port, level, name, from_ref(&value).cast(), length_of::<libc::c_int>())
    };
    check(status).map(|_| ())
}

fn length_of<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).expect("socket options are small")
}

fn check(status: libc::c_int) -> io::Result<libc::c_int> {
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(status) }
}

/// A frame that has arrived, if there is one.
fn receive(port: libc::c_int, plan: &Plan) -> io::Result<Option<Frame>> {
    let mut bytes = vec![0; FRAME_BYTES];
    let mut control = [0_u64; 16];
    let mut place = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the message points to live buffers of the lengths it names; a control message is read only when the
    // kernel says that it is a time stamp.
    let (received, arrived) = unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = from_mut(&mut place);
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let received = libc::recvmsg(port, from_mut(&mut message), 0);
        let stamp = libc::CMSG_FIRSTHDR(from_ref(&message));
        let has_stamp =
            received >= 0 && !stamp.is_null() && (*stamp).cmsg_type == libc::SCM_TIMESTAMPNS;
        (
            received,
            has_stamp.then(|| {
                nanoseconds(libc::CMSG_DATA(stamp).cast::<libc::timespec>().read_unaligned())
            }),
        )
    };
    let Ok(received) = usize::try_from(received) else {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::WouldBlock { Ok(None) } else { Err(error) };
    };
    bytes.truncate(received);
    let arrived = arrived.unwrap_or_else(now);
    let is_data =
        payload(&bytes).is_some_and(|payload| payload.len() == plan.length && plan.length > 0);
    Ok(Some(Frame { arrived, due: arrived + plan.delay, bytes, is_data, copies: 1 }))
}

/// Waits for a frame, the end of the input, or shortly before `due`.
fn sleep(ports: &[libc::c_int; 2], due: Option<u64>) {
    let left = due.map(|due| due.saturating_sub(now()));
    if left.is_some_and(|left| left <= SPIN_NANOSECONDS) {
        return;
    }
    let limit = left.map_or(LONGEST_SLEEP_NANOSECONDS, |left| left - SPIN_NANOSECONDS);
    let limit = u32::try_from(limit.min(LONGEST_SLEEP_NANOSECONDS)).expect("a tenth of a second");
    let limit = libc::timespec { tv_sec: 0, tv_nsec: limit.into() };
    let mut waited =
        [ports[0], ports[1], 0].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: the pointers are to live values, and three descriptors are waited for.
    unsafe { libc::ppoll(waited.as_mut_ptr(), 3, from_ref(&limit), std::ptr::null()) };
}

fn is_told_to_end() -> bool {
    let mut input = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
    // SAFETY: one live descriptor, and no waiting.
    unsafe { libc::poll(from_mut(&mut input), 1, 0) > 0 }
}

/// Frames that the socket had no room for: they never came this far.
fn missed(port: libc::c_int) -> u32 {
    // SAFETY: the kernel writes at most the length given.
    unsafe {
        let mut statistics: libc::tpacket_stats = zeroed();
        let mut length = length_of::<libc::tpacket_stats>();
        let place = from_mut(&mut statistics).cast();
        libc::getsockopt(
            port,
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            place,
            from_mut(&mut length),
        );
        statistics.tp_drops
    }
}

fn report(lanes: &[Lane; 2], missed: [u32; 2]) -> io::Result<()> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    write!(output, "{{\"event\":\"done\",\"lanes\":[")?;
    for (place, (lane, missed)) in lanes.iter().zip(missed).enumerate() {
        let comma = if place == 0 { "" } else { "," };
        let (data, dropped) = (lane.data_frames, lane.dropped);
        let (duplicated, swapped) = (lane.duplicated, lane.swapped);
        write!(
            output,
            "{comma}{{\"data_frames\":{data},\"dropped\":{dropped},\"duplicated\":{duplicated},\
             \"swapped\":{swapped},\"missed\":{missed},\"log\":["
        )?;
        for (place, (arrived, departed, start)) in lane.log.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let start = u128::from_be_bytes(*start);
            write!(output, "{comma}[{arrived},{departed},{start}]")?;
        }
        write!(output, "]}}")?;
    }
    writeln!(output, "]}}")?;
    output.flush()
}
