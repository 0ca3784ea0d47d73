//! Where the warm-up of received TCP flows ended, from offsets told by the sender.
//!
//! All flows have one window: it begins when the first measured byte of any flow arrives, and from then on every byte
//! of every flow counts. Flows cut one by one would leave those out that a slow flow still has from its warm-up, while
//! the window already runs.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use stats::Crossing;

use super::threads::Threads;
use crate::end::End;
use crate::flow::receipts::{Receipts, Received};
use crate::measurements::FlowCut;

/// Receipts are kept from this long before the warm-up's end: the two ends' clocks start apart by a network delay.
const LEAD: Duration = Duration::from_millis(200);
/// Receipts of a flow are a millisecond apart, or more where many flows have to be asked.
const INTERVAL: Duration = Duration::from_millis(1);
/// What asking one flow may cost of the interval.
const INTERVAL_PER_FLOW: Duration = Duration::from_micros(10);
/// Receipts of all flows together; what a busy receiver keeps for a mark that comes late.
const RECEIPTS: usize = 1 << 18;

/// The search for the marked offsets.
pub struct Cuts {
    begin: Instant,
    interval: Duration,
    next: Instant,
    is_begun: bool,
    marks: BTreeMap<u32, u64>,
    crossing: Option<Crossing>,
    found: BTreeMap<u32, FlowCut>,
    flows: usize,
}

impl Cuts {
    /// A search that begins shortly before the warm-up's end.
    pub fn new(begin: Instant, warmup: Duration, flows: u32) -> Self {
        Self {
            begin,
            interval: INTERVAL.max(INTERVAL_PER_FLOW * flows),
            next: begin + warmup.saturating_sub(LEAD),
            is_begun: false,
            marks: BTreeMap::new(),
            crossing: None,
            found: BTreeMap::new(),
            flows: flows as usize,
        }
    }

    /// When the flows are to be looked at next; none when the cut is found.
    pub fn next_due(&self) -> Option<Instant> {
        self.found.is_empty().then_some(self.next)
    }

    /// Notes a flow's mark.
    pub fn mark(&mut self, flow: u32, offset_bytes: u64) {
        if (flow as usize) < self.flows {
            self.marks.insert(flow, offset_bytes);
        }
    }

    /// Looks at the flows if it is time: has an offset been passed, and is it known what all had received by then?
    pub fn sample(&mut self, now: Instant, threads: &Threads, end: &End) {
        if now < self.next || self.next_due().is_none() {
            return;
        }
        self.next = now + self.interval;
        if self.is_begun {
            for (flow, receipts, counter) in threads.receipts() {
                receipts.note_for_waiting(end.flows[flow as usize].as_fd(), counter);
            }
        } else {
            self.begin(threads);
        }
        self.crossing = self.crossing.or_else(|| self.first_crossing(threads));
        let is_known = self.crossing.is_some_and(|crossing| {
            threads.receipts().all(|(_, receipts, _)| receipts.reach(crossing.at_seconds))
        });
        if is_known {
            self.cut_all(threads);
        }
    }

    /// Cuts after the last byte, if not before.
    pub fn finish(&mut self, threads: &Threads) {
        if self.next_due().is_some() {
            threads.receipts().for_each(|(_, receipts, counter)| receipts.note_last(counter));
            self.crossing = self.crossing.or_else(|| self.first_crossing(threads));
            self.cut_all(threads);
        }
    }

    fn begin(&mut self, threads: &Threads) {
        let capacity = RECEIPTS / self.flows.max(1);
        for (_, receipts, counter) in threads.receipts() {
            receipts.keep(self.begin, self.interval, capacity, counter);
        }
        self.is_begun = true;
    }

    /// When the first measured byte of any flow had come.
    fn first_crossing(&self, threads: &Threads) -> Option<Crossing> {
        earliest(threads.receipts().map(|(flow, receipts, _)| (flow, receipts)), &self.marks)
    }

    /// Begins the window for all flows. What counts is when bytes reach this host: what waits for a slow reader at the
    /// begin has come before it, and at the end nothing waits any more.
    fn cut_all(&mut self, threads: &Threads) {
        threads.receipts().for_each(|(_, receipts, _)| receipts.end());
        let Some(at_seconds) = self.crossing.map(|crossing| crossing.at_seconds) else {
            return;
        };
        let received: BTreeMap<u32, Received> = threads
            .receipts()
            .filter_map(|(flow, receipts, _)| Some((flow, receipts.at(at_seconds)?)))
            .collect();
        let uncertainty = uncertainty(received.values());
        for (flow, received) in received {
            let cut = FlowCut {
                offset_bytes: 0,
                bytes_before: received.bytes,
                at: self.begin + Duration::from_secs_f64(at_seconds),
                uncertainty,
                data_segments: received.segments,
            };
            self.found.insert(flow, cut);
        }
    }

    /// The cuts that were found, each with its flow's mark.
    pub fn into_found(mut self) -> BTreeMap<u32, FlowCut> {
        for (flow, offset_bytes) in self.marks {
            if let Some(cut) = self.found.get_mut(&flow) {
                cut.offset_bytes = offset_bytes;
            }
        }
        self.found
    }
}

