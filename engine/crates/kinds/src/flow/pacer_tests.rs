use std::time::{Duration, Instant};

use super::{Missed, Pacer, Schedule, Share};
use crate::flow::gate::{Phase, Pulse};

const MILLISECOND: f64 = 1e6;
const SECOND: f64 = 1e9;

fn alone(rate_bps: f64) -> Share {
    Share { rate_bps, flow: 0, flows: 1 }
}

/// The times in milliseconds at which one flow sends, which is looked at every `step` but while it is `held`.
fn sent(schedule: &mut Schedule, seconds: f64, step: f64, held: std::ops::Range<f64>) -> Vec<f64> {
    let mut times = Vec::new();
    let mut now = 0.0;
    while now < seconds * SECOND {
        if !held.contains(&(now / SECOND)) {
            times.extend((0..schedule.take(now, 1_000)).map(|_| now / MILLISECOND));
        }
        now += step;
    }
    times
}

/// The most messages in any window of a second.
fn most_in_a_second(times: &[f64]) -> usize {
    let within = |first: f64| times.iter().filter(|&&t| (first..first + 1e3).contains(&t)).count();
    times.iter().map(|&first| within(first)).max().unwrap_or(0)
}

#[test]
fn a_sender_held_up_for_seconds_makes_up_for_a_burst_and_no_more() {
    // A message in a millisecond.
    let mut schedule = Schedule::new(alone(8e6), MILLISECOND);
    let times = sent(&mut schedule, 6.0, 0.1 * MILLISECOND, 1.0..3.5);
    assert!(most_in_a_second(&times) <= 1_006, "{}", most_in_a_second(&times));
    assert!((3_500..=3_506).contains(&times.len()), "{}", times.len());
    let Missed { total, longest } = schedule.missed;
    assert_eq!(total, longest);
    assert!((Duration::from_millis(2_490)..Duration::from_millis(2_500)).contains(&total));
}

#[test]
fn late_wake_ups_cost_nothing_of_the_rate() {
    let mut schedule = Schedule::new(alone(8e6), MILLISECOND);
    let times = sent(&mut schedule, 5.0, 4.3 * MILLISECOND, 9.0..9.0);
    assert!((4_990..=5_000).contains(&times.len()), "{}", times.len());
    assert_eq!(schedule.missed, Missed::default());
}

#[test]
fn a_piece_that_is_late_by_less_than_itself_costs_nothing_of_the_rate() {
    let gap = 20.0 * MILLISECOND;
    let mut schedule = Schedule { burst: gap, ..Schedule::new(alone(1e6), gap) };
    let times = sent(&mut schedule, 5.0, 17.0 * MILLISECOND, 9.0..9.0);
    assert!((249..=250).contains(&times.len()), "{}", times.len());
    assert_eq!(schedule.missed, Missed::default());
}

#[test]
fn a_message_of_most_of_a_second_comes_as_often_as_its_rate_says() {
    // 0.839 s apiece: 12 of them in 10 s are 1.006 times the rate; begun at once they were 12 in 9.2 s.
    let mut schedule = Schedule::new(alone(1e6), 0.839 * SECOND);
    let times = sent(&mut schedule, 10.0, MILLISECOND, 9.9..9.9);
    assert_eq!(times.len(), 12);
}

#[test]
fn flows_take_turns_so_that_together_they_keep_the_rate_in_every_second() {
    let times = (0..32).flat_map(|flow| {
        let share = Share { rate_bps: 31_250.0, flow, flows: 32 };
        let mut schedule = Schedule::new(share, 0.3584 * SECOND);
        sent(&mut schedule, 5.0, MILLISECOND, 9.0..9.0)
    });
    // 89.3 messages of all flows in a second.
    let most = most_in_a_second(&times.collect::<Vec<_>>());
    assert!((89..=91).contains(&most), "{most}");
}

#[test]
fn rate_zero_needs_no_pacer() {
    assert!(Pacer::new(alone(0.0), 1_000, Instant::now()).is_none());
}

#[test]
fn the_eleventh_message_is_due_ten_spacings_after_the_first() {
    let begin = Instant::now();
    let mut pacer = Pacer::new(alone(8e6), 1_000, begin).expect("a rate");
    let pulse = Pulse::new(false);
    assert!((0..11).all(|_| pacer.wait(&pulse) == Phase::Measured));
    assert!(begin.elapsed() >= Duration::from_millis(10));
}

#[test]
fn as_many_messages_are_due_as_time_has_passed_for_and_no_more_than_wanted() {
    let pulse = Pulse::new(false);
    // A message a second.
    let begin = Instant::now().checked_sub(Duration::from_millis(504)).expect("the clock runs");
    let mut slow = Pacer::new(alone(8_000.0), 1_000, begin).expect("a rate");
    assert_eq!(slow.wait_for_some(&pulse, 64), (Phase::Measured, 1));
    // A message a microsecond: 5,000 are due.
    let begin = Instant::now().checked_sub(Duration::from_millis(10)).expect("the clock runs");
    let mut fast = Pacer::new(alone(8e9), 1_000, begin).expect("a rate");
    assert!((0..78).all(|_| fast.wait_for_some(&pulse, 64) == (Phase::Measured, 64)));
}

#[test]
fn a_message_that_is_due_after_the_test_is_not_sent() {
    let mut pacer = Pacer::new(alone(16_000.0), 1_000, Instant::now()).expect("a rate");
    let pulse = Pulse::new(false);
    assert_eq!(pacer.wait(&pulse), Phase::Measured);
    pulse.set(Phase::Over);
    assert_eq!(pacer.wait(&pulse), Phase::Over);
}

#[test]
fn what_is_missed_at_the_end_is_told_and_the_warm_up_is_not() {
    let begin = Instant::now().checked_sub(Duration::from_secs(2)).expect("the clock runs");
    let mut pacer = Pacer::new(alone(8e6), 1_000, begin).expect("a rate");
    let pulse = Pulse::new(false);
    pulse.set(Phase::Over);
    assert_eq!(pacer.wait(&pulse), Phase::Over);
    assert!(pacer.missed().longest > Duration::from_millis(1_900));
    pacer.begin_window();
    assert_eq!(pacer.missed(), Missed::default());
}
