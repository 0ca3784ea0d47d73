//! What reaches a session's main thread, and the rules that end a session from outside.

pub mod link;
pub mod patience;
pub mod signal;
pub mod steps;
pub mod traffic;

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use proto::{FailureCode, LinkMessage, Reason, reason};

use crate::failure::Failure;
use crate::line::link::Link;
use crate::line::patience::patience;
use crate::line::signal::Signal;
use crate::line::traffic::Traffic;
use crate::supply::Supply;

/// Both ends say that they live each second.
const ALIVE_INTERVAL: Duration = Duration::from_secs(1);
/// A peer that says nothing for this long, while its host acknowledges what is said to it, is lost.
const SILENCE_LIMIT: Duration = Duration::from_secs(3);
/// A path on which nothing at all comes back may be cut for a while; TCP tries again after 13 s at the latest.
const OUTAGE_LIMIT: Duration = Duration::from_secs(15);
/// No path is longer; what a queue makes of it may be.
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(30);
/// What a peer said before it went away is here by then.
const LAST_WORDS_LIMIT: Duration = Duration::from_millis(100);

/// The main thread's view of the outside.
pub struct Line {
    link: Option<Link>,
    signals: Receiver<Signal>,
    /// Heard while something else was waited for; the next to be given.
    kept: VecDeque<Signal>,
    sender: Sender<Signal>,
    last_heard: Instant,
    /// Since when the peer's host has acknowledged all that was said, if it does.
    answering_since: Option<Instant>,
    traffic: Option<Traffic>,
    next_alive: Instant,
    expects_end: bool,
    is_closed: bool,
}

impl Line {
    /// A line without a link yet.
    pub fn new() -> Self {
        let (sender, signals) = std::sync::mpsc::channel();
        let now = Instant::now();
        Self {
            link: None,
            signals,
            kept: VecDeque::new(),
            sender,
            last_heard: now,
            answering_since: None,
            traffic: None,
            next_alive: now,
            expects_end: false,
            is_closed: false,
        }
    }

    /// Where other threads report.
    pub fn sender(&self) -> Sender<Signal> {
        self.sender.clone()
    }

    /// Takes the link into use.
    pub fn set_link(&mut self, link: Link) {
        self.link = Some(link);
        self.last_heard = Instant::now();
        self.answering_since = Some(self.last_heard);
        self.next_alive = self.last_heard + ALIVE_INTERVAL;
    }

    /// The link, once there is one.
    pub fn link(&self) -> Option<&Link> {
        self.link.as_ref()
    }

    /// From now on what comes on the test's own flows is a sign of life too.
    pub fn watch(&mut self, traffic: Traffic) {
        self.traffic = Some(traffic);
    }

    /// Whether the other end has closed the link, or broke it.
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// How long to wait for what a near peer does within `limit`.
    pub fn patience(&self, limit: Duration) -> Duration {
        patience(limit, self.round_trip())
    }

    /// The link's round trip by now, where the kernel tells.
    pub fn round_trip(&self) -> Duration {
        let round_trip = self.link.as_ref().and_then(Link::rtt).unwrap_or_default();
        round_trip.min(LONGEST_ROUND_TRIP)
    }

    /// From now on a closed link is what is expected, not a lost peer.
    pub fn expect_end(&mut self) {
        self.expects_end = true;
    }

    /// Sends a line to the peer.
    ///
    /// # Errors
    /// When the peer is gone: with the reason that it gave before, if it gave one.
    pub fn tell(&mut self, message: &LinkMessage) -> Result<(), Failure> {
        let link =
            self.link.as_ref().ok_or_else(|| Failure::internal(reason!("says_no_link_yet")))?;
        let Err(reason) = link.send(message) else { return Ok(()) };
        let until = Instant::now() + LAST_WORDS_LIMIT;
        while let Some(signal) = self.next_of_any_kind(until) {
            let is_last = matches!(signal, Signal::LinkLost(_));
            let signal = self.sort(signal)?;
            self.kept.extend(signal);
            if is_last {
                break;
            }
        }
        Err(Failure::new(FailureCode::PeerLost, reason))
    }

