"""The heat map of latencies and the figures by message size."""

import base64
from datetime import timedelta

import pytest
from hdrh.histogram import HdrHistogram

from benchweb.catalog import catalog
from benchweb.charts.history.heat.maps import heat_maps
from benchweb.charts.history.lines import chosen_lines, selection_of
from benchweb.charts.history.query import HistoryQuery, history_query
from benchweb.charts.sizes.charts import Sizes, size_charts
from benchweb.documents.charts import ChartSpec
from benchweb.hosts.models import Pair
from benchweb.hosts.services import pair_create
from benchweb.runs.models import State
from tests.charts.history_rows import DAY, NIGHT, past_run
from tests.factories import make_pair, make_plan

pytestmark = pytest.mark.django_db
NOW = NIGHT + timedelta(days=60)
RR = [{"kind": "tcp_rr", "params": {"request_size_bytes": 1}}]


def asked(**values: str) -> HistoryQuery:
    return history_query(values, now=NOW)


def histogram(*microseconds: int) -> bytes:
    """Encode latencies as an engine does."""
    made = HdrHistogram(1, 60_000_000_000, 3)
    for value in microseconds:
        made.record_value(value * 1_000)
    return base64.b64decode(made.encode())


def maps(query: HistoryQuery) -> list[ChartSpec]:
    latency = selection_of(catalog().kinds["tcp_rr"], "latency")
    return heat_maps(query, latency, chosen_lines(query, latency).lines)


def test_a_column_of_the_heat_map_holds_the_shares_of_a_runs_latencies() -> None:
    pair, plan = make_pair(), make_plan(steps=RR)
    past_run(plan, pair, NIGHT, {"latency_p50_seconds": 1e-4}, histogram=histogram(100, 100, 100, 400))
    past_run(plan, pair, NIGHT + DAY, {"latency_p50_seconds": 2e-4}, histogram=histogram(200))
    (chart,) = maps(asked())
    heat = chart.heat
    assert heat is not None
    assert (len(heat.starts), [sum(column) for column in heat.shares]) == (2, [1, 1])

    def share(column: int, seconds: float) -> float:
        row = next(place for place, edge in enumerate(heat.edges[1:]) if seconds < edge)
        return heat.shares[column][row]

    assert (share(0, 100e-6), share(0, 400e-6), share(0, 200e-6), share(1, 200e-6)) == (0.75, 0.25, 0, 1)
    assert [point.y for point in chart.series[0].points] == [1e-4, 2e-4]


def test_a_column_is_the_repetition_with_the_middle_median_and_so_agrees_with_the_history() -> None:
    medians = (1e-4, 9e-4, 2e-4, 1.5e-4, 3e-4)
    repetitions = [{"latency_p50_seconds": seconds} for seconds in medians]
    past_run(make_plan(steps=RR), make_pair(), NIGHT, *repetitions, histogram=histogram(100))
    (chart,) = maps(asked())
    assert [point.y for point in chart.series[0].points] == [2e-4]


def test_the_table_of_the_heat_map_counts_latencies() -> None:
    pair, plan = make_pair(), make_plan(steps=RR)
    past_run(plan, pair, NIGHT, {"latency_p50_seconds": 1e-4}, histogram=histogram(100, 400))
    (chart,) = maps(asked())
    assert chart.table.rows is not None
    (row,) = chart.table.rows
    assert row["n"] == 2
    assert sorted(value for key, value in row.items() if key.startswith("bin-") and value) == [0.5, 0.5]


def test_maps_of_one_page_have_one_scale() -> None:
    plan = make_plan(steps=RR)
    past_run(plan, make_pair(), NIGHT, {"latency_p50_seconds": 1e-4}, histogram=histogram(100, 100, 200, 400))
    past_run(
        plan, make_pair(), NIGHT, {"latency_p50_seconds": 1e-2}, histogram=histogram(10_000, 10_000, 10_000, 20_000)
    )
    first, second = [chart.heat for chart in maps(asked())]
    assert first is not None
    assert second is not None
    assert first.edges == second.edges
    assert first.edges[0] <= 100e-6 < 20e-3 < first.edges[-1]
    assert (first.most, second.most) == (0.75, 0.75)
    assert max(map(max, first.shares)) == 0.5


