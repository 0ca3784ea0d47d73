"""The history's charts: medians with their spread, gaps, nested percentiles, loss, flags, ceilings."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import translation
from pytest_django import DjangoAssertNumQueries

from benchweb.annotations.services import annotation_create
from benchweb.catalog import catalog
from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.charts.history.charts import DrawnHistory, history
from benchweb.charts.history.lines import DASHES, with_series
from benchweb.charts.history.points import history_points
from benchweb.charts.history.query import history_query
from benchweb.charts.lines import COLORS, marker_of
from benchweb.documents.charts import ChartBand, ChartSeries
from benchweb.hosts.models import Facts, Pair
from benchweb.hosts.services import archive
from benchweb.results import run_summaries as recents
from benchweb.results.models import RunFigure, Series
from benchweb.runs.models import Run, State
from benchweb.schedules.models import Slot
from tests.charts.history_rows import DAY, NIGHT, past_run
from tests.charts.rows import as_read
from tests.factories import make_endpoint, make_pair, make_plan, make_schedule

pytestmark = pytest.mark.django_db
NOW = NIGHT + timedelta(days=60)
HALF_AN_HOUR = timedelta(minutes=30)
STREAM = [{"kind": "tcp_stream", "params": {"message_size_bytes": 64}}]
UDP = [{"kind": "udp_stream", "params": {"message_size_bytes": 64}}]
RR = [{"kind": "tcp_rr", "params": {"request_size_bytes": 1}}]


def look(**values: str) -> DrawnHistory:
    """Draw what a query string asks for."""
    query = history_query(values, now=NOW)
    found = history(query, catalog().kinds[values.get("kind", "tcp_stream")])
    return replace(found, charts=[as_read(chart) for chart in found.charts])


def only(found: DrawnHistory) -> ChartSeries:
    """Return the only line of the only chart."""
    (chart,) = found.charts
    (line,) = chart.series
    return line


def throughput(*values: float) -> list[dict[str, float]]:
    return [{"throughput_bps": value} for value in values]


def _databases() -> Pair:
    source, sink = (make_endpoint(host_name=name) for name in ("db1", "db2"))
    return make_pair(source=source, sink=sink)


def test_pairs_that_read_alike_are_told_apart_by_their_numbers() -> None:
    plan, old = make_plan(steps=STREAM), _databases()
    past_run(plan, old, NIGHT, *throughput(1e9))
    for end in (old.source, old.sink):
        archive(row=end.host)
    new = _databases()
    past_run(plan, new, NIGHT + DAY, *throughput(2e9))
    (chart,) = look().charts
    names = [line.label.partition(" · ")[0] for line in chart.series]
    assert names == [f"{pair} (pair {pair.pk})" for pair in (old, new)]


def test_a_point_is_the_median_of_a_run_with_the_spread_of_its_repetitions() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    run = past_run(plan, pair, NIGHT, *throughput(3e9, 1e9, 2e9, 10e9))
    line = only(look())
    (point,) = line.points
    assert (point.y, point.low, point.high, point.n) == (2.5e9, 1e9, 10e9, 4)
    assert (point.x, point.href) == ("2026-03-01T02:00:01.000000Z", f"/runs/{run.pk}")
    # It has the points' own extremes for borders, and the table its points for rows: nothing is sent twice.
    assert line.bands == [ChartBand("lowest to highest")]
    assert look().charts[0].table.rows is None


def test_a_missed_night_breaks_the_line() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    for night in (0, 1, 2, 4, 5):
        past_run(plan, pair, NIGHT + night * DAY, *throughput(1e9))
    line = only(look())
    assert [point.y for point in line.points] == [1e9, 1e9, 1e9, None, 1e9, 1e9]
    assert line.points[3].reason == "nothing measured in this time range"
    assert [point.low for point in line.points] == [1e9, 1e9, 1e9, None, 1e9, 1e9]


def test_nights_without_a_break_are_joined_though_their_times_differ_a_little() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    for night in range(6):
        past_run(plan, pair, NIGHT + night * DAY + timedelta(minutes=7 * (night % 3)), *throughput(1e9))
    assert None not in [point.y for point in only(look()).points]


def test_what_is_measured_now_and_then_is_joined_until_it_stops_for_long() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    for hour in (0, 1, 5, 7, 14, 15, 26, 40):
        past_run(plan, pair, NIGHT + timedelta(hours=hour), *throughput(1e9))
    assert None not in [point.y for point in only(look()).points]
    past_run(plan, pair, NIGHT + timedelta(hours=400), *throughput(1e9))
    assert [point.y for point in only(look()).points] == [1e9] * 8 + [None, 1e9]


def test_a_failed_run_is_a_gap_with_its_reason_and_a_link() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    past_run(plan, pair, NIGHT, *throughput(1e9))
    failed = past_run(plan, pair, NIGHT + DAY, state=State.FAILED, reason="no route to host")
    past_run(plan, pair, NIGHT + 2 * DAY, *throughput(1e9))
    points = only(look()).points
    assert [point.y for point in points] == [1e9, None, 1e9]
    assert points[1].reason == f"run {failed.pk} failed: no route to host"
    assert points[1].href == f"/runs/{failed.pk}"


def test_a_gap_stays_when_one_looks_closer_though_its_run_waited_for_its_turn() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    past_run(plan, pair, NIGHT, *throughput(1e9))
    failed = past_run(plan, pair, NIGHT + HALF_AN_HOUR, state=State.FAILED, reason="no route")
    past_run(plan, pair, NIGHT + 2 * HALF_AN_HOUR, *throughput(2e9))
    # Launched together with others, hours before.
    Run.objects.filter(pk=failed.pk).update(created_at=NIGHT - 5 * HALF_AN_HOUR)
    line = only(look(**{"from": NIGHT.isoformat(), "to": (NIGHT + DAY).isoformat()}))
    assert [point.y for point in line.points] == [1e9, None, 2e9]
    later = only(look(**{"from": (NIGHT + 1.5 * HALF_AN_HOUR).isoformat(), "to": (NIGHT + DAY).isoformat()}))
    assert [point.y for point in later.points] == [2e9]


def test_why_there_is_a_gap_is_said_in_the_readers_language() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    past_run(plan, pair, NIGHT, *throughput(1e9))
    failed = past_run(plan, pair, NIGHT + DAY, state=State.FAILED)
    why = reason_fields("reason", Reason("trials_failed", failed=1, total=12))
    Run.objects.filter(pk=failed.pk).update(**why)
    mine = make_schedule(plan=plan, target={"pairs": [pair.pk]})
    reason = reason_fields("reason", Reason("queued_behind_others", source="a", sink="b"))
    Slot.objects.create(schedule=mine, at=NIGHT + 2 * DAY, state="missed", claimed_at=NIGHT, **reason)
    with translation.override("zh-hans"):
        reasons = [point.reason for point in only(look()).points]
    assert reasons[1] == f"运行 {failed.pk} 失败：12 个测试项中 1 个失败"
    assert reasons[2] == "执行已错过：在主机 a 和主机 b 的队列中有其他运行在前"


def test_a_failed_run_that_measured_something_else_is_no_gap() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    past_run(plan, pair, NIGHT, *throughput(1e9))
    past_run(make_plan(steps=RR), pair, NIGHT + DAY / 2, state=State.FAILED, reason="no route to host")
    past_run(plan, pair, NIGHT + DAY, *throughput(1e9))
    assert [point.y for point in only(look()).points] == [1e9, 1e9]


def test_a_run_that_failed_in_part_keeps_what_it_measured() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    past_run(plan, pair, NIGHT, *throughput(1e9), state=State.FAILED, reason="1 of 2 trials failed")
    assert [point.y for point in only(look()).points] == [1e9]


def test_a_missed_slot_of_the_pair_is_a_gap_and_another_pairs_is_not() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    past_run(plan, pair, NIGHT, *throughput(1e9))
    past_run(plan, pair, NIGHT + 2 * DAY, *throughput(1e9))
    mine = make_schedule(plan=plan, target={"pairs": [pair.pk]})
    other = make_schedule(plan=plan)
    Slot.objects.create(schedule=mine, at=NIGHT + DAY, state="missed", reason="no worker ran", claimed_at=NIGHT)
    Slot.objects.create(schedule=other, at=NIGHT + DAY / 2, state="missed", claimed_at=NIGHT)
    points = only(look()).points
    assert [point.y for point in points] == [1e9, None, 1e9]
    assert points[1].reason == "slot missed: no worker ran"


def test_a_line_of_many_runs_is_combined_by_time_and_keeps_its_extremes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchweb.charts.history.points.MOST_OF_A_LINE", 8)
    monkeypatch.setattr("benchweb.charts.history.points._LEAST_OF_A_LINE", 8)
    pair, plan = make_pair(), make_plan(steps=STREAM)
    for hour in range(0, 96, 8):
        past_run(plan, pair, NIGHT + timedelta(hours=hour), *throughput(hour * 1e9, 200e9))
    found = look()
    assert found.step == "day"
    points = only(found).points
    # Each day's runs have medians of (hour + 200) / 2 at 2, 10 and 18 o'clock: the middle one is the day's.
    assert [point.y for point in points] == [104e9, 116e9, 128e9, 140e9]
    assert [(point.low, point.high, point.n) for point in points[:2]] == [(0, 200e9, 6), (24e9, 200e9, 6)]
    finer = look(**{"from": "2026-03-01T00:00Z", "to": "2026-03-02T00:00Z"})
    assert finer.step == "run"
    assert len(only(finer).points) == 3


def test_a_week_whose_first_nights_failed_is_no_gap_and_a_week_without_any_result_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("benchweb.charts.history.points.MOST_OF_A_LINE", 20)
    monkeypatch.setattr("benchweb.charts.history.points._LEAST_OF_A_LINE", 20)
    pair, plan = make_pair(), make_plan(steps=STREAM)
    monday = NIGHT + (7 - NIGHT.weekday()) * DAY
    # Of the fourth week only the last night has a result, of the sixth none.
    for night in range(7 * 7):
        at, week = monday + night * DAY, night // 7
        if (week == 3 and night % 7 < 6) or week == 5:
            past_run(plan, pair, at, state=State.FAILED, reason="no route")
        else:
            past_run(plan, pair, at, *throughput(1e9))
    found = look(over="all")
    assert found.step == "week"
    points = only(found).points
    gaps = [datetime.fromisoformat(str(point.x)) for point in points if point.y is None]
    assert gaps
    assert all(monday + 35 * DAY <= at < monday + 42 * DAY for at in gaps)
    assert len(points) - len(gaps) == 6


def test_runs_without_a_result_are_counted_where_points_stand_for_several(monkeypatch: pytest.MonkeyPatch) -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    for hour in range(0, 96, 8):
        past_run(plan, pair, NIGHT + timedelta(hours=hour), *throughput(1e9))
    past_run(plan, make_pair(), NIGHT + HALF_AN_HOUR, state=State.FAILED, reason="no route")
    told = "incomplete."
    for hours, words in ((1, "1 run or slot in this time range is"), (9, "2 runs or slots in this time range are")):
        past_run(plan, pair, NIGHT + timedelta(hours=hours), state=State.FAILED, reason="no route")
        with monkeypatch.context() as few:
            few.setattr("benchweb.charts.history.points.MOST_OF_A_LINE", 8)
            few.setattr("benchweb.charts.history.points._LEAST_OF_A_LINE", 8)
            found = look()
            assert (found.step, None in [point.y for point in only(found).points]) == ("day", False)
            assert found.charts[0].subtitle.endswith(f". {words} {told}")
    # Where each run is a point each of them is a gap of its own.
    assert told not in look().charts[0].subtitle
    assert [point.y for point in only(look()).points].count(None) == 2


def test_a_metric_of_a_kind_without_loss_or_ceilings_is_drawn() -> None:
    pair, plan = make_pair(), make_plan(steps=RR)
    past_run(plan, pair, NIGHT, {"transactions_per_second": 20_000})
    found = look(kind="tcp_rr", metric="transactions_per_second")
    assert [point.y for point in only(found).points] == [20_000]
    assert found.charts[0].strip is None


@pytest.mark.parametrize(("language", "label"), [("en", "p50 to p90"), ("zh-hans", "p50 至 p90")])
def test_the_columns_of_percentiles_are_called_alike_in_every_language(language: str, label: str) -> None:
    past_run(make_plan(steps=RR), make_pair(), NIGHT, {f"latency_{name}_seconds": 1 for name in ("p50", "p90", "p99")})
    with translation.override(language):
        chart = look(kind="tcp_rr", metric="latency").charts[0]
    assert [(band.key, band.label) for band in chart.series[0].bands][-1] == ("p50 to p90", label)
    keys = [column["key"] for column in chart.table.columns]
    assert keys[7:-1] == ["p50 to p99 low", "p50 to p99 high", "p50 to p90 low", "p50 to p90 high"]


def test_percentiles_are_nested_around_the_median() -> None:
    pair, plan = make_pair(), make_plan(steps=RR)
    names = ("min", "p50", "p90", "p99", "p999", "max")
    past_run(plan, pair, NIGHT, {f"latency_{name}_seconds": place for place, name in enumerate(names, start=1)})
    line = only(look(kind="tcp_rr", metric="latency"))
    assert [point.y for point in line.points] == [2]
    borders = [(band.label, band.low, band.high) for band in line.bands]
    assert borders == [
        ("min to max", [1], [6]),
        ("p50 to p99.9", [2], [5]),
        ("p50 to p99", [2], [4]),
        ("p50 to p90", [2], [3]),
    ]
    keys = [column["key"] for column in look(kind="tcp_rr", metric="latency").charts[0].table.columns]
    borders_of = [f"{label} {border}" for label, _, _ in borders for border in ("low", "high")]
    assert keys == ["series", "x", "n", "median", "low", "high", "spread", *borders_of, "reason"]


@pytest.mark.parametrize(("language", "label"), [("en", "Loss"), ("zh-hans", "丢包率")])
def test_loss_is_on_a_strip_of_its_own_in_every_language(language: str, label: str) -> None:
    pair, plan = make_pair(), make_plan(steps=UDP)
    past_run(plan, pair, NIGHT, *({"throughput_bps": 1e9, "loss_ratio": loss} for loss in (0, 0.02)))
    with translation.override(language):
        (chart,) = look(kind="udp_stream").charts
    assert chart.strip is not None
    assert (chart.strip.y.unit, [point.y for point in chart.strip.series[0].points]) == ("ratio", [0.02])
    assert chart.strip.series[0].color == chart.series[0].color
    # The browser finds a line's strip by it, and puts it into the table's column.
    assert chart.strip.series[0].of == chart.series[0].id
    assert chart.table.columns[-2] == {"key": "strip", "label": label, "unit": "ratio"}


def ceilings(*pairs_of_nights: tuple[Pair, dict[int, float]]) -> list[tuple[str, float, str, str]]:
    """Measure a ceiling on each night of each pair, and give the chart's lines."""
    plan = make_plan(steps=STREAM)
    for pair, of_night in pairs_of_nights:
        for night, value in of_night.items():
            past_run(plan, pair, NIGHT + night * DAY, {"throughput_bps": 1e9, "payload_ceiling_bps": value})
    (chart,) = look().charts
    return [(line.label, line.y, line.since[:10], line.until[:10]) for line in chart.lines]


