//! What is read of sockets and interfaces at the edges of the window.

use std::os::fd::{AsFd, BorrowedFd};

use super::Conduct;
use crate::flow::part::Part;
use crate::host_window::Meter;
use crate::session::tcp_samples;

impl Conduct<'_> {
    /// The data connections and the link: what is the test's own on the wire.
    pub(super) fn connections(&self) -> Vec<BorrowedFd<'_>> {
        let link = self.line.link().map(|link| link.socket().as_fd());
        self.setup.end.flows.iter().map(AsFd::as_fd).chain(link).collect()
    }

    pub(super) fn begin_meter(&mut self) {
        self.brief.surroundings.open_window();
        let pinned = &self.brief.settings.end(self.role()).cpus;
        self.meter = Some(Meter::begin(&self.connections(), pinned));
    }

    pub(super) fn freeze_meter(&mut self) {
        if let Some(meter) = self.meter.take() {
            self.occurred = Some(meter.finish(&self.connections()));
        }
    }

    /// Clients' connections are read by this thread, so that theirs does nothing but transactions.
    pub(super) fn note_connections_before(&mut self) {
        if self.threads().has(Part::Client) && self.tcp_samples.is_some() {
            let readings = tcp_samples::read(&self.setup.end).into_iter().zip(0..);
            self.measured.connections = readings
                .filter_map(|(reading, flow)| reading.map(|reading| (flow, (reading, reading))))
                .collect();
        }
    }

    pub(super) fn note_connections_after(&mut self) {
        for (&flow, (_, after)) in &mut self.measured.connections {
            *after = net::tcp_info(self.setup.end.flow(flow)).unwrap_or(*after);
        }
    }
}
