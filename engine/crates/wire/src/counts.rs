//! What became of the packets of one direction, by protocol.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::packet::Protocol;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    Delivered,
    /// By chance or by turn.
    Lost,
    /// The queue before the rate was full.
    QueueFull,
    TooBig,
    /// It came in an outage.
    Outage,
    Blocked,
    /// The device took it no more: it is down or gone.
    Refused,
}

/// Packets; `offered` is the sum of all fates and of what is still on its way, copies left out.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Counts {
    pub offered: u64,
    pub offered_bytes: u64,
    /// Duplicates included.
    pub delivered: u64,
    /// Whole frames.
    pub delivered_bytes: u64,
    pub lost: u64,
    pub duplicated: u64,
    pub reordered: u64,
    pub queue_full: u64,
    pub too_big: u64,
    pub outage: u64,
    pub blocked: u64,
    pub refused: u64,
}

impl Counts {
    pub fn end(&mut self, fate: Fate, bytes: u64) {
        let count = match fate {
            Fate::Delivered => {
                self.delivered_bytes += bytes;
                &mut self.delivered
            }
            Fate::Lost => &mut self.lost,
            Fate::QueueFull => &mut self.queue_full,
            Fate::TooBig => &mut self.too_big,
            Fate::Outage => &mut self.outage,
            Fate::Blocked => &mut self.blocked,
            Fate::Refused => &mut self.refused,
        };
        *count += 1;
    }
}

/// Counts of a direction.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct ByProtocol(BTreeMap<Protocol, Counts>);

impl ByProtocol {
    pub fn of(&mut self, protocol: Protocol) -> &mut Counts {
        self.0.entry(protocol).or_default()
    }
}