def test_maps_of_one_page_have_one_time_on_their_axes() -> None:
    plan = make_plan(steps=RR)
    for pair, night in ((make_pair(), 0), (make_pair(), 2)):
        past_run(plan, pair, NIGHT + night * DAY, {"latency_p50_seconds": 1e-4}, histogram=histogram(100))
    axes = {(chart.x_from, chart.x_to) for chart in maps(asked(over="all"))}
    # From the first column to the end of the last, a fiftieth of that beside it.
    assert axes == {("2026-03-01T01:02:23.800000Z", "2026-03-03T02:58:38.200000Z")}


def test_no_column_reaches_into_what_is_to_come() -> None:
    pair, plan = make_pair(), make_plan(steps=RR)
    past_run(plan, pair, NIGHT, {"latency_p50_seconds": 1e-4}, histogram=histogram(100))

    def last_end(minutes: int) -> str:
        (chart,) = maps(history_query({"kind": "tcp_rr"}, now=NIGHT + timedelta(minutes=minutes)))
        assert chart.heat is not None
        return chart.heat.ends[-1]

    # The only column takes a minute.
    assert last_end(90) == "2026-03-01T02:01:01.000000Z"
    for night in range(1, 5):
        past_run(plan, pair, NIGHT + night * DAY, {"latency_p50_seconds": 1e-4}, histogram=histogram(100))
    # Of a rhythm it takes as long as usual, but full minutes are looked at.
    assert last_end(4 * 24 * 60 + 5) == "2026-03-05T02:06:00.000000Z"


def test_two_columns_are_not_stretched_over_a_day_in_which_nothing_was_measured() -> None:
    pair, plan = make_pair(), make_plan(steps=RR)
    for night in (0, 1):
        past_run(plan, pair, NIGHT + night * DAY, {"latency_p50_seconds": 1e-4}, histogram=histogram(100))
    (chart,) = maps(asked())
    assert chart.heat is not None
    assert chart.heat.ends == ["2026-03-01T02:01:01.000000Z", "2026-03-02T02:01:01.000000Z"]
    # Nor is a night said to be missing.
    assert [point.y for point in chart.series[0].points] == [1e-4, 1e-4]


def test_a_missed_night_is_a_gap_between_columns() -> None:
    pair, plan = make_pair(), make_plan(steps=RR)
    for night in (0, 1, 2, 5, 6):
        past_run(plan, pair, NIGHT + night * DAY, {"latency_p50_seconds": 1e-4}, histogram=histogram(100))
    (chart,) = maps(asked())
    assert chart.heat is not None
    assert chart.heat.ends[2] == "2026-03-04T02:00:01.000000Z"
    assert chart.heat.starts[3] == "2026-03-06T02:00:01.000000Z"
    assert [point.y for point in chart.series[0].points] == [1e-4, 1e-4, 1e-4, None, 1e-4, 1e-4]


def test_runs_that_gave_nothing_break_the_line_of_medians_also_behind_the_last_column() -> None:
    pair, plan = make_pair(), make_plan(steps=RR)
    for night in (0, 1, 2, 5, 6):
        past_run(plan, pair, NIGHT + night * DAY, {"latency_p50_seconds": 1e-4}, histogram=histogram(100))
    for night in (3, 4, 7):
        past_run(plan, pair, NIGHT + night * DAY, state=State.NONSTART, reason="the sink was busy")
    (chart,) = maps(asked())
    points = chart.series[0].points
    assert [point.y for point in points] == [1e-4] * 3 + [None] * 2 + [1e-4] * 2 + [None]
    missing = [point for point in points if point.y is None]
    assert [str(point.x)[:10] for point in missing] == ["2026-03-04", "2026-03-05", "2026-03-08"]
    assert all("the sink was busy" in point.reason and point.href.startswith("/runs/") for point in missing)
    assert chart.x_to > str(missing[-1].x)


