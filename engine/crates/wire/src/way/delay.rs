//! How long a packet is on its way: `20ms`, `10ms..50ms`, `50ms~5ms`, or a list of these by time, `20ms+600ms@5s`.

use std::str::FromStr;

use anyhow::{Error, Result, bail};

use super::chance::Random;
use super::quantity::nanoseconds;

/// Delays by the time from which they hold, in nanoseconds since the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Delay(Vec<(u64, Spread)>);

/// One delay and how it varies, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spread {
    Fixed(u64),
    Uniform(u64, u64),
    Normal { mean: u64, deviation: u64 },
}

impl Default for Delay {
    fn default() -> Self {
        Self(vec![(0, Spread::Fixed(0))])
    }
}

impl Delay {
    /// The delay of a packet that comes at `moment` after the start.
    pub fn sample(&self, moment: u64, random: &mut Random) -> u64 {
        let held = self.0.iter().rfind(|(from, _)| *from <= moment);
        held.map_or(0, |(_, spread)| spread.sample(random))
    }
}

impl Spread {
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss)]
    fn sample(self, random: &mut Random) -> u64 {
        match self {
            Self::Fixed(delay) => delay,
            Self::Uniform(least, most) => least + ((most - least) as f64 * random.share()) as u64,
            Self::Normal { mean, deviation } => {
                (mean as f64 + deviation as f64 * random.normal()).max(0.0) as u64
            }
        }
    }
}

impl FromStr for Delay {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut steps = Vec::new();
        for step in text.split('+') {
            let (spread, from) = step.split_once('@').unwrap_or((step, "0"));
            steps.push((nanoseconds(from)?, spread.parse()?));
        }
        if !steps.is_sorted_by_key(|(from, _)| *from) {
            bail!("the times of {text:?} go back");
        }
        Ok(Self(steps))
    }
}

impl FromStr for Spread {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some((least, most)) = text.split_once("..") {
            let (least, most) = (nanoseconds(least)?, nanoseconds(most)?);
            if least > most {
                bail!("{text:?} begins above its end");
            }
            return Ok(Self::Uniform(least, most));
        }
        if let Some((mean, deviation)) = text.split_once('~') {
            return Ok(Self::Normal {
                mean: nanoseconds(mean)?,
                deviation: nanoseconds(deviation)?,
            });
        }
        Ok(Self::Fixed(nanoseconds(text)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_from_its_times_on() {
        let delay: Delay = "20ms+600ms@5s+1ms@8s".parse().unwrap();
        let mut random = Random::new(1);
        let delays = [0, 4_999_999_999, 5_000_000_000, 9_000_000_000]
            .map(|at| delay.sample(at, &mut random));
        assert_eq!(delays, [20_000_000, 20_000_000, 600_000_000, 1_000_000]);
    }

    #[test]
    fn varying_delays_have_their_mean_and_bounds() {
        let mut random = Random::new(1);
        for (text, mean) in [("10ms..50ms", 30_000_000), ("50ms~5ms", 50_000_000)] {
            let delay: Delay = text.parse().unwrap();
            let all: Vec<u64> = (0..100_000).map(|_| delay.sample(0, &mut random)).collect();
            assert!((all.iter().sum::<u64>() / 100_000).abs_diff(mean) < 300_000, "{text}");
        }
        assert!("50ms..10ms".parse::<Delay>().is_err());
        assert!("1ms@5s+2ms@3s".parse::<Delay>().is_err());
    }
}
