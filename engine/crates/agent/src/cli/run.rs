//! Options of `run`.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};

/// Options of `run`.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// The test kind; see `catalog`.
    pub kind: String,
    /// The peer engine's control address; without a port, 7410. A kind of one host measures this one and has no peer.
    #[arg(long, value_name = "HOST[:PORT]", value_hint = ValueHint::Hostname)]
    pub peer: Option<String>,
    /// File with the peer's bearer token.
    #[arg(long, value_name = "F", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
    /// Folder, or block device, that a test of disks may use; as serve --disk-dir.
    #[arg(long, value_name = "PATH[,size=BYTES][,any-filesystem]", value_hint = ValueHint::AnyPath)]
    pub disk_dir: Vec<proto::DiskPlace>,
    /// The peer's address for test traffic; else its control address.
    #[arg(long, value_name = "A", value_hint = ValueHint::Hostname)]
    pub data_address: Option<IpAddr>,
    /// The fingerprint that the peer's certificate must have; else that of a peer that proves that it knows the token is
    /// accepted and printed.
    #[arg(long, value_name = "sha256:…")]
    pub peer_fingerprint: Option<String>,
    /// A parameter; may be repeated. Several values, set apart by commas, make a sweep over all combinations; where a
    /// comma belongs to the value (CPU lists), set them apart by semicolons.
    #[arg(long = "set", value_name = "name=value[,value]…")]
    pub set: Vec<String>,
    /// Run each combination so often; with --confidence at least so often, or MIN-MAX (default 3-30).
    #[arg(long, value_name = "N|MIN-MAX")]
    pub repetitions: Option<Repetitions>,
    /// Repeat until the interval of the mean at LEVEL % is no wider than WIDTH % of it: 99,5 is netperf's -I 99,5.
    #[arg(long, value_name = "LEVEL,WIDTH")]
    pub confidence: Option<AskedConfidence>,
    /// Whose interval must be narrow.
    #[arg(long, value_enum, default_value = "headline-and-cpu", requires = "confidence")]
    pub confidence_on: ConfidenceOn,
    /// The order of combinations and repetitions.
    #[arg(long, value_enum, default_value = "interleaved")]
    pub order: Order,
    /// Print one JSON document; of several tests one a line, and a summary line for each combination.
    #[arg(long)]
    pub json: bool,
    /// Write the same JSON to a file as well.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// No progress; warnings and errors stay.
    #[arg(long, short)]
    pub quiet: bool,
    /// List the flows one by one up to this many; more are summed up in a line.
    #[arg(long, value_name = "N", default_value = "8")]
    pub show_flows: usize,
}

/// Which metrics a confidence asked for is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfidenceOn {
    /// The kind's headline metric and the CPU use of both hosts, as netperf -c -C.
    HeadlineAndCpu,
    /// The kind's headline metric alone, as netperf -r.
    Headline,
}

/// The order of a sweep's tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Every combination once, then all again: drift doesn't fall on one of them.
    Interleaved,
    /// All repetitions of a combination, then the next.
    Sequential,
}

/// How often each combination is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repetitions {
    /// At least.
    pub minimum: usize,
    /// At most, where it was given.
    pub maximum: Option<usize>,
}

/// Nobody waits for more.
const REPETITIONS_AT_MOST: usize = 10_000;

impl FromStr for Repetitions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = |text: &str| {
            let count = text.parse().ok().filter(|count| (1..=REPETITIONS_AT_MOST).contains(count));
            count.ok_or_else(|| {
                format!("give a number from 1 to {REPETITIONS_AT_MOST}, or two such as 3-30")
            })
        };
        let Some((minimum, maximum)) = text.split_once('-') else {
            return Ok(Self { minimum: count(text)?, maximum: None });
        };
        let (minimum, maximum) = (count(minimum)?, count(maximum)?);
        if minimum > maximum {
            return Err("the smaller number comes first, such as 3-30".to_owned());
        }
        Ok(Self { minimum, maximum: Some(maximum) })
    }
}

/// A confidence asked for: netperf's `-I level,width`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AskedConfidence {
    /// Probability that the interval covers the mean, in percent.
    pub level_percent: f64,
    /// The interval's full width, in percent of the mean.
    pub width_percent: f64,
}

impl FromStr for AskedConfidence {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "give LEVEL,WIDTH in percent, such as 99,5 for a 99 % interval of ±2.5 %";
        let (level, width) = text.split_once(',').ok_or(example)?;
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| example.to_owned());
        let asked = Self { level_percent: number(level)?, width_percent: number(width)? };
        if !(50.0..=99.99).contains(&asked.level_percent) {
            return Err("the level goes from 50 to 99.99 %".to_owned());
        }
        if !(asked.width_percent > 0.0 && asked.width_percent <= 100.0) {
            return Err("the width is over 0 and at most 100 %".to_owned());
        }
        Ok(asked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_a_number_or_two() {
        assert_eq!("5".parse(), Ok(Repetitions { minimum: 5, maximum: None }));
        assert_eq!("3-30".parse(), Ok(Repetitions { minimum: 3, maximum: Some(30) }));
        for wrong in ["", "0", "30-3", "3-", "-3", "three", "10001"] {
            assert!(wrong.parse::<Repetitions>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn confidence_is_a_level_and_a_full_width_in_percent() {
        let asked = "99,5".parse();
        assert_eq!(asked, Ok(AskedConfidence { level_percent: 99.0, width_percent: 5.0 }));
        for wrong in ["99", "99;5", "100,5", "49,5", "95,0", "95,nan", "nan,5", "95,101"] {
            assert!(wrong.parse::<AskedConfidence>().is_err(), "{wrong}");
        }
    }
}
