//! What a datagram of a UDP stream carries about itself: as much as its length has room for.

/// The whole header: sequence u64, send time u64, flow u32, mark u8, and zeros.
const FULL_BYTES: usize = 32;
const MARK_PLACE: usize = 20;
/// A sequence number this far ahead is no measured datagram: even at 100 M/s it is hours away.
pub const STRANGE_SEQUENCE: u64 = 1 << 42;
/// The top bit of a number that is all the header there is: whether the datagram is measured.
const MARK_64: u64 = 1 << 63;
const MARK_32: u32 = 1 << 31;
/// Numbers of 31 bits begin again after so many.
const TURN: u64 = MARK_32 as u64;

/// The header of all datagrams of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// Sequence, send time, flow and mark: from 32 bytes on.
    Full,
    /// Mark and a sequence of 63 bits: from 8 bytes on.
    Number64,
    /// Mark and a sequence of 31 bits, which begins again: from 4 bytes on.
    Number32,
    /// Nothing: such a datagram can't be told from its own duplicate.
    Blind,
}

/// What a header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// The datagram's number since the flow began, warm-up included.
    pub sequence: u64,
    /// Whether it was sent after the warm-up.
    pub is_measured: bool,
    /// When it was sent, in nanoseconds of the sender's clock.
    pub sent_nanoseconds: Option<u64>,
}

impl Header {
    /// The header of messages of a length; an older peer numbers no small ones.
    pub fn of(message_bytes: usize, are_small_numbered: bool) -> Self {
        match message_bytes {
            FULL_BYTES.. => Self::Full,
            8.. if are_small_numbered => Self::Number64,
            4.. if are_small_numbered => Self::Number32,
            _ => Self::Blind,
        }
    }

    /// Whether the datagrams carry nothing.
    pub fn is_blind(self) -> bool {
        self == Self::Blind
    }

    /// Whether the datagrams carry their time.
    pub fn has_time(self) -> bool {
        self == Self::Full
    }

    /// Writes what stays the same in all datagrams of a flow.
    pub fn begin(self, datagram: &mut [u8], flow: u32) {
        if self == Self::Full {
            datagram[..FULL_BYTES].fill(0);
            datagram[16..MARK_PLACE].copy_from_slice(&flow.to_be_bytes());
        }
    }

    /// Writes what is a datagram's own.
    #[inline]
    pub fn write(self, datagram: &mut [u8], sequence: u64, is_measured: bool, nanoseconds: u64) {
        match self {
            Self::Full => {
                datagram[..8].copy_from_slice(&sequence.to_be_bytes());
                datagram[8..16].copy_from_slice(&nanoseconds.to_be_bytes());
                datagram[MARK_PLACE] = u8::from(is_measured);
            }
            Self::Number64 => {
                let mark = if is_measured { MARK_64 } else { 0 };
                datagram[..8].copy_from_slice(&(sequence | mark).to_be_bytes());
            }
            Self::Number32 => {
                let mark = if is_measured { MARK_32 } else { 0 };
                // The lower 31 bits are what is sent.
                #[allow(clippy::cast_possible_truncation)]
                let number = (sequence % TURN) as u32;
                datagram[..4].copy_from_slice(&(number | mark).to_be_bytes());
            }
            Self::Blind => {}
        }
    }

    /// Reads a header; none where there is none, or it can't be this test's. `latest` is the newest sequence so far.
    #[inline]
    pub fn read(self, datagram: &[u8], latest: u64) -> Option<Said> {
        let said = match self {
            Self::Full => Said {
                sequence: u64_at(datagram, 0),
                is_measured: datagram[MARK_PLACE] == 1,
                sent_nanoseconds: Some(u64_at(datagram, 8)),
            },
            Self::Number64 => {
                let number = u64_at(datagram, 0);
                let is_measured = number & MARK_64 != 0;
                Said { sequence: number & !MARK_64, is_measured, sent_nanoseconds: None }
            }
            Self::Number32 => {
                let number = u32::from_be_bytes(*datagram.first_chunk()?);
                let is_measured = number & MARK_32 != 0;
                let sequence = nearest(u64::from(number & !MARK_32), latest)?;
                Said { sequence, is_measured, sent_nanoseconds: None }
            }
            Self::Blind => return None,
        };
        (said.sequence <= STRANGE_SEQUENCE).then_some(said)
    }
}

