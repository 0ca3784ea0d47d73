"""The second look at an environment's nights, each morning: what it finds, tells once, and leaves to alerts."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchweb.catalog import catalog
from benchweb.hosts.models import Pair
from benchweb.regressions.models import (
    Alert,
    AlertSeries,
    Sensitivity,
    SeriesNoise,
    SlowChange,
    SlowChangeSeries,
    SlowLook,
)
from benchweb.regressions.slow import looks, nights
from benchweb.regressions.slow.findings import NightSeries, slow_finding
from benchweb.regressions.slow.looks import beyond_chance, due_looks, take_due_looks, take_look
from benchweb.results.models import Series
from benchweb.runs.models import Run
from benchweb.schedules.models import Slot
from tests.factories import make_alert, make_endpoint, make_pair, make_run, make_schedule
from tests.regressions.slow.nights import DAY, LAST, LEVEL, NIGHTS, ZONE, look, part_of, step, write_nights
from tests.statistics.changes.noisy import noisy
from workers import ticking
from workers.tasks import take_slow_looks

pytestmark = pytest.mark.django_db


def test_a_small_step_is_found_with_its_levels_nights_and_interval() -> None:
    pair = make_pair()
    (series,) = write_nights(pair, step(-0.02, 60))
    (change,) = look(pair)
    part = part_of(change)
    assert (part.series, part.previous, part.is_drift, part.nights) == (series, None, False, NIGHTS)
    assert (change.pair, change.pair_count) == (pair, 1)
    assert abs((part.since - (LAST - 29 * DAY)).days) <= 3
    assert part.before == pytest.approx(LEVEL, rel=0.005)
    assert part.after == pytest.approx(LEVEL * 0.98, rel=0.005)
    assert part.interval_low_ratio is not None
    assert part.interval_high_ratio is not None
    assert part.interval_low_ratio < -0.02 < part.interval_high_ratio < 0


def test_what_gets_better_is_no_news() -> None:
    pair = make_pair()
    write_nights(pair, step(0.03))
    assert look(pair) == []


def test_a_night_is_the_median_of_its_runs_from_noon_to_noon_in_the_zone() -> None:
    pair = make_pair()
    write_nights(pair, step(), hour=2)
    write_nights(pair, [0.5 * LEVEL] * NIGHTS, hour=3)
    write_nights(pair, [2 * LEVEL] * NIGHTS, hour=4)
    (change,) = look(pair)
    assert part_of(change).before == pytest.approx(LEVEL, rel=0.005)
    # By the clocks of Auckland 02:00 UTC is the afternoon before a night that ends a day later.
    (rows,) = nights.batches([pair.pk], LAST, ZoneInfo("Pacific/Auckland"))
    assert rows[0].values[-1] == pytest.approx(step()[-2])


def test_a_change_is_told_once_and_again_only_when_it_has_clearly_grown() -> None:
    pair = make_pair()
    (series,) = write_nights(pair, step(-0.03, 50))
    (first,) = look(pair)
    again = LAST + DAY
    write_nights(pair, [LEVEL * 0.97], last=again)
    assert look(pair, again) == []
    write_nights(pair, noisy([LEVEL * 0.96] * 20, 5), last=again + 20 * DAY)
    assert look(pair, again + 20 * DAY) == []
    write_nights(pair, noisy([LEVEL * 0.90] * 25, 6), last=again + 45 * DAY)
    (grown,) = look(pair, again + 45 * DAY)
    assert part_of(grown).previous == part_of(first)
    assert SlowChangeSeries.objects.filter(series=series).count() == 2


def test_what_alerts_told_is_told_no_more_and_what_goes_on_after_it_is() -> None:
    pair = make_pair()
    (series,) = write_nights(pair, step(-0.10, 60))
    alert = tell_by_alert(series, LAST - 29 * DAY)
    assert look(pair) == []
    AlertSeries.objects.filter(alert=alert).delete()
    (change,) = look(pair, LAST + DAY)
    assert part_of(change).after == pytest.approx(LEVEL * 0.9, rel=0.01)


def test_a_suspect_that_nobody_was_told_of_hides_nothing() -> None:
    pair = make_pair()
    (series,) = write_nights(pair, step())
    alert = tell_by_alert(series, LAST - 29 * DAY)
    Alert.objects.filter(pk=alert.pk).update(opened_at=None)
    assert len(look(pair)) == 1


def test_nights_of_an_alert_that_is_over_are_left_out() -> None:
    pair = make_pair()
    values = step(-0.02, 60)
    for index in range(20, 50):
        values[index] *= 0.85
    (series,) = write_nights(pair, values)
    assert look(pair) == []
    tell_by_alert(series, LAST - 69 * DAY, until=LAST - 39 * DAY)
    (change,) = look(pair, LAST + DAY)
    part = part_of(change)
    assert part.nights == NIGHTS - 31
    assert part.before == pytest.approx(LEVEL, rel=0.01)


def test_what_was_taught_and_what_somebody_chose_is_never_undercut() -> None:
    pair = make_pair()
    (series,) = write_nights(pair, step())
    noise = SeriesNoise.objects.create(series=series, floor_ratio=0.05, taught_at=timezone.now())
    assert look(pair) == []
    noise.delete()
    chosen = Sensitivity.objects.create(environment=pair.environment, floor_ratio=0.05)
    assert look(pair, LAST + DAY) == []
    chosen.delete()
    assert len(look(pair, LAST + 2 * DAY)) == 1


def test_a_series_of_which_nothing_is_known_for_a_week_tells_nothing_of_now() -> None:
    pair = make_pair()
    write_nights(pair, step(nights=83))
    assert len(look(pair, LAST + 6 * DAY)) == 1
    assert look(pair, LAST + 7 * DAY) == []


def test_counters_and_archived_pairs_are_not_looked_at() -> None:
    pair, archived = make_pair(), make_pair()
    write_nights(pair, step(), metric="retransmits")
    write_nights(archived, step())
    Pair.objects.filter(pk=archived.pk).update(archived_at=timezone.now())
    assert look(pair) == []
    assert look(archived) == []
    assert set(SlowLook.objects.values_list("series_count", flat=True)) == {0}


def test_series_of_one_host_that_change_together_are_one_line_and_what_begins_weeks_later_another() -> None:
    end = make_endpoint()
    pairs = [make_pair(source=end)]
    pairs += [make_pair(source=end, environment="more") for _ in range(3)]
    Pair.objects.filter(pk__in=[pair.pk for pair in pairs]).update(environment=pairs[0].environment_id)
    for number, pair in enumerate(pairs):
        write_nights(pair, step(seed=number), step(seed=number + 10))
    other = make_pair()
    Pair.objects.filter(pk=other.pk).update(environment=pairs[0].environment_id)
    write_nights(other, step(-0.03, 30))
    whole, single = look(pairs[0])
    assert (whole.host_id, whole.pair, whole.pair_count, whole.series.count()) == (end.host_id, None, 4, 8)
    assert (single.pair_id, single.series.count()) == (other.pk, 1)


def test_series_of_one_pair_that_begin_weeks_apart_are_two_lines() -> None:
    pair = make_pair()
    write_nights(pair, step(at=40), step(at=42, seed=2), step(at=70, seed=3))
    assert [change.series.count() for change in look(pair)] == [2, 1]


def test_of_many_series_only_what_they_cannot_show_by_chance_is_told() -> None:
    series = NightSeries(1, 1, "tcp_stream", catalog().metrics["throughput_bps"], LAST, step(-0.03, 60))
    finding = slow_finding(series)
    assert finding is not None
    unsure = replace(finding, change=replace(finding.change, p=4e-4))
    assert beyond_chance([unsure], series=100) == [unsure]
    assert beyond_chance([unsure], series=200) == []
    # Beside others of as much, it is no chance any more.
    assert beyond_chance([unsure] * 2, series=200) == [unsure] * 2


def test_a_look_is_taken_once_whoever_takes_it() -> None:
    pair = make_pair()
    write_nights(pair, step())
    assert take_look(pair.environment_id, LAST, ZONE)
    assert not take_look(pair.environment_id, LAST, ZONE)
    assert SlowChange.objects.count() == 1
    (taken,) = SlowLook.objects.all()
    assert taken.series_count == 1


def test_a_look_whose_worker_died_is_taken_by_another_and_only_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = make_pair()
    write_nights(pair, step())
    claim = looks._claimed(pair.environment_id, LAST)
    assert claim is not None
    assert looks._claimed(pair.environment_id, LAST) is None
    assert not take_look(pair.environment_id, LAST, ZONE)
    SlowLook.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert take_look(pair.environment_id, LAST, ZONE)
    # The first one lives after all: it writes nothing.
    assert not looks._claim_renewed(claim)
    assert not looks._write_found(claim, 1, [])
    assert SlowChange.objects.count() == 1


def test_two_looks_at_once_can_not_tell_the_same_twice() -> None:
    pair = make_pair()
    write_nights(pair, step())
    (change,) = look(pair)
    part = part_of(change)
    part.pk = None
    with pytest.raises(IntegrityError, match="slow_change_told_once"):
        part.save(force_insert=True)


def test_a_look_is_due_from_six_in_the_morning_on_by_the_schedules_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = make_pair()
    monkeypatch.setattr("benchweb.site.values.settings.DEFAULT_TIME_ZONE", "Asia/Shanghai")
    before, after = datetime(2026, 11, 20, 21, 59, tzinfo=UTC), datetime(2026, 11, 20, 22, 0, tzinfo=UTC)
    assert due_looks(before) == []
    ((environment, night, zone),) = due_looks(after)
    assert (environment, night, zone.key) == (pair.environment_id, date(2026, 11, 21), "Asia/Shanghai")
    take_look(environment, night, zone)
    SlowLook.objects.update(taken_at=after)
    assert due_looks(after + timedelta(hours=5)) == []
    assert due_looks(after + timedelta(hours=17, minutes=59)) == []
    assert due_looks(after + timedelta(hours=24)) == [(environment, date(2026, 11, 22), zone)]


def test_what_is_due_is_known_by_two_queries_for_any_number_of_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchweb.site.values.settings.DEFAULT_TIME_ZONE", "UTC")
    at = datetime(2026, 11, 21, 7, tzinfo=UTC)
    pairs = [make_pair(environment=f"zone {number}") for number in range(5)]
    # In one of them a schedule says where it is morning: seven o'clock in London is two in New York.
    run = make_run(pair=pairs[0])
    schedule = make_schedule(timezone="America/New_York")
    Slot.objects.create(schedule=schedule, at=at, claimed_at=at, state="finished", campaign=run.campaign)
    with CaptureQueriesContext(connection) as asked:
        due = due_looks(at)
    told = [query["sql"] for query in asked if "site_" not in query["sql"]]
    assert len(told) == 2, told
    assert {environment for environment, _, _ in due} >= {pair.environment_id for pair in pairs[1:]}
    assert pairs[0].environment_id not in {environment for environment, _, _ in due}
    for environment, night, zone in due:
        take_look(environment, night, zone)
    SlowLook.objects.update(taken_at=at)
    assert due_looks(at) == []
    assert [(pk, zone.key) for pk, _, zone in due_looks(at + timedelta(hours=4))] == [
        (pairs[0].environment_id, "America/New_York")
    ]


def test_the_tick_lets_a_worker_take_what_is_due_until_somebody_does(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = make_pair()
    sent: list[str] = []
    monkeypatch.setattr(looks, "send", sent.append)
    monkeypatch.setattr(looks, "SLOW_LOOK_HOUR", 0)
    monkeypatch.setattr(looks, "_PAUSE_SECONDS", 0.0)
    assert looks.send_due in ticking.STEPS
    assert looks.send_due() == 1
    assert sent == [take_slow_looks.name]
    ((_, night, _),) = due_looks(timezone.now())
    looks._claimed(pair.environment_id, night)
    assert looks.send_due() == 0
    SlowLook.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert looks.send_due() == 1


def test_what_is_due_is_taken_at_once_for_every_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = make_pair(), make_pair(environment="other")
    monkeypatch.setattr(looks, "SLOW_LOOK_HOUR", 0)
    assert take_due_looks() == 2
    assert take_due_looks() == 0
    assert set(SlowLook.objects.values_list("environment", flat=True)) == {one.environment_id, other.environment_id}


def test_a_look_asks_one_query_for_all_series_of_some_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = make_pair()
    write_nights(pair, *[noisy([LEVEL] * NIGHTS, seed) for seed in range(20)])
    monkeypatch.setattr(nights, "_PAIRS_AT_ONCE", 10)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert list(map(len, nights.batches([pair.pk], LAST, ZONE))) == [20]
    assert len(asked) == 1


def tell_by_alert(series: Series, since: date, until: date | None = None) -> Alert:
    """Let an alert have told that a series is worse since a night."""
    alert = make_alert(pair=series.pair)
    Alert.objects.filter(pk=alert.pk).update(kind=Alert.Kind.CHANGE, code="change", opened_at=timezone.now())

    def run_of(night: date) -> Run:
        return series.pair.runs.get(started_at=datetime.combine(night, time(2), UTC))

    AlertSeries.objects.create(
        alert=alert,
        series=series,
        segment_key=f"{series.pk}:{since}",
        before=LEVEL,
        after=0.9 * LEVEL,
        first_bad_run=run_of(since),
        recovered_run=run_of(until) if until else None,
    )
    return alert