def test_a_ceiling_that_is_the_same_is_a_line_across() -> None:
    assert ceilings((make_pair(), {0: 9.4e9, 1: 9.4e9})) == [("Payload ceiling of the link", 9.4e9, "", "")]


def test_a_ceiling_that_changed_is_drawn_when_it_held() -> None:
    found = ceilings((make_pair(), {0: 9.4e9, 1: 9.4e9, 2: 9.9e9, 3: 9.4e9}))
    assert [line[1:] for line in found] == [
        (9.4e9, "", "2026-03-03"),
        (9.9e9, "2026-03-03", "2026-03-04"),
        (9.4e9, "2026-03-04", ""),
    ]


def test_a_ceiling_of_several_lines_is_drawn_when_any_had_it() -> None:
    found = ceilings(
        (make_pair(), {0: 9.4e9, 1: 9.9e9}), (make_pair(), {0: 9.4e9, 2: 9.9e9}), (make_pair(), {0: 9.4e9})
    )
    assert found == [
        ("Payload ceiling of the link (2 of 3 lines)", 9.4e9, "", "2026-03-03"),
        ("Payload ceiling of the link (2 of 3 lines)", 9.9e9, "2026-03-02", ""),
        ("Payload ceiling of the link (1 of 3 lines)", 9.4e9, "", ""),
    ]


