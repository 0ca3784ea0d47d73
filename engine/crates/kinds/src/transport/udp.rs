//! One pair of UDP ports per flow.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use super::{Connected, Plan, Transport, apply_options, udp_hello};
use crate::failure::Failure;
use crate::line::Line;
use crate::line::steps::wait_for_flows;

/// One pair of UDP ports per flow.
pub struct Udp;

impl Transport for Udp {
    fn connect(
        &self,
        plan: &Plan,
        line: &mut Line,
        to: SocketAddr,
        local: &net::LocalEnd,
    ) -> Result<Connected, Failure> {
        let flows = udp_hello::connect(plan, line, to, local)?;
        Ok(Connected { flows, ..Connected::default() })
    }

    fn accept(
        &self,
        plan: &Plan,
        line: &mut Line,
        mut early: BTreeMap<u32, OwnedFd>,
    ) -> Result<Connected, Failure> {
        wait_for_flows(line, plan.settings.flows, &mut early)?;
        apply_options(plan, &early, false)?;
        Ok(Connected { flows: early.into_values().collect(), ..Connected::default() })
    }

    fn has_datagrams(&self) -> bool {
        true
    }
}