    /// Keeps signals that came before their time for the next waits.
    pub fn keep(&mut self, signals: Vec<Signal>) {
        self.kept.extend(signals);
    }

    /// Waits for the next signal until `until`; none when the time has come.
    ///
    /// # Errors
    /// When the session is cancelled, the peer failed, fell silent or went away.
    pub fn wait(&mut self, until: Instant) -> Result<Option<Signal>, Failure> {
        if let Some(signal) = self.kept.pop_front() {
            return Ok(Some(signal));
        }
        loop {
            let now = Instant::now();
            let is_second_over = self.keep_alive(now)?;
            // What has come is heard before the peer is taken for silent: it may be this thread that was held up.
            if let Ok(signal) = self.signals.try_recv() {
                if let Some(signal) = self.sort(signal)? {
                    return Ok(Some(signal));
                }
                continue;
            }
            if is_second_over {
                self.check_silence(now)?;
            }
            let due = if self.link.is_some() { until.min(self.next_alive) } else { until };
            match self.signals.recv_timeout(due.saturating_duration_since(now)) {
                Ok(signal) => {
                    if let Some(signal) = self.sort(signal)? {
                        return Ok(Some(signal));
                    }
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= until => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::internal(reason!("says_sender_gone")));
                }
            }
        }
    }

    /// Waits for the next signal and applies no rule: for a session that is ending already.
    pub fn next_of_any_kind(&self, until: Instant) -> Option<Signal> {
        self.signals.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
    }

    /// Says each second that this end lives; whether it was time for it.
    fn keep_alive(&mut self, now: Instant) -> Result<bool, Failure> {
        if self.link.is_none() || now < self.next_alive {
            return Ok(false);
        }
        self.next_alive = now + ALIVE_INTERVAL;
        if !self.expects_end {
            self.tell(&LinkMessage::Alive)?;
        }
        Ok(true)
    }

    /// A peer is lost when it says nothing though its host answers, or when nothing at all comes back for long.
    fn check_silence(&mut self, now: Instant) -> Result<(), Failure> {
        let Some(link) = self.link.as_ref().filter(|_| !self.expects_end) else { return Ok(()) };
        if net::is_readable(link.socket().as_fd()) {
            // It has said something, which this host was too busy to read.
            return Ok(());
        }
        self.note_answers(now);
        self.note_traffic(now);
        let silence = now.duration_since(self.last_heard);
        let answering = self.answering_since.map_or(Duration::ZERO, |since| now - since);
        let limit = self.patience(SILENCE_LIMIT);
        let reason = if silence.min(answering) > limit {
            reason!("says_silent_on_link", seconds = limit.as_secs().to_string())
        } else if silence > self.patience(OUTAGE_LIMIT) {
            reason!("says_silent_path", seconds = silence.as_secs().to_string())
        } else {
            return Ok(());
        };
        Err(Failure::new(FailureCode::PeerLost, reason))
    }

    /// Each second something is said; a host that is there acknowledges it a round trip later.
    fn note_answers(&mut self, now: Instant) {
        let due = ALIVE_INTERVAL * 2 + self.round_trip() * 2;
        let link = self.link.as_ref().map(|link| link.socket().as_fd());
        let silence = link.and_then(net::tcp_info).map(|info| info.silence_seconds);
        let answers = silence.is_some_and(|seconds| seconds <= due.as_secs_f64());
        self.answering_since = if answers { self.answering_since.or(Some(now)) } else { None };
    }

    /// Looks for data only when words are missing: each flow has to be asked.
    fn note_traffic(&mut self, now: Instant) {
        let is_late = now.duration_since(self.last_heard) > ALIVE_INTERVAL;
        let Some(traffic) = self.traffic.as_mut().filter(|_| is_late) else { return };
        if traffic.has_come() {
            self.last_heard = now;
        }
    }

    fn sort(&mut self, signal: Signal) -> Result<Option<Signal>, Failure> {
        match signal {
            Signal::Link(message) => {
                self.last_heard = Instant::now();
                match message {
                    LinkMessage::Alive => Ok(None),
                    LinkMessage::Failure { code, reason } => {
                        let reason = Reason::joined([reason!("says_other_end"), reason], ": ");
                        Err(Failure::new(code, reason))
                    }
                    other => Ok(Some(Signal::Link(other))),
                }
            }
            Signal::LinkLost(_) if self.expects_end => Ok(Some(signal)),
            Signal::LinkLost(reason) => {
                self.is_closed = true;
                Err(Failure::new(FailureCode::PeerLost, reason))
            }
            Signal::Supply(Supply::Cancel { code, reason }) => Err(Failure { code, reason }),
            other => Ok(Some(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn line() -> (Line, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("connects");
        let (far, _) = listener.accept().expect("accepts");
        let mut line = Line::new();
        line.set_link(Link::new(near.into(), line.sender()).expect("a link"));
        (line, far)
    }

    /// As if this thread had been held up for so long.
    fn hold_up(line: &mut Line, seconds: u64) {
        let ago = Instant::now().checked_sub(Duration::from_secs(seconds));
        line.last_heard = ago.expect("the clock runs");
        line.answering_since = ago;
        line.next_alive = Instant::now();
    }

    #[test]
    fn a_thread_that_was_held_up_hears_what_has_come_before_it_takes_the_peer_for_silent() {
        let (mut line, _far) = line();
        hold_up(&mut line, 10);
        line.sender().send(Signal::Link(LinkMessage::Alive)).expect("the line listens");
        let heard = line.wait(Instant::now() + Duration::from_millis(20));
        assert!(matches!(heard, Ok(None)), "the peer is alive");
        assert!(line.last_heard.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_peer_that_went_away_is_asked_for_its_reason_first() {
        let (mut line, far) = line();
        let failure =
            LinkMessage::Failure { code: FailureCode::Cancelled, reason: "enough".into() };
        let far = Link::new(far.into(), std::sync::mpsc::channel().0).expect("a link");
        far.send(&failure).expect("the line is there");
        drop(far);
        let told = (0..1_000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            line.tell(&LinkMessage::Alive).err()
        });
        let told = told.expect("the far end is closed");
        assert_eq!(told.code, FailureCode::Cancelled, "{}", told.reason);
    }

    #[test]
    fn a_peer_that_has_said_nothing_is_lost() {
        let (mut line, _far) = line();
        hold_up(&mut line, 10);
        let lost = line.wait(Instant::now() + Duration::from_secs(5)).err().expect("it is silent");
        assert_eq!(lost.code, FailureCode::PeerLost);
        assert!(lost.reason.contains("silent on the link for 3 s"), "{}", lost.reason);
    }

    #[test]
    fn a_path_that_is_cut_is_waited_for_and_not_for_ever() {
        for (seconds, is_lost) in [(10, false), (17, true)] {
            let (mut line, _far) = line();
            hold_up(&mut line, seconds);
            line.answering_since = None;
            let heard = line.wait(Instant::now() + Duration::from_millis(20));
            assert_eq!(heard.is_err(), is_lost, "{seconds} s");
        }
    }

    #[test]
    fn data_on_the_flows_is_a_sign_of_life() {
        let (mut line, _far) = line();
        let counter = std::sync::Arc::new(crate::flow::counter::Counter::default());
        line.watch(Traffic::new(None, vec![std::sync::Arc::clone(&counter)]));
        counter.set_bytes(1_000);
        hold_up(&mut line, 20);
        assert!(matches!(line.wait(Instant::now() + Duration::from_millis(20)), Ok(None)));
        hold_up(&mut line, 20);
        assert!(line.wait(Instant::now() + Duration::from_millis(20)).is_err());
    }
}
