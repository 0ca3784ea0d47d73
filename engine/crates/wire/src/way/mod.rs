//! The description of one direction: `delay=600ms,rate=1Mbit,queue=1MB,loss=2%`.

mod chance;
mod delay;
mod quantity;

use std::str::FromStr;

use anyhow::{Context, Error, Result, bail};

use crate::packet::{Packet, Protocol};

use chance::Turn;
use delay::Delay;
use quantity::{bits, bytes, nanoseconds};

pub use chance::{Random, Turns};

/// Of a rate's queue where none is told.
const QUEUE_BYTES: u64 = 256 << 10;

/// What a direction does to packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    pub delay: Delay,
    /// Whether a packet may overtake one that is delayed longer.
    pub may_overtake: bool,
    pub loss: Turn,
    /// Mean length of a burst of losses, in packets.
    pub burst: f64,
    pub duplicate: Turn,
    pub reorder: Turn,
    /// By how many nanoseconds a packet in `reorder` is early; at most its delay.
    pub early: u64,
    /// Bits per second of whole frames, without preamble and check sequence; 0 is no limit.
    pub rate: u64,
    /// Bytes that wait for a limited rate; what comes on top is dropped.
    pub queue: u64,
    /// When nothing passes: from and until, in nanoseconds since the start.
    pub outages: Vec<(u64, u64)>,
    /// The largest IP packet; 0 is no limit.
    pub mtu: u64,
    pub too_big: TooBig,
    pub blocks: Vec<Block>,
}

/// What becomes of a packet above the MTU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TooBig {
    /// A router's answer: "fragmentation needed" or "packet too big"; IPv4 that may be is cut into fragments.
    #[default]
    Told,
    /// It vanishes.
    Silent,
}

/// Packets that never pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Block {
    Protocol(Protocol),
    Port(Protocol, u16),
    Fragments,
}

impl Default for Way {
    fn default() -> Self {
        Self {
            delay: Delay::default(),
            may_overtake: false,
            loss: Turn::Never,
            burst: 1.0,
            duplicate: Turn::Never,
            reorder: Turn::Never,
            early: u64::MAX,
            rate: 0,
            queue: QUEUE_BYTES,
            outages: Vec::new(),
            mtu: 0,
            too_big: TooBig::Told,
            blocks: Vec::new(),
        }
    }
}

impl FromStr for Way {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut way = Self::default();
        way.change(text)?;
        Ok(way)
    }
}

impl Way {
    /// Changes what is named, and leaves the rest.
    pub fn change(&mut self, text: &str) -> Result<()> {
        for setting in text.split(',').filter(|setting| !setting.is_empty()) {
            let (name, value) =
                setting.split_once('=').with_context(|| format!("{setting:?} is no name=value"))?;
            self.set(name, value).with_context(|| format!("in {setting:?}"))?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "delay" => self.delay = value.parse()?,
            "order" => self.may_overtake = one_of(value, &[("kept", false), ("free", true)])?,
            "loss" => self.loss = value.parse()?,
            "burst" => self.burst = value.parse()?,
            "duplicate" => self.duplicate = value.parse()?,
            "reorder" => self.reorder = value.parse()?,
            "early" => self.early = nanoseconds(value)?,
            "rate" => self.rate = bits(value)?,
            "queue" => self.queue = bytes(value)?,
            "outage" => self.outages = list(value, outage)?,
            "mtu" => self.mtu = bytes(value)?,
            "too_big" => {
                self.too_big =
                    one_of(value, &[("told", TooBig::Told), ("silent", TooBig::Silent)])?;
            }
            "block" => self.blocks = list(value, block)?,
            _ => bail!(
                "{name:?} is none of delay, order, loss, burst, duplicate, reorder, early, rate, queue, outage, mtu, too_big, block"
            ),
        }
        Ok(())
    }

    /// Whether an outage holds at `moment` since the start.
    pub fn is_out(&self, moment: u64) -> bool {
        self.outages.iter().any(|(from, until)| (*from..*until).contains(&moment))
    }

    pub fn blocks(&self, packet: &Packet) -> bool {
        self.blocks.iter().any(|block| match *block {
            Block::Protocol(protocol) => packet.protocol == protocol,
            Block::Port(protocol, port) => {
                packet.protocol == protocol && packet.ports.contains(&port)
            }
            Block::Fragments => packet.is_fragment,
        })
    }
}

fn list<T>(text: &str, each: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    text.split('+').filter(|word| !word.is_empty() && *word != "none").map(each).collect()
}

fn one_of<T: Copy>(word: &str, known: &[(&str, T)]) -> Result<T> {
    let found = known.iter().find(|(name, _)| *name == word);
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    found
        .map(|(_, value)| *value)
        .with_context(|| format!("{word:?} is none of {}", names.join(", ")))
}

fn outage(text: &str) -> Result<(u64, u64)> {
    let (from, until) =
        text.split_once('-').with_context(|| format!("{text:?} is no FROM-UNTIL"))?;
    Ok((nanoseconds(from)?, nanoseconds(until)?))
}

fn block(text: &str) -> Result<Block> {
    if text == "fragments" {
        return Ok(Block::Fragments);
    }
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let known = [("icmp", Protocol::Icmp), ("udp", Protocol::Udp), ("tcp", Protocol::Tcp)];
    let protocol = one_of(name, &known)?;
    Ok(match port {
        Some(port) => {
            Block::Port(protocol, port.parse().with_context(|| format!("{port:?} is no port"))?)
        }
        None => Block::Protocol(protocol),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read_whole() {
        let way: Way = "delay=600ms,rate=1Mbit,queue=1MB,loss=2%,burst=8,outage=3s-6s+10s-12s,block=icmp+tcp:7411"
            .parse()
            .unwrap();
        assert_eq!((way.rate, way.queue, way.loss), (1_000_000, 1_000_000, Turn::Share(0.02)));
        assert!(
            way.is_out(3_000_000_000) && !way.is_out(6_000_000_000) && way.is_out(11_000_000_000)
        );
        assert_eq!(way.blocks, [Block::Protocol(Protocol::Icmp), Block::Port(Protocol::Tcp, 7411)]);
    }

    #[test]
    fn a_change_leaves_the_rest() {
        let mut way: Way = "delay=5ms,loss=1/7".parse().unwrap();
        way.change("loss=0").unwrap();
        assert_eq!((way.delay, way.loss), ("5ms".parse().unwrap(), Turn::Never));
    }

    #[test]
    fn a_wrong_word_is_named() {
        let told = |text: &str| format!("{:#}", text.parse::<Way>().unwrap_err());
        assert!(told("los=1").contains("\"los\" is none of delay"));
        assert!(told("too_big=loud").contains("in \"too_big=loud\""));
        assert!(told("delay").contains("no name=value"));
    }
}
