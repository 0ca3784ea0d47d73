//! What keeps a paced TCP stream even: messages in pieces, and a kernel that holds little and sends no burst.

use std::os::fd::BorrowedFd;

use crate::outcome::streams::Stream;

/// A message of which more than this is due at once is cut.
const PIECE_SECONDS: f64 = 0.02;
/// A piece is a whole segment at least, where that is no more than this of the rate.
const SEGMENT_SECONDS: f64 = 0.1;
const SEGMENT_BYTES: f64 = 1448.0;
/// Data that the kernel may hold unsent: more would be sent late, and at once, after an outage.
const UNSENT_SECONDS: f64 = 0.05;
const LEAST_UNSENT_BYTES: f64 = 16_384.0;
/// Headers of a segment, as some of the kernel's schedulers count them: Ethernet, IPv6 and TCP with options.
const HEADER_BYTES: f64 = 90.0;
/// The kernel's own rate, above the one asked for: pieces lost are sent again, and late ones are made up for.
const KERNEL_SHARE: f64 = 1.02;

/// How messages are cut at a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cuts {
    message_bytes: usize,
    piece_bytes: usize,
    rate_bps: f64,
}

impl Cuts {
    /// Messages at a flow's rate; whole ones where that is 0, or where a message is little of it.
    pub fn of(message_bytes: usize, rate_bps: f64) -> Self {
        let second = rate_bps / 8.0;
        let most = SEGMENT_BYTES.min(second * SEGMENT_SECONDS).max(second * PIECE_SECONDS).max(1.0);
        // Positive; what is too great for it is the greatest.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let most = most as usize;
        let pieces = if rate_bps > 0.0 { message_bytes.div_ceil(most).max(1) } else { 1 };
        Self { message_bytes, piece_bytes: message_bytes.div_ceil(pieces), rate_bps }
    }

    /// Where the piece ends that begins at a place of the message.
    pub fn piece_after(&self, place: usize) -> usize {
        let place = if place == self.message_bytes { 0 } else { place };
        (place + self.piece_bytes).min(self.message_bytes)
    }

    /// Nanoseconds from one piece to the next: a message takes its time exactly, whatever its last piece has.
    pub fn gap(&self) -> f64 {
        let pieces = self.message_bytes.div_ceil(self.piece_bytes.max(1)).max(1);
        self.message_bytes as f64 * 8e9 / self.rate_bps / pieces as f64
    }

    /// Whether messages are sent in pieces.
    fn has_pieces(&self) -> bool {
        self.piece_bytes < self.message_bytes
    }

    /// The kernel's rate in bytes per second, headers included; none where it is too great to be asked for.
    fn kernel_rate(&self) -> Option<u32> {
        let segment = SEGMENT_BYTES.min(self.piece_bytes as f64).max(1.0);
        let rate = self.rate_bps / 8.0 * KERNEL_SHARE * (segment + HEADER_BYTES) / segment;
        // All ones means no limit.
        (rate < f64::from(u32::MAX)).then(|| whole(rate))
    }

    fn unsent_bytes(&self) -> u32 {
        whole((self.rate_bps / 8.0 * UNSENT_SECONDS).max(LEAST_UNSENT_BYTES))
    }
}

fn whole(number: f64) -> u32 {
    // Positive; what is too great for it is the greatest.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let number = number.ceil() as u32;
    number
}

/// Lets the kernel hold little of what is sent, and send that no faster than the rate: what waited for the path's
/// return comes at the rate too.
pub fn hold_back(socket: BorrowedFd<'_>, cuts: &Cuts) {
    // An option that an old kernel doesn't know is missed after an outage only.
    let _ = net::limit_unsent(socket, cuts.unsent_bytes());
    if let Some(rate) = cuts.kernel_rate() {
        let _ = net::limit_rate(socket, rate);
    }
}

/// What a result says of it.
pub fn flags(stream: &Stream) -> impl Iterator<Item = &'static str> + use<> {
    let rate_bps = stream.flow_rate_bps();
    let cuts = Cuts::of(stream.message_bytes, rate_bps);
    let is_paced = rate_bps > 0.0;
    let is_cut = is_paced && cuts.has_pieces();
    let by_kernel = is_paced && cuts.kernel_rate().is_some();
    [is_cut.then_some("messages_cut"), by_kernel.then_some("kernel_pacing")].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::Cuts;

    #[test]
    fn a_message_that_is_little_of_the_rate_is_sent_whole() {
        for (bytes, rate) in [(131_072, 0.0), (131_072, 1e9), (64, 10e3), (1_448, 1e6)] {
            let cuts = Cuts::of(bytes, rate);
            assert_eq!(cuts.piece_after(0), bytes, "{bytes} B at {rate}");
            assert!(!cuts.has_pieces());
        }
    }

    #[test]
    fn a_great_message_comes_in_even_pieces_in_its_time() {
        let cuts = Cuts::of(1_048_576, 1e6);
        let mut pieces = Vec::new();
        let mut place = 0;
        while place < 1_048_576 {
            let until = cuts.piece_after(place);
            pieces.push(until - place);
            place = until;
        }
        // 2,500 B are 20 ms of the rate.
        assert!(pieces.iter().all(|&piece| piece <= 2_500), "{pieces:?}");
        let seconds = pieces.len() as f64 * cuts.gap() / 1e9;
        assert!((seconds - 8.388_608).abs() < 1e-6, "{seconds}");
        assert_eq!(cuts.piece_after(1_048_576), pieces[0]);
    }

    #[test]
    fn at_a_small_rate_a_piece_is_a_segment_or_a_tenth_of_a_second() {
        assert_eq!(Cuts::of(14_480, 400e3).piece_after(0), 1_448);
        assert_eq!(Cuts::of(10_000, 8e3).piece_after(0), 100);
    }

    #[test]
    fn the_kernels_rate_leaves_room_for_headers() {
        assert_eq!(Cuts::of(1_448, 8e6).kernel_rate(), Some(1_083_398));
        assert_eq!(Cuts::of(131_072, 40e9).kernel_rate(), None);
        assert_eq!(Cuts::of(1_448, 1e6).unsent_bytes(), 16_384);
        assert_eq!(Cuts::of(1_448, 8e8).unsent_bytes(), 5_000_000);
    }
}
