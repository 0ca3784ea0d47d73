//! Mutations of valid inputs, the same for the same seed.

/// What structure is made of; inserted anywhere.
const WORDS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\\",
    b"\n",
    b"\r\n",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"-0.0",
    b"18446744073709551615",
    b"18446744073709551616",
    b"-9223372036854775809",
    b"4294967296",
    b"1e308",
    b"0.1",
    b"\\ud800",
    b"\xff\xfe",
    b"\0",
    b"\"type\":",
    b"{}",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"HTTP/1.1 200 OK\r\n",
    b"Content-Length: ",
    b"Transfer-Encoding: chunked\r\n",
    b"ffffffffffffffff\r\n",
    b"=",
    b" ",
    b"\t",
    b"#",
];
/// Numbers at which types end.
const EDGES: [u8; 6] = [0, 1, 0x7f, 0x80, 0xfe, 0xff];
/// An input grows no further; what is longer is refused before it is parsed.
const LENGTH_LIMIT: usize = 16 * 1024;

/// Makes broken inputs of whole ones.
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// Begins at `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed ^ 0x9e37_79b9_7f4a_7c15 }
    }

    /// A copy of one of `whole` with one to eight faults; every 32nd is random bytes.
    pub fn input(&mut self, whole: &[Vec<u8>]) -> Vec<u8> {
        if self.below(32) == 0 {
            let length = self.below(300);
            return (0..length).map(|_| self.byte()).collect();
        }
        let mut input = whole[self.below(whole.len())].clone();
        for _ in 0..=self.below(8) {
            self.break_once(&mut input, whole);
            input.truncate(LENGTH_LIMIT);
        }
        input
    }

    /// A number below `bound`, which is above 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        usize::try_from(self.next() % bound).unwrap_or_default()
    }

    fn break_once(&mut self, input: &mut Vec<u8>, whole: &[Vec<u8>]) {
        let place = self.below(input.len() + 1);
        let end = place + self.below(input.len() - place + 1);
        match self.below(9) {
            0 if place < input.len() => input[place] ^= 1 << self.below(8),
            1 if place < input.len() => input[place] = EDGES[self.below(EDGES.len())],
            2 => input.truncate(place),
            3 => drop(input.drain(place..end)),
            4 => self.insert_word(input, place),
            5 => self.repeat(input, place, end),
            6 => {
                let other = &whole[self.below(whole.len())];
                let from = self.below(other.len() + 1);
                input.truncate(place);
                input.extend_from_slice(&other[from..]);
            }
            7 => {
                let word = WORDS[self.below(WORDS.len())];
                let times = 1 + self.below(200);
                input.splice(place..place, word.repeat(times));
            }
            _ => {
                let byte = self.byte();
                input.insert(place, byte);
            }
        }
    }

    fn insert_word(&mut self, input: &mut Vec<u8>, place: usize) {
        let word = WORDS[self.below(WORDS.len())];
        // Half of them replace what was there, such as a number.
        let end = if self.below(2) == 0 { place } else { (place + word.len()).min(input.len()) };
        input.splice(place..end, word.iter().copied());
    }

    fn repeat(&mut self, input: &mut Vec<u8>, place: usize, end: usize) {
        let piece = input[place..end.min(place + 64)].to_vec();
        let times = 1 + self.below(64);
        input.splice(place..place, piece.repeat(times));
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    /// xorshift64*.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}
