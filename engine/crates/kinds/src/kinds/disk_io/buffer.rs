//! What is read into and written from.

/// What direct access asks of memory, on any disk.
const ALIGNMENT: usize = 4096;

/// A buffer that direct access takes.
pub struct Buffer {
    memory: Vec<u8>,
    begin: usize,
    length: usize,
}

impl Buffer {
    /// So many bytes.
    pub fn new(length: usize) -> Self {
        let memory = vec![0; length + ALIGNMENT];
        let begin = memory.as_ptr().align_offset(ALIGNMENT);
        Self { memory, begin, length }
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.begin..self.begin + self.length]
    }
}

/// xorshift64*: places of operations, and bytes that no disk makes smaller.
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    const fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Less than `bound`.
    pub const fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// New bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let random = self.next().to_ne_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ALIGNMENT, Buffer, Random};

    #[test]
    fn a_buffer_is_aligned_and_of_its_length() {
        let mut buffer = Buffer::new(1000);
        assert_eq!(buffer.bytes().len(), 1000);
        assert_eq!(buffer.bytes().as_ptr().align_offset(ALIGNMENT), 0);
    }

    #[test]
    fn places_are_spread_evenly() {
        let mut random = Random::new(7);
        let mut counts = [0_u32; 10];
        (0..100_000).for_each(|_| counts[usize::try_from(random.below(10)).unwrap()] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
