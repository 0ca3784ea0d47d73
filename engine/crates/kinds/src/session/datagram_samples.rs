//! What the numbers of datagrams tell of an interval: sent, lost, and the jitter at its end.

use proto::Interval;

use super::threads::Threads;
use crate::end::End;
use crate::flow::counter::Count;
use crate::flow::part::Part;
use crate::kind::Kind;

/// The view of an end that receives numbered datagrams.
#[derive(Debug)]
pub struct DatagramSamples {
    prefix: &'static str,
    /// Datagrams that came after the interval of their number: the loss told until then was too high by so many.
    owed: u64,
    /// The window's first, sent and arrived, which by this end's clock came in the warm-up.
    early: (u64, u64),
}

impl DatagramSamples {
    /// None where no datagrams are received, or where they carry no number.
    pub fn begin(end: &End, threads: &Threads, kind: &dyn Kind) -> Option<Self> {
        let is_numbered = threads.has(Part::Receiver) && kind.numbers_datagrams(end);
        is_numbered.then(|| Self { prefix: end.settings.prefix(end.role), owed: 0, early: (0, 0) })
    }

    /// Adds what `count` and the numbers tell; `rest` were sent and will never come. Where neither has come anything nor
    /// is known to be missing, nothing is known of the interval: the next that comes tells.
    pub fn add_to(
        &mut self,
        interval: &mut Interval,
        count: Count,
        (rest, jitter): (u64, Option<f64>),
    ) {
        let (early_sent, early_arrived) = std::mem::take(&mut self.early);
        let (sent, unique) = (count.numbered + early_sent, count.unique + early_arrived);
        if interval.warmup {
            self.early = (sent, unique);
            return;
        }
        let sent = sent + rest;
        if sent == 0 && unique == 0 {
            return;
        }
        let arrived = unique + self.owed;
        let lost = sent.saturating_sub(arrived);
        self.owed = arrived.saturating_sub(sent);
        let mut set = |key: &str, value: f64| {
            interval.metrics.insert(format!("{}{key}", self.prefix), value);
        };
        set("sent_packets", sent as f64);
        set("lost_packets", lost as f64);
        if let Some(jitter) = jitter.filter(|_| unique > 0) {
            set("jitter_seconds", jitter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each interval the numbers passed, those that came and those given up at the end: what was sent and lost.
    fn told(intervals: &[(u64, u64, u64)]) -> Vec<Option<(f64, f64)>> {
        let mut samples = DatagramSamples { prefix: "", owed: 0, early: (0, 0) };
        let told = intervals.iter().map(|&(numbered, unique, rest)| {
            let mut interval = Interval::default();
            let count = Count { numbered, unique, ..Count::default() };
            samples.add_to(&mut interval, count, (rest, None));
            assert!(!interval.metrics.contains_key("jitter_seconds"));
            let figure = |key: &str| interval.metrics.get(key).copied();
            figure("sent_packets").zip(figure("lost_packets"))
        });
        told.collect()
    }

    #[test]
    fn what_is_sent_is_lost_or_arrives() {
        assert_eq!(told(&[(10, 10, 0), (10, 7, 0)]), [Some((10.0, 0.0)), Some((10.0, 3.0))]);
    }

    #[test]
    fn of_an_interval_without_arrivals_nothing_is_known_until_the_next() {
        assert_eq!(told(&[(10, 10, 0), (0, 0, 0), (25, 5, 0)])[1..], [None, Some((25.0, 20.0))]);
    }

    #[test]
    fn the_last_interval_has_what_never_came() {
        assert_eq!(told(&[(10, 10, 0), (4, 4, 6)])[1], Some((10.0, 6.0)));
        assert_eq!(told(&[(0, 0, 6)]), [Some((6.0, 6.0))]);
    }

    #[test]
    fn who_comes_late_was_not_lost_and_no_loss_is_below_zero() {
        // Three of the first interval's come in the second, of which one is lost itself.
        let told = told(&[(10, 7, 0), (10, 12, 0), (10, 8, 0), (10, 10, 0)]);
        let lost: f64 = told.iter().flatten().map(|(_, lost)| lost).sum();
        assert_eq!(told[1..3], [Some((10.0, 0.0)), Some((10.0, 0.0))]);
        assert_eq!(lost.to_bits(), 3.0_f64.to_bits());
    }

    #[test]
    fn the_windows_first_that_come_in_the_warmup_are_told_with_the_window() {
        let mut samples = DatagramSamples { prefix: "", owed: 0, early: (0, 0) };
        let mut figures = [true, false].map(|warmup| {
            let mut interval = Interval { warmup, ..Interval::default() };
            let count = Count { numbered: 4, unique: 3, ..Count::default() };
            samples.add_to(&mut interval, count, (0, None));
            interval.metrics
        });
        assert!(figures[0].is_empty());
        assert_eq!(figures[1].remove("sent_packets").map(f64::to_bits), Some(8.0_f64.to_bits()));
        assert_eq!(figures[1].remove("lost_packets").map(f64::to_bits), Some(2.0_f64.to_bits()));
    }

    #[test]
    fn jitter_is_told_of_what_came() {
        let mut interval = Interval::default();
        let mut samples = DatagramSamples { prefix: "reverse_", owed: 0, early: (0, 0) };
        samples.add_to(
            &mut interval,
            Count { numbered: 2, unique: 2, ..Count::default() },
            (0, Some(0.5)),
        );
        assert_eq!(interval.metrics["reverse_jitter_seconds"].to_bits(), 0.5_f64.to_bits());
    }
}
