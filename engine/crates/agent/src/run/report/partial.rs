//! What was measured of a test that ended early, joined from what both ends know.

use proto::RunResult;

const FLAG: &str = "partial";

/// The source's part with what only the sink knows; flagged as partial.
pub fn join(source: Option<RunResult>, sink: Option<RunResult>) -> Option<RunResult> {
    let mut joined = match (source, sink) {
        (Some(source), Some(sink)) => extend(source, sink),
        (one, other) => one.or(other)?,
    };
    joined.flags.push(FLAG.to_owned());
    joined.flags.sort();
    joined.flags.dedup();
    Some(joined)
}

fn extend(mut source: RunResult, sink: RunResult) -> RunResult {
    for (key, value) in sink.metrics {
        source.metrics.entry(key).or_insert(value);
    }
    for (flow, other) in source.flows.iter_mut().zip(&sink.flows) {
        flow.bytes = flow.bytes.max(other.bytes);
        flow.reverse_bytes = flow.reverse_bytes.max(other.reverse_bytes);
        flow.granted.sink_sndbuf = flow.granted.sink_sndbuf.or(other.granted.sink_sndbuf);
        flow.granted.sink_rcvbuf = flow.granted.sink_rcvbuf.or(other.granted.sink_rcvbuf);
        flow.sink_tcp = flow.sink_tcp.or(other.sink_tcp);
    }
    if source.intervals.len() < sink.intervals.len() {
        source.intervals = sink.intervals;
    }
    source.window = source.window.or(sink.window);
    source.histogram = source.histogram.or(sink.histogram);
    source.flags.extend(sink.flags);
    if let (Some(own), Some(other)) = (source.cpu_per_core.as_mut(), sink.cpu_per_core) {
        own.sink = other.sink;
    }
    let hosts = source.hosts.get_or_insert_default();
    hosts.sink = hosts.sink.take().or(sink.hosts.and_then(|hosts| hosts.sink));
    if hosts.source.is_none() && hosts.sink.is_none() {
        source.hosts = None;
    }
    source
}

#[cfg(test)]
mod tests {
    use super::join;
    use crate::run::ledger::tests::result;

    #[test]
    fn the_sink_adds_what_the_source_does_not_know() {
        let source = result(&[("send_throughput_bps", 2.0), ("source_cpu_ratio", 0.5)]);
        let mut sink = result(&[("throughput_bps", 1.0), ("source_cpu_ratio", 9.0)]);
        sink.flags.push("window_short".to_owned());
        let joined = join(Some(source), Some(sink)).unwrap();
        assert!((joined.metrics["throughput_bps"] - 1.0).abs() < f64::EPSILON);
        assert!((joined.metrics["source_cpu_ratio"] - 0.5).abs() < f64::EPSILON);
        assert_eq!(joined.flags, ["partial", "window_short"]);
        assert_eq!(joined.hosts, None);
    }

    #[test]
    fn one_end_alone_is_kept_and_none_is_none() {
        let joined = join(None, Some(result(&[("throughput_bps", 1.0)]))).unwrap();
        assert_eq!(joined.flags, ["partial"]);
        assert!(join(None, None).is_none());
    }
}
