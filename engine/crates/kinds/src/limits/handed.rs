//! Whether what is told as sent was only handed to the kernel: the link can't have carried it.

use proto::{EndReport, Metrics};

use super::known::carrier;

/// What of the sent may be in buffers, or counted at a slightly other time.
const MARGIN: f64 = 0.02;

/// Whether in either direction more was sent than the link can carry, or of datagrams than its interface has sent.
pub fn is_beyond_link(metrics: &Metrics, source: &EndReport, sink: &EndReport) -> bool {
    [("", source), ("reverse_", sink)].into_iter().any(|(prefix, sender)| {
        let figure = |key: &str| metrics.get(&format!("{prefix}{key}")).copied();
        let Some(sent_bps) = figure("send_throughput_bps") else {
            return false;
        };
        let ceiling = figure("payload_ceiling_bps");
        let is_above_ceiling = ceiling.is_some_and(|most| sent_bps > most * (1.0 + MARGIN));
        // A stream waits in its send buffer; datagrams are gone.
        let are_datagrams = figure("sent_packets").is_some();
        is_above_ceiling || (are_datagrams && has_dropped(sender))
    })
}

/// Whether the interface that carries the test has sent less in the window than the test, even with headers.
fn has_dropped(sender: &EndReport) -> bool {
    let sent: u64 = sender.sent.iter().map(|flow| flow.bytes).sum();
    let interface = sender.host.as_ref().and_then(carrier);
    interface.is_some_and(|interface| sent as f64 > interface.tx_bytes as f64 * (1.0 + MARGIN))
}

#[cfg(test)]
mod tests {
    use proto::{EndReport, HostWindow, InterfaceWindow, Metrics, SentCount};

    use super::is_beyond_link;

    const SENT_BYTES: u64 = 175_000_000;

    fn metrics(pairs: &[(&str, f64)]) -> Metrics {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect()
    }

    fn beyond(pairs: &[(&str, f64)], tx_bytes: Option<u64>) -> bool {
        let interface = |tx_bytes| InterfaceWindow {
            carries_test: true,
            tx_bytes,
            ..InterfaceWindow::default()
        };
        let host = tx_bytes.map(|bytes| HostWindow {
            seconds: 1.0,
            interfaces: vec![interface(bytes)],
            ..HostWindow::default()
        });
        let sent = vec![SentCount { flow: 0, bytes: SENT_BYTES, packets: 120_000 }];
        let end = EndReport { host, sent, ..EndReport::default() };
        is_beyond_link(&metrics(pairs), &end, &end)
    }

    #[test]
    fn more_than_the_ceiling_was_not_on_the_link() {
        let ceiling = ("payload_ceiling_bps", 957e6);
        assert!(beyond(&[("send_throughput_bps", 1.4e9), ceiling], None));
        assert!(!beyond(&[("send_throughput_bps", 960e6), ceiling], None));
        let reverse = ("reverse_payload_ceiling_bps", 957e6);
        assert!(beyond(&[("reverse_send_throughput_bps", 1.4e9), reverse], None));
        assert!(!beyond(&[("send_throughput_bps", 1.4e9)], None));
    }

    #[test]
    fn datagrams_beyond_what_the_interface_sent_were_dropped_before_it() {
        let sent = [("send_throughput_bps", 1.4e9), ("sent_packets", 120_000.0)];
        assert!(beyond(&sent, Some(120_000_000)));
        assert!(!beyond(&sent, Some(180_000_000)));
        assert!(!beyond(&sent[..1], Some(120_000_000)));
    }
}
