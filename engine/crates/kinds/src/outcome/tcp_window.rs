//! What the kernel tells of the flows' connections over a stretch of time, each and together.

use net::TcpInfo;
use proto::{Metrics, TcpFigures};

/// Figures of so many flows are kept in a result; the metrics cover all.
/// The sink's half must fit a line of the link, 1 MiB, with 4,096 flows.
pub const TOLD_FLOWS: usize = 400;

/// What changed between two readings of a connection; the figures that are no counts or times are of the later one.
pub fn change(before: &TcpInfo, now: &TcpInfo) -> TcpFigures {
    let count =
        |figure: fn(&TcpInfo) -> Option<u64>| Some(figure(now)?.saturating_sub(figure(before)?));
    let time = |figure: fn(&TcpInfo) -> Option<f64>| {
        // Microseconds are what the kernel counts: no digits below them.
        let seconds = (figure(now)? - figure(before)?).max(0.0);
        Some((seconds * 1e6).round() / 1e6)
    };
    TcpFigures {
        retransmits: Some(now.retransmits.saturating_sub(before.retransmits).into()),
        congestion_window_bytes: Some(now.congestion_window_bytes),
        rtt_seconds: Some(now.rtt_seconds),
        rtt_variation_seconds: Some(now.rtt_variation_seconds),
        minimum_rtt_seconds: now.minimum_rtt_seconds,
        delivery_rate_bps: now.delivery_rate_bps,
        busy_seconds: time(|info| info.busy_seconds),
        receiver_limited_seconds: time(|info| info.receiver_limited_seconds),
        send_buffer_limited_seconds: time(|info| info.send_buffer_limited_seconds),
        segments_sent: count(|info| info.data_segments_sent),
        retransmitted_bytes: count(|info| info.retransmitted_bytes),
        delivery_application_limited: now.is_delivery_application_limited,
    }
}

/// The flows together: counts and rates are summed, the others averaged. What one flow lacks, all lack.
pub fn metrics(flows: &[TcpFigures], prefix: &str) -> Metrics {
    let mut metrics = interval_metrics(flows, prefix);
    let least = flows.iter().map(|flow| flow.minimum_rtt_seconds);
    let least =
        least.collect::<Option<Vec<f64>>>().and_then(|all| all.into_iter().reduce(f64::min));
    if let Some(least) = least {
        metrics.insert(format!("{prefix}minimum_rtt_seconds"), least);
    }
    metrics
}

/// What of that an interval has.
pub fn interval_metrics(flows: &[TcpFigures], prefix: &str) -> Metrics {
    let sum = |figure: fn(&TcpFigures) -> Option<f64>| sum(flows, figure);
    let mean = |figure| Some(sum(figure)? / flows.len() as f64);
    let together = [
        ("retransmits", sum(|flow| flow.retransmits.map(|count| count as f64))),
        (
            "congestion_window_bytes",
            mean(|flow| flow.congestion_window_bytes.map(|bytes| bytes as f64)),
        ),
        ("rtt_seconds", mean(|flow| flow.rtt_seconds)),
        ("rtt_variation_seconds", mean(|flow| flow.rtt_variation_seconds)),
        ("delivery_rate_bps", sum(|flow| flow.delivery_rate_bps)),
    ];
    named(together, prefix)
}

/// Shares of the time in which flows were busy or limited; `seconds` are all flows' windows together.
pub fn shares(flows: &[TcpFigures], seconds: f64, prefix: &str) -> Metrics {
    if seconds <= 0.0 {
        return Metrics::new();
    }
    let share = |figure: fn(&TcpFigures) -> Option<f64>| {
        // The kernel counts in ticks, the window is exact: a tick too much is none.
        Some((sum(flows, figure)? / seconds).min(1.0))
    };
    let together = [
        ("busy_ratio", share(|flow| flow.busy_seconds)),
        ("receiver_limited_ratio", share(|flow| flow.receiver_limited_seconds)),
        ("send_buffer_limited_ratio", share(|flow| flow.send_buffer_limited_seconds)),
    ];
    named(together, prefix)
}

fn sum(flows: &[TcpFigures], figure: fn(&TcpFigures) -> Option<f64>) -> Option<f64> {
    (!flows.is_empty()).then(|| flows.iter().map(figure).sum::<Option<f64>>())?
}

