//! Nothing between the two ends but the link.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use super::{Connected, Plan, Transport};
use crate::failure::Failure;
use crate::line::Line;

/// The source speaks to the sink's host, or elsewhere, by itself.
pub struct Nothing;

impl Transport for Nothing {
    fn connect(
        &self,
        _plan: &Plan,
        _line: &mut Line,
        _to: SocketAddr,
        _local: &net::LocalEnd,
    ) -> Result<Connected, Failure> {
        Ok(Connected::default())
    }

    fn accept(
        &self,
        _plan: &Plan,
        _line: &mut Line,
        early: BTreeMap<u32, OwnedFd>,
    ) -> Result<Connected, Failure> {
        Ok(Connected { flows: early.into_values().collect(), ..Connected::default() })
    }

    fn is_between_ends(&self) -> bool {
        false
    }
}
