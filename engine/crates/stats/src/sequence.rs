//! Loss, duplicates and order of a datagram flow, from a bitmap of sequence numbers.
//!
//! A counter of "highest minus received" lets a duplicate hide a loss; the bitmap does not.

const BITS_PER_WORD: u64 = 64;

/// What one datagram turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Its sequence number is above all before it.
    InOrder,
    /// First of its number, but a higher one came earlier.
    OutOfOrder,
    /// Its number was seen before.
    Duplicate,
    /// So far behind the highest that the window no longer knows whether it is a duplicate.
    TooLate,
}

/// A sliding bitmap over the newest sequence numbers, with counts of everything that came.
#[derive(Debug)]
pub struct SequenceWindow {
    words: Box<[u64]>,
    next: u64,
    /// Datagrams counted once each.
    pub unique: u64,
    /// Unique datagrams that came after a higher number.
    pub out_of_order: u64,
    /// Datagrams whose number had been seen.
    pub duplicates: u64,
    /// Datagrams behind the window: neither received nor duplicate, for nobody can tell.
    pub too_late: u64,
}

impl SequenceWindow {
    /// Remembers the newest `bits` sequence numbers, rounded up to a power of two of at least 64.
    #[must_use]
    pub fn new(bits: usize) -> Self {
        let words = bits.next_power_of_two().max(64) / 64;
        Self {
            words: vec![0; words].into_boxed_slice(),
            next: 0,
            unique: 0,
            out_of_order: 0,
            duplicates: 0,
            too_late: 0,
        }
    }

    /// Counts one datagram.
    pub fn record(&mut self, sequence: u64) -> Arrival {
        if sequence >= self.next {
            self.advance_to(sequence);
            self.unique += 1;
            return Arrival::InOrder;
        }
        if self.next - sequence > self.bits() {
            self.too_late += 1;
            return Arrival::TooLate;
        }
        if self.set(sequence) {
            self.duplicates += 1;
            return Arrival::Duplicate;
        }
        self.unique += 1;
        self.out_of_order += 1;
        Arrival::OutOfOrder
    }

    fn bits(&self) -> u64 {
        self.words.len() as u64 * BITS_PER_WORD
    }

    /// Clears the numbers that enter the window and marks `sequence` as seen.
    fn advance_to(&mut self, sequence: u64) {
        if sequence == self.next {
            self.clear(sequence);
        } else if sequence - self.next >= self.bits() {
            self.words.fill(0);
        } else {
            (self.next..=sequence).for_each(|skipped| self.clear(skipped));
        }
        self.set(sequence);
        self.next = sequence + 1;
    }

    fn place(&self, sequence: u64) -> (usize, u64) {
        let word = (sequence / BITS_PER_WORD) % self.words.len() as u64;
        let index = usize::try_from(word).expect("a remainder of a usize fits a usize");
        (index, 1 << (sequence % BITS_PER_WORD))
    }

    fn clear(&mut self, sequence: u64) {
        let (word, bit) = self.place(sequence);
        self.words[word] &= !bit;
    }

    /// Sets the bit and tells whether it was set before.
    fn set(&mut self, sequence: u64) -> bool {
        let (word, bit) = self.place(sequence);
        let before = self.words[word] & bit != 0;
        self.words[word] |= bit;
        before
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrival, SequenceWindow};

    fn counts(window: &SequenceWindow) -> (u64, u64, u64, u64) {
        (window.unique, window.out_of_order, window.duplicates, window.too_late)
    }

    #[test]
    fn numbers_in_order_are_unique_and_nothing_else() {
        let mut window = SequenceWindow::new(64);
        for sequence in 0..1_000 {
            assert_eq!(window.record(sequence), Arrival::InOrder);
        }
        assert_eq!(counts(&window), (1_000, 0, 0, 0));
    }

    #[test]
    fn a_duplicate_does_not_hide_a_loss() {
        let mut window = SequenceWindow::new(64);
        for sequence in [0, 1, 1, 3] {
            window.record(sequence);
        }
        assert_eq!(counts(&window), (3, 0, 1, 0));
    }

    #[test]
    fn a_swapped_pair_is_one_out_of_order() {
        let mut window = SequenceWindow::new(64);
        assert_eq!(window.record(0), Arrival::InOrder);
        assert_eq!(window.record(2), Arrival::InOrder);
        assert_eq!(window.record(1), Arrival::OutOfOrder);
        assert_eq!(window.record(1), Arrival::Duplicate);
        assert_eq!(counts(&window), (3, 1, 1, 0));
    }

    #[test]
    fn a_number_behind_the_window_is_too_late_to_judge() {
        let mut window = SequenceWindow::new(64);
        window.record(0);
        window.record(64);
        assert_eq!(window.record(0), Arrival::TooLate);
        assert_eq!(window.record(1), Arrival::OutOfOrder);
        assert_eq!(counts(&window), (3, 1, 0, 1));
    }

    #[test]
    fn a_jump_longer_than_the_window_forgets_what_was_before() {
        let mut window = SequenceWindow::new(64);
        for sequence in 0..64 {
            window.record(sequence);
        }
        window.record(10_000);
        assert_eq!(window.record(9_999), Arrival::OutOfOrder);
        assert_eq!(counts(&window), (66, 1, 0, 0));
    }

    #[test]
    fn the_window_wraps_without_seeing_ghosts() {
        let mut window = SequenceWindow::new(64);
        for sequence in (0..10_000).step_by(2) {
            window.record(sequence);
        }
        assert_eq!(window.record(9_997), Arrival::OutOfOrder);
        assert_eq!(window.record(9_998), Arrival::Duplicate);
        assert_eq!(counts(&window), (5_001, 1, 1, 0));
    }
}
