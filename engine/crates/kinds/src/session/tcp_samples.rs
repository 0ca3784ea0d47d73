//! Readings of the sending flows' connections, one at each interval's end.

use std::os::fd::AsFd;

use net::TcpInfo;
use proto::{FlowInterval, Interval, Role};

use crate::end::End;
use crate::outcome::tcp_window;
use crate::roles::other;
use crate::settings::Settings;

/// So many flows are told in one interval; the metrics cover all.
const FLOWS_OF_AN_INTERVAL: usize = 64;
/// So many are told in all intervals of a test together, so that results of long tests stay small.
const FLOWS_OF_ALL_INTERVALS: usize = 1_024;

/// The last reading of each flow.
pub struct TcpSamples {
    role: Role,
    prefix: &'static str,
    told: usize,
    last: Vec<Option<TcpInfo>>,
}

impl TcpSamples {
    /// Reads all flows of `end`, before its traffic begins.
    pub fn begin(end: &End) -> Self {
        Self {
            role: end.role,
            prefix: end.settings.prefix(other(end.role)),
            told: told_flows(&end.settings),
            last: read(end),
        }
    }

    /// Reads all flows again and adds to `interval` what changed since the last time.
    pub fn add_to(&mut self, interval: &mut Interval, end: &End) {
        let now = read(end);
        let figures: Vec<_> = self
            .last
            .iter()
            .zip(&now)
            .zip(0..)
            .filter_map(|((before, now), index)| {
                Some((index, tcp_window::change(before.as_ref()?, now.as_ref()?)))
            })
            .collect();
        let all: Vec<_> = figures.iter().map(|(_, tcp)| *tcp).collect();
        interval.metrics.extend(tcp_window::interval_metrics(&all, self.prefix));
        let told = figures.into_iter().take(self.told);
        interval.flows.extend(told.map(|(index, tcp)| FlowInterval { index, end: self.role, tcp }));
        self.last = now;
    }
}

/// Reads every flow's connection.
pub fn read(end: &End) -> Vec<Option<TcpInfo>> {
    end.flows.iter().map(|flow| net::tcp_info(flow.as_fd())).collect()
}

fn told_flows(settings: &Settings) -> usize {
    let intervals = settings.total().as_secs_f64() / settings.report_interval.as_secs_f64();
    // A result of very many intervals has none: the metrics are there all the same.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let share = (FLOWS_OF_ALL_INTERVALS as f64 / intervals.ceil().max(1.0)) as usize;
    share.min(FLOWS_OF_AN_INTERVAL)
}

#[cfg(test)]
mod tests {
    use proto::Params;

    use super::told_flows;
    use crate::settings::Settings;

    fn told(duration: f64, interval: f64) -> usize {
        let mut params = Params::default();
        params.set("duration_seconds", duration);
        params.set("report_interval_seconds", interval);
        told_flows(&Settings::read(&params).expect("valid"))
    }

    #[test]
    fn sixty_four_flows_are_told_until_a_test_is_long() {
        assert_eq!((told(10.0, 1.0), told(16.0, 1.0), told(0.5, 1.0)), (64, 64, 64));
        assert_eq!((told(100.0, 1.0), told(10.0, 0.1)), (10, 10));
        assert_eq!((told(1_024.0, 1.0), told(86_400.0, 1.0)), (1, 0));
    }
}
