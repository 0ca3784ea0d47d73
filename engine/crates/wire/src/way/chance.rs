//! What happens by chance or by turn, from a seed.

use std::str::FromStr;

use anyhow::{Context, Error, Result};

use super::quantity;

/// Random numbers (SplitMix64): the same seed gives the same again.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1.
    #[allow(clippy::cast_precision_loss)] // 53 bits are kept, as many as fit.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Normally distributed, mean 0 and standard deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.share()).cos()
    }
}

/// Which packets something happens to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Turn {
    /// To none.
    #[default]
    Never,
    /// To a share of them, each by itself.
    Share(f64),
    /// To exactly every n-th.
    Every(u64),
}

impl FromStr for Turn {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(every) = text.strip_prefix("1/") {
            let every = every.parse().ok().filter(|every| *every > 0);
            return Ok(Self::Every(every.with_context(|| format!("{text:?} is no 1/n"))?));
        }
        let share = quantity::share(text)?;
        Ok(if share == 0.0 { Self::Never } else { Self::Share(share) })
    }
}

/// Asks packet by packet whether it is its turn.
#[derive(Clone, Default)]
pub struct Turns {
    asked: u64,
    is_in_burst: bool,
}

impl Turns {
    /// Whether it is this packet's turn. A share comes in bursts of `burst` packets in the mean (Gilbert's model), every
    /// n-th in bursts of exactly so many, the last ones of each n times `burst` packets.
    pub fn is_turn(&mut self, turn: Turn, burst: f64, random: &mut Random) -> bool {
        self.asked += 1;
        match turn {
            Turn::Never => false,
            Turn::Every(every) => {
                let burst = whole(burst);
                (self.asked - 1) % (every * burst) >= (every - 1) * burst
            }
            Turn::Share(share) if burst <= 1.0 || share >= 1.0 => random.share() < share,
            Turn::Share(share) => {
                let ending = 1.0 / burst;
                let beginning = ending * share / (1.0 - share);
                let change = if self.is_in_burst { ending } else { beginning };
                self.is_in_burst ^= random.share() < change;
                self.is_in_burst
            }
        }
    }
}

/// At least one; a burst is a few packets long.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(burst: f64) -> u64 {
    burst.clamp(1.0, f64::from(u16::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(turn: Turn, burst: f64, count: usize) -> Vec<bool> {
        let (mut turns, mut random) = (Turns::default(), Random::new(7));
        (0..count).map(|_| turns.is_turn(turn, burst, &mut random)).collect()
    }

    #[test]
    fn every_third_is_every_third() {
        assert_eq!(taken(Turn::Every(3), 1.0, 7), [false, false, true, false, false, true, false]);
    }

    #[test]
    fn every_third_in_bursts_of_two_is_the_last_two_of_six() {
        let lost = taken(Turn::Every(3), 2.0, 12);
        let places: Vec<usize> = (0..12).filter(|place| lost[*place]).collect();
        assert_eq!(places, [4, 5, 10, 11]);
    }

    #[test]
    fn bursts_keep_the_share_and_have_the_length_asked_for() {
        let taken = taken(Turn::Share(0.02), 8.0, 400_000);
        let lost = taken.iter().filter(|is_lost| **is_lost).count();
        let bursts = taken.windows(2).filter(|two| !two[0] && two[1]).count();
        assert!((7_200..8_800).contains(&lost), "{lost}");
        assert!((bursts * 7..bursts * 9).contains(&lost), "{lost} in {bursts}");
    }

    #[test]
    fn a_seed_gives_the_same_again() {
        assert_eq!(taken(Turn::Share(0.3), 1.0, 100), taken(Turn::Share(0.3), 1.0, 100));
    }
}