fn named<const N: usize>(figures: [(&str, Option<f64>); N], prefix: &str) -> Metrics {
    figures
        .into_iter()
        .filter_map(|(key, value)| Some((format!("{prefix}{key}"), value?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use net::TcpInfo;
    use proto::{EndReport, Flow, Granted, Metrics, SentCount, TcpFigures};

    use super::{TOLD_FLOWS, change, metrics, shares};

    fn reading() -> TcpInfo {
        TcpInfo {
            retransmits: 5,
            congestion_window_bytes: 14_480,
            rtt_seconds: 0.010,
            rtt_variation_seconds: 0.002,
            minimum_rtt_seconds: Some(0.008),
            data_segments_sent: Some(1_000),
            delivery_rate_bps: Some(1e6),
            is_delivery_application_limited: Some(false),
            busy_seconds: Some(2.0),
            receiver_limited_seconds: Some(0.5),
            send_buffer_limited_seconds: Some(0.25),
            retransmitted_bytes: Some(7_240),
            ..TcpInfo::default()
        }
    }

    #[test]
    fn counts_and_times_are_differences_and_the_rest_is_of_the_end() {
        let now = TcpInfo {
            retransmits: 7,
            congestion_window_bytes: 28_960,
            data_segments_sent: Some(3_000),
            busy_seconds: Some(3.0),
            receiver_limited_seconds: Some(0.75),
            retransmitted_bytes: Some(10_136),
            ..reading()
        };
        let figures = change(&reading(), &now);
        assert_eq!((figures.retransmits, figures.segments_sent), (Some(2), Some(2_000)));
        assert_eq!(figures.retransmitted_bytes, Some(2_896));
        assert_eq!(figures.congestion_window_bytes, Some(28_960));
        assert_eq!(
            (figures.busy_seconds, figures.receiver_limited_seconds),
            (Some(1.0), Some(0.25))
        );
        assert_eq!(figures.send_buffer_limited_seconds, Some(0.0));
        assert_eq!((figures.rtt_seconds, figures.minimum_rtt_seconds), (Some(0.010), Some(0.008)));
    }

    #[test]
    fn what_the_kernel_does_not_tell_stays_absent() {
        let old = TcpInfo { busy_seconds: None, data_segments_sent: None, ..reading() };
        let figures = change(&old, &old);
        assert_eq!((figures.busy_seconds, figures.segments_sent), (None, None));
        assert_eq!(figures.retransmits, Some(0));
        let shares = shares(&[figures], 1.0, "");
        assert!(!shares.contains_key("busy_ratio"));
        assert!(shares.contains_key("receiver_limited_ratio"));
    }

    #[test]
    fn rates_and_counts_are_summed_over_flows_and_windows_averaged() {
        let flow = |retransmits, window, rtt, minimum| TcpFigures {
            retransmits: Some(retransmits),
            congestion_window_bytes: Some(window),
            rtt_seconds: Some(rtt),
            rtt_variation_seconds: Some(0.001),
            minimum_rtt_seconds: Some(minimum),
            delivery_rate_bps: Some(5e6),
            ..TcpFigures::default()
        };
        let expected = [
            ("reverse_retransmits", 7.0),
            ("reverse_congestion_window_bytes", 20_000.0),
            ("reverse_rtt_seconds", 0.03),
            ("reverse_rtt_variation_seconds", 0.001),
            ("reverse_minimum_rtt_seconds", 0.01),
            ("reverse_delivery_rate_bps", 1e7),
        ];
        let expected: Metrics =
            expected.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let flows = [flow(3, 10_000, 0.02, 0.01), flow(4, 30_000, 0.04, 0.02)];
        assert_eq!(metrics(&flows, "reverse_"), expected);
        assert_eq!(metrics(&[], ""), Metrics::new());
    }

    #[test]
    fn a_report_of_the_most_flows_fits_a_line_of_the_link() {
        let tcp = TcpFigures {
            retransmits: Some(123_456_789),
            congestion_window_bytes: Some(12_345_678_901),
            rtt_seconds: Some(0.123_456),
            rtt_variation_seconds: Some(0.123_456),
            minimum_rtt_seconds: Some(0.123_456),
            delivery_rate_bps: Some(123_456_789_012.0),
            busy_seconds: Some(12_345.678_901),
            receiver_limited_seconds: Some(12_345.678_901),
            send_buffer_limited_seconds: Some(12_345.678_901),
            segments_sent: Some(1_234_567_890),
            retransmitted_bytes: Some(12_345_678_901),
            delivery_application_limited: Some(false),
        };
        let flow = |index: u32| Flow {
            index,
            bytes: 123_456_789_012,
            reverse_bytes: 0,
            granted: Granted {
                sink_sndbuf: Some(4_194_304),
                sink_rcvbuf: Some(6_291_456),
                ..Granted::default()
            },
            source_tcp: None,
            sink_tcp: ((index as usize) < TOLD_FLOWS).then_some(tcp),
        };
        let sent = |flow| SentCount { flow, bytes: 123_456_789_012, packets: 123_456_789 };
        let report = EndReport {
            flows: (0..4_096).map(flow).collect(),
            sent: (0..4_096).map(sent).collect(),
            ..EndReport::default()
        };
        let line = serde_json::to_vec(&report).expect("it is JSON").len();
        assert!(line < proto::LINE_LIMIT_BYTES * 95 / 100, "{line} B");
    }

    #[test]
    fn shares_are_of_all_flows_windows_and_at_most_one() {
        let flow = |busy, limited| TcpFigures {
            busy_seconds: Some(busy),
            receiver_limited_seconds: Some(limited),
            send_buffer_limited_seconds: Some(0.0),
            ..TcpFigures::default()
        };
        let shares = shares(&[flow(1.004, 0.5), flow(1.0, 0.1)], 2.0, "");
        assert!((shares["busy_ratio"] - 1.0).abs() < 1e-12);
        assert!((shares["receiver_limited_ratio"] - 0.3).abs() < 1e-12);
        assert!(shares["send_buffer_limited_ratio"].abs() < 1e-12);
    }
}