def facts(pair: Pair, kernel: str, first: int, last: int, **interface: Any) -> None:
    """Keep facts of the pair's source for some nights."""
    document = {"kernel": kernel, "interfaces": [{"name": "eth0", "addresses": ["127.0.0.1"], **interface}]}
    Facts.objects.create(
        endpoint=pair.source,
        digest=f"{kernel}{interface}",
        document=document,
        first_seen_at=NIGHT + first * DAY,
        last_seen_at=NIGHT + last * DAY,
    )


def test_a_new_kernel_and_mtu_are_flagged_and_the_link_rate_is_a_line() -> None:
    pair = make_pair(source=make_endpoint(host_name="alder"))
    past_run(make_plan(steps=STREAM), pair, NIGHT + DAY, *throughput(1e9))
    facts(pair, "6.1", 0, 2, mtu=1500, speed_bps=10e9)
    facts(pair, "6.8", 3, 5, mtu=9000, speed_bps=10e9)
    found = look()
    (chart,) = found.charts
    (mark,) = chart.marks
    assert (mark.at, mark.kind) == ("2026-03-04T02:00:00.000000Z", "fact")
    assert mark.label == "alder: kernel 6.1 → 6.8; MTU 1500 B → 9000 B on eth0"
    assert [(line.label, line.y) for line in chart.lines] == [("Link rate", 10e9)]