fn earliest<'a>(
    receipts: impl Iterator<Item = (u32, &'a Receipts)>,
    marks: &BTreeMap<u32, u64>,
) -> Option<Crossing> {
    receipts
        .filter_map(|(flow, receipts)| receipts.crossing(*marks.get(&flow)?))
        .min_by(|one, other| one.at_seconds.total_cmp(&other.at_seconds))
}

/// How long all flows together take for the bytes that the sum over them may be off by. A flow's own bytes before the
/// cut are anything between its two receipts, as likely one as another, whose standard deviation is the distance by the
/// root of twelve; of independent flows the squares add up.
fn uncertainty<'a>(received: impl Iterator<Item = &'a Received>) -> Duration {
    let (mut variance, mut rate) = (0.0, 0.0);
    for Received { bracket, .. } in received {
        if bracket.seconds.is_infinite() {
            return Duration::MAX;
        }
        variance += (bracket.count as f64).powi(2) / 12.0;
        rate += bracket.count as f64 / bracket.seconds;
    }
    if rate == 0.0 {
        return Duration::ZERO;
    }
    Duration::try_from_secs_f64(variance.sqrt() / rate).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use stats::Bracket;

    use super::{earliest, uncertainty};
    use crate::flow::counter::Counter;
    use crate::flow::receipts::{Receipts, Received};

    const APART: Duration = Duration::from_millis(2);

    fn received(seconds: f64, count: u64) -> Received {
        Received { bytes: 0, bracket: Bracket { seconds, count }, segments: None }
    }

    fn connection() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let sender = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        (sender, listener.accept().expect("connects").0)
    }

    fn kept(origin: Instant) -> (Receipts, Counter) {
        let (receipts, counter) = (Receipts::default(), Counter::default());
        receipts.keep(origin, Duration::from_millis(1), 8, &counter);
        (receipts, counter)
    }

    fn wait_unread(socket: &TcpStream, bytes: u64) {
        while net::unread_bytes(socket.as_fd()) != Ok(bytes) {
            sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn the_window_begins_with_the_first_measured_byte_of_any_flow() {
        let origin = Instant::now();
        let (mut sender, receiver) = connection();
        let (busy, _) = kept(origin);
        let (stalled_before_its_mark, _) = kept(origin);
        sender.write_all(&[0; 1_000]).expect("the connection stands");
        wait_unread(&receiver, 1_000);
        sleep(APART);
        busy.note(receiver.as_fd(), 500);
        sleep(APART);
        let noted_at = origin.elapsed().as_secs_f64();
        let marks = BTreeMap::from([(0, 750), (1, 500)]);
        let flows = [(0, &busy), (1, &stalled_before_its_mark)];
        let crossing = earliest(flows.into_iter(), &marks).expect("flow 0 has crossed");
        assert!(crossing.at_seconds < noted_at);
        assert!(earliest(flows.into_iter(), &BTreeMap::new()).is_none());
        assert!(earliest([flows[1]].into_iter(), &marks).is_none());
    }

    #[test]
    fn what_waits_to_be_read_has_been_received() {
        let origin = Instant::now();
        let (mut sender, receiver) = connection();
        let (receipts, counter) = kept(origin);
        sender.write_all(&[0; 1_000]).expect("the connection stands");
        wait_unread(&receiver, 1_000);
        sleep(APART);
        receipts.note_for_waiting(receiver.as_fd(), &counter);
        assert!(!receipts.reach(origin.elapsed().as_secs_f64() - 0.0005));
        receipts.set_waiting(true);
        receipts.note_for_waiting(receiver.as_fd(), &counter);
        let now = origin.elapsed().as_secs_f64();
        assert_eq!(receipts.at(now).map(|received| received.bytes), Some(1_000));
    }

    #[test]
    fn bytes_that_came_right_after_a_receipt_are_noted_at_the_end() {
        let (mut sender, receiver) = connection();
        let receipts = Receipts::default();
        let counter = Counter::default();
        receipts.keep(Instant::now(), Duration::from_mins(1), 8, &counter);
        sender.write_all(&[0; 1_000]).expect("the connection stands");
        wait_unread(&receiver, 1_000);
        receipts.note(receiver.as_fd(), 0);
        counter.set_bytes(1_500);
        receipts.note(receiver.as_fd(), 1_500);
        let marks = BTreeMap::from([(0, 1_000)]);
        assert!(earliest([(0, &receipts)].into_iter(), &marks).is_none());
        receipts.note_last(&counter);
        assert!(earliest([(0, &receipts)].into_iter(), &marks).is_some());
    }

    #[test]
    fn many_independent_flows_are_cut_more_certainly_than_one() {
        let one = uncertainty([received(0.12, 1_200)].iter()).as_secs_f64();
        assert!((one - 0.12 / 12_f64.sqrt()).abs() < 1e-9);
        let hundred = uncertainty(vec![received(0.12, 1_200); 100].iter()).as_secs_f64();
        assert!((hundred - one / 10.0).abs() < 1e-9);
        assert_eq!(uncertainty([received(0.12, 0)].iter()), Duration::ZERO);
        let unknown = [received(0.12, 1_200), received(f64::INFINITY, 0)];
        assert_eq!(uncertainty(unknown.iter()), Duration::MAX);
    }
}
