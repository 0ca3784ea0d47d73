use proptest::prelude::*;
use proto::{InterfaceCount, InterfaceCounts, Interval, Metrics};

use super::{Course, MOST};

const LENGTH: f64 = 0.1;

/// What an interval of a tenth of a second counts: bytes, replies, the mean of their latencies, and what was lost.
type Counted = (u32, u16, u16, u16);

fn interval(place: usize, counted: Counted, (warmup, drain): (bool, bool)) -> Interval {
    let (bytes, units, latency, lost) = counted;
    let mut metrics = Metrics::from([
        ("throughput_bps".to_owned(), f64::from(bytes) * 8.0 / LENGTH),
        ("lost_packets".to_owned(), f64::from(lost)),
    ]);
    if units > 0 {
        metrics.insert("latency_mean_seconds".to_owned(), f64::from(latency));
    }
    let counts = [("bytes", u64::from(bytes)), ("units", u64::from(units))];
    let source = InterfaceCount {
        name: "eth0".to_owned(),
        rx_bytes: u64::from(bytes),
        rx_packets: u64::from(units),
        ..InterfaceCount::default()
    };
    Interval {
        start_seconds: place as f64 * LENGTH,
        end_seconds: (place + 1) as f64 * LENGTH,
        metrics,
        warmup,
        drain,
        counts: counts.map(|(key, count)| (key.to_owned(), count)).into(),
        interfaces: InterfaceCounts { source: Some(source), sink: None },
        ..Interval::default()
    }
}

fn thinned(most: usize, all: &[Interval]) -> Vec<Interval> {
    let mut course = Course::of_at_most(most);
    for interval in all {
        course.add(interval.clone());
        assert!(course.entries.len() <= most, "{} of at most {most}", course.entries.len());
    }
    course.with(Course::default())
}

fn sum(intervals: &[Interval], of: impl Fn(&Interval) -> f64) -> f64 {
    intervals.iter().map(of).sum()
}

fn seconds(interval: &Interval) -> f64 {
    interval.end_seconds - interval.start_seconds
}

/// A course with a warm-up of `warmup` intervals and a drain of `drain`.
fn course(counted: &[Counted], warmup: usize, drain: usize) -> Vec<Interval> {
    let window_end = counted.len().saturating_sub(drain);
    let side = |place| (place < warmup, place >= window_end && place >= warmup);
    let numbered = counted.iter().enumerate();
    numbered.map(|(place, counted)| interval(place, *counted, side(place))).collect()
}

fn assert_near(one: f64, other: f64) {
    assert!((one - other).abs() <= 1e-9 * one.abs().max(1.0), "{one} is not {other}");
}

proptest! {
    #[test]
    fn totals_extremes_and_the_borders_of_the_window_stay(
        counted in prop::collection::vec(any::<Counted>(), 1..400),
        most in 8..40_usize,
        warmup in 0..30_usize,
        drain in 0..30_usize,
    ) {
        let all = course(&counted, warmup, drain);
        let kept = thinned(most, &all);
        prop_assert!(kept.len() <= most);
        for key in ["bytes", "units"] {
            let whole = |intervals: &[Interval]| -> u64 { intervals.iter().map(|each| each.counts[key]).sum() };
            prop_assert_eq!(whole(&kept), whole(&all));
        }
        let received = |intervals: &[Interval]| -> u64 {
            intervals.iter().map(|each| each.interfaces.source.as_ref().map_or(0, |nic| nic.rx_bytes)).sum()
        };
        prop_assert_eq!(received(&kept), received(&all));
        let parts: u32 = kept.iter().map(|each| each.parts.unwrap_or(1)).sum();
        prop_assert_eq!(parts as usize, all.len());
        assert_near(sum(&kept, |each| each.metrics["lost_packets"]), sum(&all, |each| each.metrics["lost_packets"]));
        let bits = |each: &Interval| each.metrics["throughput_bps"] * seconds(each);
        assert_near(sum(&kept, bits), sum(&all, bits));
        let latencies = |each: &Interval| {
            each.metrics.get("latency_mean_seconds").map_or(0.0, |mean| mean * each.counts["units"] as f64)
        };
        assert_near(sum(&kept, latencies), sum(&all, latencies));
        for side in [|each: &Interval| each.warmup, |each: &Interval| each.drain] {
            let time = |each: &Interval| if side(each) { seconds(each) } else { 0.0 };
            assert_near(sum(&kept, time), sum(&all, time));
        }
        let greatest = all.iter().map(|each| each.metrics["throughput_bps"]).fold(0.0, f64::max);
        let kept_greatest = kept.iter().map(|each| {
            each.extremes.get("throughput_bps").map_or(each.metrics["throughput_bps"], |extremes| extremes.1)
        });
        prop_assert_eq!(kept_greatest.fold(0.0, f64::max).to_bits(), greatest.to_bits());
    }

    #[test]
    fn both_ends_join_the_same_intervals(counted in prop::collection::vec(any::<Counted>(), 1..300), warmup in 0..9_usize) {
        let all = course(&counted, warmup, 0);
        let (mut own, mut peer) = (Course::of_at_most(16), Course::of_at_most(16));
        for each in &all {
            own.add(each.clone());
        }
        // The other end has one less, and perhaps halved its course once less.
        for each in &all[..all.len() - 1] {
            let mut told = each.clone();
            told.metrics = Metrics::from([("reverse_throughput_bps".to_owned(), told.metrics["throughput_bps"])]);
            peer.add(told);
        }
        let joined = own.with(peer);
        let (_, whole) = joined.split_last().expect("there is one");
        for each in whole {
            assert_near(each.metrics["reverse_throughput_bps"], each.metrics["throughput_bps"]);
        }
    }
}

#[test]
fn a_day_of_seconds_is_told_in_intervals_of_thirty_two() {
    let all = course(&vec![(1_000, 7, 2, 0); 86_400], 0, 0);
    let mut course = Course::default();
    for each in all {
        course.add(each);
    }
    assert_eq!((course.told(), course.parts), (86_400, 32));
    let kept = course.with(Course::default());
    assert!(kept.len() <= MOST && kept.len() == 2_700, "{}", kept.len());
    assert_eq!(kept[0].parts, Some(32));
    assert_eq!(kept[0].extremes["lost_packets"], (0.0, 0.0));
}

#[test]
fn up_to_the_most_nothing_is_joined() {
    let all = course(&vec![(1_000, 7, 2, 0); MOST], 10, 0);
    assert_eq!(thinned(MOST, &all), all);
}

#[test]
fn a_figure_that_one_part_lacks_is_the_mean_of_the_others() {
    let all = course(&[(1, 0, 9, 0), (1, 4, 2, 0), (1, 12, 6, 0), (1, 0, 9, 0)], 0, 0);
    let kept = thinned(2, &[all.clone(), all].concat());
    assert_eq!(kept.len(), 2);
    assert_eq!(kept[0].metrics["latency_mean_seconds"].to_bits(), 5.0_f64.to_bits());
    assert_eq!(kept[0].extremes["latency_mean_seconds"], (2.0, 6.0));
}

#[test]
fn counts_of_another_interface_are_not_added() {
    let mut all = course(&[(5, 1, 1, 0); 3], 0, 0);
    all[1].interfaces.source.as_mut().expect("it has one").name = "eth1".to_owned();
    assert_eq!(thinned(2, &all)[0].interfaces, InterfaceCounts::default());
}