def test_a_link_that_became_faster_is_a_line_for_each_time() -> None:
    pair = make_pair()
    for night in (1, 4):
        past_run(make_plan(steps=STREAM), pair, NIGHT + night * DAY, *throughput(1e9))
    facts(pair, "6.1", 0, 2, speed_bps=10e9)
    facts(pair, "6.1", 3, 5, speed_bps=25e9)
    (chart,) = look().charts
    assert [(line.y, line.since[:10], line.until[:10]) for line in chart.lines] == [
        (10e9, "", "2026-03-04"),
        (25e9, "2026-03-04", ""),
    ]


def test_notes_are_flagged_on_the_charts_that_they_are_about() -> None:
    plan, pair, other = make_plan(steps=STREAM), make_pair(environment="here"), make_pair(environment="there")
    for each in (pair, other):
        past_run(plan, each, NIGHT, *throughput(1e9))
    annotation_create(text="moved to another rack", at=NIGHT, host=pair.source.host)
    annotation_create(text="power cut", at=NIGHT, until=NIGHT + DAY)
    here, there = look(split="environment").charts
    assert [mark.label for mark in here.marks] == ["moved to another rack", "power cut"]
    assert [mark.label for mark in there.marks] == ["power cut"]
    assert (here.scale_group, here.scale_group) == ("history", there.scale_group)