def test_a_night_that_is_missing_among_runs_left_out_is_not_painted_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchweb.charts.history.heat.maps.MOST_HISTOGRAMS", 5)
    pair, plan = make_pair(), make_plan(steps=RR)
    # The sixth night has no run, and lies between two that are drawn with one between them that isn't.
    for night in (0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12):
        past_run(plan, pair, NIGHT + night * DAY, {"latency_p50_seconds": 1e-4}, histogram=histogram(100))
    (chart,) = maps(asked())
    assert chart.heat is not None
    assert [start[8:10] for start in chart.heat.starts] == ["01", "04", "07", "10", "12"]
    assert [end[8:10] for end in chart.heat.ends[:4]] == ["04", "06", "10", "12"]


def test_results_without_a_histogram_give_no_heat_map() -> None:
    past_run(make_plan(steps=RR), make_pair(), NIGHT, {"latency_p50_seconds": 1e-4})
    assert maps(asked()) == []


def test_of_many_runs_as_many_are_drawn_as_fit_evenly_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchweb.charts.history.heat.maps.MOST_HISTOGRAMS", 3)
    pair, plan = make_pair(), make_plan(steps=RR)
    for night in range(9):
        past_run(plan, pair, NIGHT + night * DAY, {"latency_p50_seconds": 1e-4}, histogram=histogram(100))
    (chart,) = maps(asked())
    assert chart.heat is not None
    assert [start[:10] for start in chart.heat.starts] == ["2026-03-01", "2026-03-04", "2026-03-07"]
    assert "3 of 9 runs" in chart.subtitle


