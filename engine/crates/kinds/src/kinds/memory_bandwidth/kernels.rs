//! The loops themselves, on one core's part of the arrays.

use std::hint::black_box;

/// mbw's default block.
const BLOCK_ELEMENTS: usize = 262_144 / 8;
/// STREAM's.
const FACTOR: f64 = 3.0;
/// In STREAM's order.
const STREAM: [Kernel; 4] = [Kernel::Copy, Kernel::Scale, Kernel::Add, Kernel::Triad];

/// What is done with the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// mbw's MEMCPY: one call of `memcpy` over the whole array.
    Memcpy,
    /// mbw's DUMB: element by element.
    Dumb,
    /// mbw's MCBLOCK: `memcpy` in blocks of 256 KiB, always from the first block, as mbw has it.
    Mcblock,
    /// STREAM's `c[j] = a[j]`.
    Copy,
    /// STREAM's `b[j] = q * c[j]`.
    Scale,
    /// STREAM's `c[j] = a[j] + b[j]`.
    Add,
    /// STREAM's `a[j] = b[j] + q * c[j]`.
    Triad,
    /// Every element is read.
    Read,
    /// Every element is written.
    Write,
}

impl Kernel {
    /// The parameter's meaning; the catalog allows no other names.
    pub fn named(name: &str) -> Self {
        match name {
            "memcpy" => Self::Memcpy,
            "dumb" => Self::Dumb,
            "mcblock" => Self::Mcblock,
            "scale" => Self::Scale,
            "add" => Self::Add,
            "triad" => Self::Triad,
            "read" => Self::Read,
            "write" => Self::Write,
            _ => Self::Copy,
        }
    }

    /// What a pass goes through, of which this kernel alone is timed: of STREAM all four in its order, since what the
    /// kernel before left in the caches is written back meanwhile.
    pub fn cycle(&self) -> &[Self] {
        if STREAM.contains(self) { &STREAM } else { std::slice::from_ref(self) }
    }

    /// Whether each core has arrays of its own, as several mbw have; STREAM's cores share theirs.
    pub const fn has_own_arrays(self) -> bool {
        matches!(self, Self::Memcpy | Self::Dumb | Self::Mcblock)
    }

    /// How many arrays there are: STREAM has three, whatever a kernel touches.
    pub const fn arrays(self) -> u64 {
        if self.has_own_arrays() { 2 } else { 3 }
    }

    /// How many arrays' bytes count as moved.
    pub const fn counted_arrays(self) -> u64 {
        match self {
            Self::Memcpy | Self::Dumb | Self::Mcblock | Self::Read | Self::Write => 1,
            Self::Copy | Self::Scale => 2,
            Self::Add | Self::Triad => 3,
        }
    }
}

/// One core's part of each array; mbw's kernels have no third.
pub struct Part<'a> {
    /// STREAM's a; of mbw what is read.
    pub first: &'a mut [f64],
    /// STREAM's b; of mbw what is written.
    pub second: &'a mut [f64],
    /// STREAM's c.
    pub third: &'a mut [f64],
}

impl Part<'_> {
    /// Writes the values that STREAM begins with; it also makes this core's memory be there, near it.
    pub fn fill(&mut self) {
        self.first.fill(1.0);
        self.second.fill(2.0);
        self.third.fill(0.0);
    }

    /// One pass.
    pub fn pass(&mut self, kernel: Kernel) {
        let Part { first, second, third } = self;
        match kernel {
            Kernel::Memcpy => copy(second, first),
            Kernel::Dumb => net::copy_by_element(second, first),
            Kernel::Mcblock => copy_first_block(second, first),
            Kernel::Copy => copy(third, first),
            Kernel::Scale => scale(second, third),
            Kernel::Add => add(third, first, second),
            Kernel::Triad => triad(first, second, third),
            Kernel::Read => read(first),
            Kernel::Write => write(first),
        }
    }
}

/// One `memcpy` over a whole array.
#[inline(never)]
pub fn copy(to: &mut [f64], from: &[f64]) {
    to.copy_from_slice(from);
}

#[inline(never)]
fn copy_first_block(to: &mut [f64], from: &[f64]) {
    for block in to.chunks_mut(BLOCK_ELEMENTS) {
        block.copy_from_slice(&from[..block.len()]);
    }
}

/// The sum keeps the reads; of whole numbers, which may be summed in any order and so several at once.
#[inline(never)]
fn read(from: &[f64]) {
    black_box(from.iter().fold(0_u64, |sum, value| sum.wrapping_add(value.to_bits())));
}

#[inline(never)]
fn write(to: &mut [f64]) {
    to.fill(black_box(FACTOR));
}

#[inline(never)]
fn scale(to: &mut [f64], from: &[f64]) {
    let factor = black_box(FACTOR);
    for (to, from) in to.iter_mut().zip(from) {
        *to = factor * *from;
    }
}

#[inline(never)]
fn add(to: &mut [f64], one: &[f64], other: &[f64]) {
    for ((to, one), other) in to.iter_mut().zip(one).zip(other) {
        *to = *one + *other;
    }
}

// As gcc compiles STREAM for any x86-64 or ARM machine: a product and a sum, each rounded.
#[allow(clippy::suboptimal_flops)]
#[inline(never)]
fn triad(to: &mut [f64], one: &[f64], other: &[f64]) {
    let factor = black_box(FACTOR);
    for ((to, one), other) in to.iter_mut().zip(one).zip(other) {
        *to = *one + factor * *other;
    }
}