@pytest.mark.parametrize("split", ["pair", "host", "environment"])
def test_a_small_multiple_keeps_its_id_whatever_is_shown_beside_it(split: str) -> None:
    plan = make_plan(steps=STREAM)
    pairs = [make_pair(environment=name) for name in ("b", "c")]
    for pair in pairs:
        past_run(plan, pair, NIGHT, *throughput(1e9))
    before = {chart.title: chart.id for chart in look(split=split).charts}
    past_run(plan, make_pair(environment="a"), NIGHT, *throughput(1e9))
    after = {chart.title: chart.id for chart in look(split=split).charts}
    assert len(set(after.values())) == 3
    assert before.items() <= after.items()


def test_a_series_keeps_its_colour_whatever_is_shown_beside_it() -> None:
    plan, pairs = make_plan(steps=STREAM), [make_pair() for _ in range(3)]
    for pair in pairs:
        past_run(plan, pair, NIGHT, *throughput(1e9))
    (chart,) = look().charts
    all_colors = [line.color for line in chart.series]
    assert len(set(all_colors)) == 3
    assert only(look(pair=str(pairs[2].pk))).color == all_colors[2]


def test_two_lines_of_a_colour_differ_in_dash_and_marker() -> None:
    plan, pairs = make_plan(steps=STREAM), [make_pair() for _ in range(9)]
    for pair in pairs:
        past_run(plan, pair, NIGHT, *throughput(1e9))
    (chart,) = look().charts
    first, ninth = chart.series[0], chart.series[8]
    assert first.color == ninth.color
    assert (first.dash, first.marker) == ("solid", "circle")
    assert (ninth.dash, ninth.marker) == ("dashed", "rect")
    alone = only(look(pair=str(pairs[8].pk)))
    assert (alone.color, alone.dash, alone.marker) == (ninth.color, ninth.dash, ninth.marker)
    cues = {(place % COLORS, marker_of(place), place // COLORS % len(DASHES)) for place in range(160)}
    assert len(cues) == 160
    # Told apart without colours too: no two neighbours of a chart have one marker.
    assert all(marker_of(place) != marker_of(place + 1) for place in range(160))


def test_a_series_is_found_by_its_id_alone() -> None:
    plan, pair = make_plan(steps=UDP), make_pair()
    for each in (make_pair(), pair):
        past_run(plan, each, NIGHT, {"throughput_bps": 1e9, "jitter_seconds": 1e-6})
    jitter = Series.objects.get(pair=pair, metric="jitter_seconds")
    query = with_series(history_query({"series": str(jitter.pk)}, now=NOW))
    assert (query.kind, query.metric) == ("udp_stream", "jitter_seconds")
    assert only(history(query, catalog().kinds["udp_stream"])).id == f"series-{jitter.pk}"


def test_lines_are_named_by_what_sets_them_apart() -> None:
    pair = make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    for size in (64, 1024):
        steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": size}}]
        past_run(make_plan(steps=steps), pair, NIGHT, *throughput(1e9))
    (chart,) = look().charts
    assert [line.label for line in chart.series] == ["Message size 64 B", "Message size 1 KiB"]
    assert "alder (host) → birch (host)" in chart.subtitle
    assert [line.label for line in look(**{"p.message_size_bytes": "1024"}).charts[0].series] == [str(pair)]


def test_a_plan_shows_only_what_its_own_runs_measured() -> None:
    pair, mine, other = make_pair(), make_plan(steps=STREAM), make_plan(steps=STREAM)
    past_run(mine, pair, NIGHT, *throughput(1e9))
    past_run(other, pair, NIGHT + DAY, *throughput(2e9))
    assert [point.y for point in only(look(plan=str(mine.pk))).points] == [1e9]


def test_a_look_costs_the_same_queries_for_one_line_as_for_many(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    plan = make_plan(steps=UDP)
    for _ in range(15):
        pair = make_pair()
        past_run(plan, pair, NIGHT, {"throughput_bps": 1e9, "loss_ratio": 0.0})
        past_run(plan, pair, NIGHT + DAY, state=State.FAILED)
    assert Run.objects.count() == 30
    with django_assert_max_num_queries(7):
        found = look(kind="udp_stream")
    assert (found.total, len(found.lines)) == (15, 12)


@pytest.mark.parametrize(
    "values",
    [
        {"from": "yesterday", "to": "0001-01-01"},
        {"from": "2026-03-02T00:00Z", "to": "2026-03-01T00:00Z"},
        {"pair": "9" * 30, "host": "-1", "plan": "x", "over": "for ever", "split": "weather", "view": "smell"},
        {"p.message_size_bytes": '{"a":', "p.nothing": "1"},
    ],
)
def test_an_address_that_makes_no_sense_still_shows_a_page(values: dict[str, str]) -> None:
    query = history_query(values, now=NOW)
    assert (query.view, query.split, query.is_zoomed) == ("time", "", False)
    assert history(query, catalog().kinds["tcp_stream"]).charts == []


def test_a_run_looks_the_same_before_and_after_it_is_summed_up_and_one_that_is_not_over_is_not_drawn() -> None:
    pair, plan, other = make_pair(), make_plan(steps=STREAM), make_plan(steps=STREAM, name="other")
    for night in range(4):
        past_run(other if night == 2 else plan, pair, NIGHT + night * DAY, *throughput(3e9, 1e9 * night, 2e9))
    past_run(plan, pair, NIGHT + 4 * DAY, *throughput(5e9, 6e9), state=State.RUNNING)
    window = {"from": f"{NIGHT - DAY:%Y-%m-%d}", "to": f"{NIGHT + 9 * DAY:%Y-%m-%d}"}
    asked: list[dict[str, str]] = [{}, {"plan": str(plan.pk)}, window]
    before = [look(**values).charts for values in asked]
    assert [sum(point.y is not None for point in chart.series[0].points) for (chart,) in before] == [4, 3, 4]
    while recents.sum_up():
        pass
    assert RunFigure.objects.values("run").distinct().count() == 4
    assert [look(**values).charts for values in asked] == before


def test_a_run_belongs_to_the_time_when_it_began_to_measure() -> None:
    pair, plan = make_pair(), make_plan(steps=STREAM)
    run = past_run(plan, pair, NIGHT, *throughput(1e9, 2e9, 6e9))
    series = Series.objects.get(metric="throughput_bps")
    first = NIGHT + timedelta(seconds=1)

    def figures(begin: timedelta, end: timedelta) -> list[tuple[int | None, int, float]]:
        shown = (first + begin, first + end)
        found = history_points([series.pk], pairs=[pair.pk], period=shown, zone=UTC)
        return [(run, n, median) for _at, median, n, _low, _high, run in found.series[series.pk]]

    second = timedelta(seconds=1)
    looks = [(-second, second), (timedelta(), timedelta()), (second, 9 * second), (-9 * second, -second)]
    expected = [[(run.pk, 3, 2e9)], [(run.pk, 3, 2e9)], [], []]
    assert [figures(*look) for look in looks] == expected
    recents.sum_up()
    assert [figures(*look) for look in looks] == expected


def test_days_begin_at_the_readers_midnight_when_clocks_change_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchweb.charts.history.points.MOST_OF_A_LINE", 3)
    monkeypatch.setattr("benchweb.charts.history.points._LEAST_OF_A_LINE", 3)
    pair, plan = make_pair(), make_plan(steps=STREAM)
    # In Berlin half an hour before and after midnight; 29 March has 23 hours.
    midnights = [datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 29, 22, tzinfo=UTC)]
    times = [midnight + minutes for midnight in midnights for minutes in (-HALF_AN_HOUR, HALF_AN_HOUR)]
    runs = [past_run(plan, pair, at, *throughput(1e9)) for at in times]
    series = Series.objects.get(metric="throughput_bps")
    shown = (times[0] - DAY, times[-1] + DAY)
    found = history_points([series.pk], pairs=[pair.pk], period=shown, zone=ZoneInfo("Europe/Berlin"))
    assert found.step == "day"
    assert [(run, n) for _at, _median, n, _low, _high, run in found.series[series.pk]] == [
        (runs[0].pk, 1),
        (runs[1].pk, 2),
        (runs[3].pk, 1),
    ]


def test_a_link_rate_that_was_entered_is_a_line_where_the_kernel_tells_none() -> None:
    pair = make_pair(source=make_endpoint(host_name="alder", link_bps=5e9), sink=make_endpoint(link_bps=1e9))
    past_run(make_plan(steps=STREAM), pair, NIGHT + DAY, *throughput(1e9))
    facts(pair, "6.1", 0, 2, speed_bps=10e9)
    (chart,) = look().charts
    assert [(line.label, line.y) for line in chart.lines] == [("Link rate", 10e9), ("Link rate, as entered", 1e9)]
