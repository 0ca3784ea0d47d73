//! The requests of one flow on their way, and the time-out that their round trips suggest.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::outcome::requests::Timekeeper;

/// Bounds of the time-out; a request is given up later only where the path is known to be slow.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(200);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60);
/// The time-out before the first response, or this many round trips of the link.
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);
const FIRST_ROUND_TRIPS: u32 = 3;

/// A request on its way.
#[derive(Debug, Clone, Copy)]
pub struct Pending {
    /// Its number.
    pub number: u64,
    /// When it went out.
    pub begun: Instant,
}

/// The requests on their way, and what became of the others.
pub struct Window {
    /// Not given up yet, the oldest first.
    pub pending: VecDeque<Pending>,
    /// Given up, though a response may come yet: it is late then, not lost.
    overdue: VecDeque<Pending>,
    /// Of those that no response can be told to belong to any more, for their number has been given again.
    lost: u64,
    number_bytes: usize,
    next_number: u64,
    /// How long a response is waited for.
    pub timeout: Duration,
    /// What the responses so far tell; none before the first.
    pub round_trip: Option<RoundTrip>,
}

/// Smoothed round trip and its variation (RFC 6298, section 2).
#[derive(Debug, Clone, Copy)]
pub struct RoundTrip {
    smoothed: Duration,
    variation: Duration,
}

impl RoundTrip {
    fn after(before: Option<Self>, sample: Duration) -> Self {
        let Some(Self { smoothed, variation }) = before else {
            return Self { smoothed: sample, variation: sample / 2 };
        };
        let difference = smoothed.abs_diff(sample);
        Self { smoothed: (smoothed * 7 + sample) / 8, variation: (variation * 3 + difference) / 4 }
    }

    fn timeout(self) -> Duration {
        let timeout = self.smoothed + (self.variation * 4).max(SHORTEST_TIMEOUT);
        timeout.clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT)
    }
}

impl Window {
    /// Before the first request.
    pub fn new(number_bytes: usize, link_round_trip: Duration) -> Self {
        let patience = (link_round_trip * FIRST_ROUND_TRIPS).max(FIRST_TIMEOUT);
        Self {
            pending: VecDeque::new(),
            overdue: VecDeque::new(),
            lost: 0,
            number_bytes,
            next_number: 0,
            timeout: patience.min(LONGEST_TIMEOUT),
            round_trip: None,
        }
    }

    /// Numbers a request that goes out at `begun`.
    pub fn number(&mut self, request: &mut [u8], begun: Instant) {
        let number = self.next_number;
        request[..self.number_bytes].copy_from_slice(&number.to_le_bytes()[..self.number_bytes]);
        self.pending.push_back(Pending { number, begun });
        self.next_number += 1;
    }

    /// Finds the request that a response answers, late or not.
    pub fn settle(&mut self, response: &[u8], now: Instant) -> Option<Pending> {
        let number_bytes = self.number_bytes;
        let answers =
            |pending: &Pending| response.starts_with(&pending.number.to_le_bytes()[..number_bytes]);
        let settled = if let Some(place) = self.pending.iter().position(answers) {
            self.pending.remove(place)
        } else {
            let is_its = |pending: &Pending| answers(pending) && !self.is_reused(pending);
            let place = self.overdue.iter().position(is_its)?;
            self.overdue.remove(place)
        }?;
        let sample = now.saturating_duration_since(settled.begun);
        self.round_trip = Some(RoundTrip::after(self.round_trip, sample));
        Some(settled)
    }

    /// Gives requests up that have waited too long.
    pub fn expire(&mut self, now: Instant, timekeeper: &Timekeeper) {
        let timeout = self.timeout;
        let is_over = |pending: &Pending| now.saturating_duration_since(pending.begun) >= timeout;
        while let Some(oldest) = self.pending.front().copied().filter(&is_over) {
            self.pending.pop_front();
            self.overdue.push_back(oldest);
        }
        while let Some(oldest) = self.overdue.front().copied().filter(|it| self.is_reused(it)) {
            self.overdue.pop_front();
            self.lost += u64::from(timekeeper.is_measured(oldest.begun));
        }
    }

    /// Whether a later request has the same number in the bytes that it had room for.
    fn is_reused(&self, pending: &Pending) -> bool {
        let bits = 8 * self.number_bytes;
        bits < 64 && self.next_number - pending.number > 1 << bits
    }

    /// Requests of the measured window that got no response, however late.
    pub fn lost(&self, timekeeper: &Timekeeper) -> u64 {
        let is_lost = |pending: &&Pending| timekeeper.is_measured(pending.begun);
        self.lost + self.overdue.iter().filter(is_lost).count() as u64
    }

    /// The time-out that the round trips so far suggest.
    pub fn adapted_timeout(&self) -> Duration {
        self.round_trip.map_or(self.timeout, RoundTrip::timeout)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{RoundTrip, Window};
    use crate::outcome::requests::Timekeeper;

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn timekeeper(now: Instant) -> Timekeeper {
        Timekeeper::between(now, now + MILLISECOND * 10_000)
    }

    #[test]
    fn a_late_response_is_not_taken_for_the_next_request_and_not_for_lost() {
        let mut window = Window::new(1, Duration::ZERO);
        let now = Instant::now();
        let keeper = timekeeper(now);
        let mut request = [0];
        window.number(&mut request, now);
        window.expire(now + MILLISECOND * 1_000, &keeper);
        window.number(&mut request, now + MILLISECOND * 1_000);
        assert_eq!((request, window.lost(&keeper)), ([1], 1));
        let settled = window.settle(&[0], now + MILLISECOND * 1_200).expect("the first, late");
        assert_eq!((settled.number, window.pending.len(), window.lost(&keeper)), (0, 1, 0));
        assert!(window.adapted_timeout() > MILLISECOND * 1_200);
        assert!(window.settle(&[0], now + MILLISECOND * 1_300).is_none());
    }

    #[test]
    fn a_number_given_again_answers_for_the_later_request_only() {
        let mut window = Window::new(1, Duration::ZERO);
        let now = Instant::now();
        let keeper = timekeeper(now);
        let mut request = [0];
        for _ in 0..257 {
            window.number(&mut request, now);
            window.expire(now + MILLISECOND * 1_000, &keeper);
        }
        assert_eq!(window.overdue.front().map(|oldest| oldest.number), Some(1));
        assert_eq!(window.lost(&keeper), 257);
        assert_eq!(window.settle(&[0], now).expect("the later").number, 256);
    }

    #[test]
    fn the_timeout_follows_the_round_trip() {
        assert_eq!(Window::new(1, Duration::ZERO).adapted_timeout(), MILLISECOND * 1_000);
        let mut window = Window::new(8, MILLISECOND * 1_200);
        assert_eq!(window.adapted_timeout(), MILLISECOND * 3_600);
        let now = Instant::now();
        let mut request = [0; 8];
        for _ in 0..40 {
            window.number(&mut request, now);
            window.settle(&request, now + MILLISECOND * 1_200).expect("its own");
        }
        assert_eq!(window.adapted_timeout(), MILLISECOND * 1_400);
        window.round_trip = Some(RoundTrip::after(None, MILLISECOND));
        assert_eq!(window.adapted_timeout(), MILLISECOND * 201);
        window.round_trip = Some(RoundTrip::after(None, MILLISECOND * 100_000));
        assert_eq!(window.adapted_timeout(), MILLISECOND * 60_000);
    }
}