def test_runs_that_are_not_drawn_are_no_gap_in_the_heat_map(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchweb.charts.history.heat.maps.MOST_HISTOGRAMS", 5)
    pair, plan = make_pair(), make_plan(steps=RR)
    for night in range(6):
        past_run(plan, pair, NIGHT + night * DAY, {"latency_p50_seconds": 1e-4}, histogram=histogram(100))
    (chart,) = maps(asked())
    assert chart.heat is not None
    assert [start[8:10] for start in chart.heat.starts] == ["01", "03", "04", "05", "06"]
    assert chart.heat.ends[0] == chart.heat.starts[1]
    assert [point.y for point in chart.series[0].points] == [1e-4] * 5


def measure(pair: Pair, night: int, **by_size: float) -> None:
    """Measure a throughput for each size on a night, in a run each."""
    for size, value in by_size.items():
        steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": int(size[1:])}}]
        metrics = {"throughput_bps": value, "packets_per_second": value / 8}
        past_run(make_plan(steps=steps), pair, NIGHT + night * DAY, metrics)


def sizes(**values: str) -> Sizes:
    return size_charts(asked(**values), catalog().kinds["tcp_stream"])


def lines(found: Sizes, chart: int = 0) -> dict[str, list[tuple[float | str, float | None]]]:
    return {line.label: [(point.x, point.y) for point in line.points] for line in found.charts[chart].series}


def test_environments_are_overlaid_by_message_size() -> None:
    measure(make_pair(environment="same zone"), 0, s64=1e9, s1024=2e9)
    measure(make_pair(environment="cross zone"), 0, s64=0.5e9, s1024=1e9)
    found = sizes()
    assert [chart.title for chart in found.charts] == ["Throughput by message size", "Packet rate by message size"]
    assert lines(found) == {
        "same zone (1 run)": [(64, 1e9), (1024, 2e9)],
        "cross zone (1 run)": [(64, 0.5e9), (1024, 1e9)],
    }
    assert lines(found, 1)["same zone (1 run)"] == [(64, 1e9 / 8), (1024, 2e9 / 8)]
    assert (found.charts[0].x.scale, found.charts[0].x.ticks) == ("log2", [64, 1024])


def test_a_line_says_of_how_many_runs_and_pairs_its_points_are() -> None:
    one = make_pair(environment="lab")
    other = pair_create(source=one.sink, sink=one.source, environment=one.environment)
    for pair, nights in ((one, (0, 1)), (other, (0,))):
        for night in nights:
            measure(pair, night, s64=1e9)
    assert list(lines(sizes())) == ["lab (3 runs, 2 pairs)"]
    measure(one, 2, s64=1e9, s1024=1e9)
    # Of a size that fewer than half of them measured is a line of its own.
    assert list(lines(sizes())) == ["lab (4 runs, 2 pairs)", "lab (1 run)"]
    measure(one, 3, s1024=1e9)
    assert list(lines(sizes())) == ["lab (up to 4 runs, 2 pairs)"]


def test_a_size_joins_the_runs_of_an_environment_to_their_median() -> None:
    pair = make_pair(environment="lab")
    for night, value in enumerate((1e9, 3e9, 7e9)):
        measure(pair, night, s64=value)
    (line,) = sizes().charts[0].series
    (point,) = line.points
    assert (point.y, point.low, point.high, point.n) == (3e9, 1e9, 7e9, 3)


def test_dates_are_overlaid_in_equal_spans() -> None:
    pair = make_pair()
    measure(pair, 0, s64=1e9)
    measure(pair, 45, s64=2e9)
    found = lines(sizes(overlay="date"))
    assert list(found.values()) == [[(64, 1e9)], [(64, 2e9)]]
    assert [label[:10] for label in found] == ["2026-03-01", "2026-04-07"]


def test_the_latest_runs_are_overlaid_or_those_that_are_named() -> None:
    pair = make_pair()
    plan = make_plan(steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": 64}}])
    runs = [past_run(plan, pair, NIGHT + night * DAY, {"throughput_bps": night + 1.0}) for night in range(10)]
    shown = lines(sizes(overlay="run"))
    assert list(shown.values()) == [[(64, value + 1.0)] for value in range(2, 10)]
    named = lines(sizes(overlay="run", runs=f"{runs[0].pk},{runs[3].pk}"))
    assert [label.split(",")[0] for label in named] == [f"run {runs[0].pk}", f"run {runs[3].pk}"]


def test_runs_of_several_pairs_name_theirs_and_each_its_repetitions() -> None:
    plan = make_plan(steps=[{"kind": "tcp_stream", "params": {"message_size_bytes": 64}}])
    first, second = make_pair(environment="lab"), make_pair()
    runs = [past_run(plan, pair, NIGHT, {"throughput_bps": 1.0}, {"throughput_bps": 2.0}) for pair in (first, second)]
    found = sizes(overlay="run", runs=f"{runs[1].pk}")
    (label,) = lines(found)
    assert label == f"run {runs[1].pk}, {second}, {NIGHT:%Y-%m-%d} (n=2)"
    named = lines(sizes(overlay="run", pair=str(first.pk)))
    assert list(named) == [f"run {runs[0].pk}, {NIGHT:%Y-%m-%d} (n=2)"]


def test_unlike_tests_are_never_one_point() -> None:
    pair = make_pair(environment="lab")
    for direction, value in (("forward", 1e9), ("reverse", 3e9)):
        for size in (64, 1024):
            steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": size, "direction": direction}}]
            past_run(make_plan(steps=steps), pair, NIGHT, {"throughput_bps": value})
    found = sizes()
    assert lines(found) == {
        "lab · Direction forward (1 run)": [(64, 1e9), (1024, 1e9)],
        "lab · Direction reverse (1 run)": [(64, 3e9), (1024, 3e9)],
    }
    first, second = found.charts[0].series
    assert first.color != second.color
    # What an address hides keeps its name, whatever is drawn beside it and in whatever language.
    number = pair.environment_id
    assert [first.id, second.id] == [f"throughput_bps/{number}", f"throughput_bps/{number}/direction=reverse"]


def test_the_axis_is_the_parameter_that_varies_and_what_is_common_is_said() -> None:
    pair = make_pair(environment="lab")
    for size, value in ((1, 9e4), (1024, 5e4)):
        steps = [{"kind": "tcp_rr", "params": {"request_size_bytes": 100, "response_size_bytes": size}}]
        past_run(make_plan(steps=steps), pair, NIGHT, {"transactions_per_second": value})
    found = size_charts(asked(), catalog().kinds["tcp_rr"])
    assert lines(found) == {"lab (1 run)": [(1, 9e4), (1024, 5e4)]}
    (chart,) = found.charts
    assert (chart.title, chart.x.label) == ("Transaction rate by response size", "Response size")
    assert "Request size 100 B" in chart.subtitle


def test_a_point_of_one_run_is_said_to_be_of_its_repetitions() -> None:
    measure(make_pair(), 0, s64=1e9)
    assert "median of the run's repetitions" in sizes(overlay="run").charts[0].subtitle
    assert "median of the runs' medians" in sizes().charts[0].subtitle