/// The sequence nearest to the newest one that ends in these 31 bits; none before the first.
fn nearest(number: u64, latest: u64) -> Option<u64> {
    let ahead = number.wrapping_sub(latest) % TURN;
    if ahead < TURN / 2 { Some(latest + ahead) } else { latest.checked_sub(TURN - ahead) }
}

/// Eight bytes of a datagram as a number.
pub fn u64_at(bytes: &[u8], place: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[place..place + 8]);
    u64::from_be_bytes(eight)
}

#[cfg(test)]
mod tests {
    use super::{Header, STRANGE_SEQUENCE, Said, TURN, u64_at};

    const LENGTHS: [usize; 9] = [1, 3, 4, 7, 8, 16, 31, 32, 1400];

    #[test]
    fn only_one_to_three_bytes_are_blind_and_an_older_peers_small_ones() {
        use Header::{Blind, Full, Number32, Number64};
        let new = LENGTHS.map(|length| Header::of(length, true));
        let small = [Number32, Number32, Number64, Number64, Number64];
        assert_eq!(new[..2], [Blind, Blind]);
        assert_eq!(new[2..7], small);
        assert_eq!(new[7..], [Full, Full]);
        let old = LENGTHS.map(|length| Header::of(length, false));
        assert_eq!(old[..7], [Blind; 7]);
        assert_eq!(old[7..], [Full, Full]);
    }

    #[test]
    fn what_is_written_is_read() {
        for length in &LENGTHS[2..] {
            let header = Header::of(*length, true);
            for (sequence, is_measured) in [(0, false), (7, true), (TURN - 1, true), (TURN, false)]
            {
                let mut datagram = vec![0xa5; *length];
                header.begin(&mut datagram, 3);
                header.write(&mut datagram, sequence, is_measured, 99);
                let sent_nanoseconds = header.has_time().then_some(99);
                let said = Said { sequence, is_measured, sent_nanoseconds };
                assert_eq!(header.read(&datagram, sequence), Some(said), "{length} B");
            }
        }
    }

    #[test]
    fn numbers_of_31_bits_go_on_where_they_begin_again() {
        let header = Header::Number32;
        let read = |sequence: u64, latest: u64| {
            let mut datagram = [0; 4];
            header.write(&mut datagram, sequence, true, 0);
            header.read(&datagram, latest).map(|said| said.sequence)
        };
        let late = 3 * TURN;
        for (sequence, latest) in
            [(TURN, TURN - 1), (TURN + 5, TURN - 9), (late - 2, late + 1), (late, late)]
        {
            assert_eq!(read(sequence, latest), Some(sequence), "after {latest}");
        }
        // Older than the first: no datagram of this flow.
        assert_eq!(read(TURN - 1, 5), None);
    }

    #[test]
    fn the_whole_header_is_as_it_was_and_a_strange_number_is_no_header() {
        let mut datagram = [0xff; 40];
        Header::Full.begin(&mut datagram, 7);
        Header::Full.write(&mut datagram, 1_000, true, 5);
        assert_eq!((u64_at(&datagram, 0), u64_at(&datagram, 8)), (1_000, 5));
        assert_eq!(&datagram[16..21], &[0, 0, 0, 7, 1]);
        for header in [Header::Full, Header::Number64] {
            header.write(&mut datagram, STRANGE_SEQUENCE + 1, true, 5);
            assert_eq!(header.read(&datagram, 0), None);
        }
    }
}
