"""Measures of several runs beside each other: which belong together, in which order, and what becomes of each."""

from benchweb.charts.comparison.charts import DrawnRun, comparison_charts
from benchweb.charts.comparison.rows import RunsComparison, compare_runs, left_the_catalog, narrowed
from benchweb.results.selectors import TrialRow
from benchweb.statistics import Verdict
from tests.charts.rows import places, stream, trial


def around(value: float) -> list[float]:
    return [value * (1 + place / 1000) for place in range(-2, 3)]


def measures(found: RunsComparison) -> list[tuple[object, str]]:
    return [(row.measure.params.get("message_size_bytes"), row.entries[1].change) for row in found.rows]


def with_metric(metric: str, values: list[float], kind: str = "tcp_stream", **params: object) -> list[TrialRow]:
    return [trial(kind, metrics={metric: value}, **params) for value in values]


def drawn(*runs: list[TrialRow]) -> list[DrawnRun]:
    return [
        DrawnRun(place, f"Run {place}", f"/runs/{place}", trials, {"pair_id": place})
        for place, trials in enumerate(runs, start=1)
    ]


def test_worse_comes_first_by_size_then_what_cannot_be_told_and_better_last() -> None:
    baseline = [
        *stream(64, *around(1e9)),
        *stream(128, *around(1e9)),
        *stream(256, *around(1e9)),
        *stream(512, *around(1e9)),
    ]
    other = [
        *stream(64, *around(1.2e9)),
        *stream(128, *around(0.9e9)),
        *stream(256, *around(1e9)),
        *stream(512, *around(0.8e9)),
    ]
    found = compare_runs([baseline, other])
    assert measures(found) == [(512, "worse"), (128, "worse"), (256, ""), (64, "better")]
    assert found.counts[1] == {"worse": 2, Verdict.NONE_SHOWN: 1, "better": 1}
    assert found.judged == [0, 4]
    in_plan = compare_runs([baseline, other], sort="plan")
    assert [size for size, _ in measures(in_plan)] == [64, 128, 256, 512]


def test_headlines_come_first_among_equals_and_how_busy_hosts_were_below_all_results() -> None:
    def run(rate: float, packets: float, cpu: float) -> list[TrialRow]:
        values = zip(around(rate), around(packets), around(cpu), strict=True)
        names = ("throughput_bps", "packets_per_second", "source_cpu_ratio")
        return [trial(metrics=dict(zip(names, each, strict=True))) for each in values]

    found = compare_runs([run(1e9, 1e5, 0.2), run(0.95e9, 0.8e5, 0.6)])
    assert [(row.measure.metric.key, row.entries[1].change) for row in found.rows] == [
        ("throughput_bps", "worse"),
        ("packets_per_second", "worse"),
        ("source_cpu_ratio", "worse"),
    ]
    slower = compare_runs([run(1e9, 1e5, 0.2), run(1e9, 0.8e5, 0.6)])
    assert [row.measure.metric.key for row in slower.rows] == [
        "packets_per_second",
        "throughput_bps",
        "source_cpu_ratio",
    ]


def test_less_is_better_where_the_catalog_says_so_and_nothing_where_it_says_neither() -> None:
    latency = [with_metric("latency_p99_seconds", around(value), "tcp_rr") for value in (1e-4, 1.2e-4)]
    assert [row.entries[1].change for row in compare_runs(latency).rows] == ["worse"]
    assert [row.entries[1].change for row in compare_runs(latency[::-1]).rows] == ["better"]
    delivery = [with_metric("delivery_rate_bps", around(value)) for value in (1e9, 2e9)]
    assert [row.entries[1].change for row in compare_runs(delivery, show="all").rows] == ["changed"]


def test_what_failed_in_one_run_comes_before_what_cannot_be_told() -> None:
    baseline = [*stream(64, *around(1e9)), *stream(128, *around(1e9))]
    failed = [trial(message_size_bytes=128, state="failed", reason="no route") for _ in range(5)]
    found = compare_runs([baseline, [*stream(64, *around(1e9)), *failed]])
    assert [row.measure.params["message_size_bytes"] for row in found.rows] == [128, 64]
    entry = found.rows[0].entries[1]
    assert (entry.values, entry.difference, entry.reason) == ([], None, "5 of 5 failed: no route")
    assert found.counts[1] == {"missing": 1, Verdict.NONE_SHOWN: 1}


def test_a_partial_result_joins_no_median() -> None:
    partial = trial(message_size_bytes=64, metrics={"throughput_bps": 1.0}, state="failed", reason="the sink died")
    found = compare_runs([stream(64, *around(1e9)), [*stream(64, *around(1e9)), partial]])
    entry = found.rows[0].entries[1]
    assert entry.summary is not None
    assert (len(entry.values), entry.summary.median, entry.reason) == (5, 1e9, "1 of 6 failed: the sink died")


def test_a_parameter_that_makes_no_series_of_its_own_makes_no_measure_of_its_own() -> None:
    found = compare_runs([stream(64, 1e9, duration_seconds=1), stream(64, 1e9, duration_seconds=10)])
    (row,) = found.rows
    assert row.measure.params == {"message_size_bytes": 64}
    (setting,) = row.entries[1].set_otherwise
    assert (setting.name, setting.value, setting.unit) == ("duration_seconds", 10, "s")


def test_a_default_is_named_where_another_row_sets_the_parameter() -> None:
    run = [*stream(16384, 1e9), *stream(64, 1e9), *stream(64, 1e9, flows=4)]
    found = compare_runs([run, run], sort="plan")
    assert [row.measure.params for row in found.rows] == [
        {"flows": 1, "message_size_bytes": 16384},
        {"flows": 1, "message_size_bytes": 64},
        {"flows": 4, "message_size_bytes": 64},
    ]


def test_one_run_more_beside_them_changes_no_verdict() -> None:
    runs = [[each for size in (64, 128, 256) for each in stream(size, *around(value))] for value in (1e9, 0.98e9, 5e9)]
    two, three = compare_runs(runs[:2], sort="plan"), compare_runs(runs, sort="plan")
    assert [row.entries[1] for row in two.rows] == [row.entries[1] for row in three.rows]


def test_a_kind_alone_keeps_the_verdicts_of_all_and_an_unknown_kind_is_named() -> None:
    rates = with_metric("transactions_per_second", around(3e4), "tcp_rr")
    run = [*stream(64, *around(1e9)), *rates, trial("gone_kind", metrics={"throughput_bps": 1.0})]
    found = compare_runs([run, run])
    (row,) = narrowed(found, kind="tcp_rr", only_differing=False).rows
    assert row.measure.metric.key == "transactions_per_second"
    assert len(narrowed(found, kind="", only_differing=False).rows) == len(found.rows) == 2
    assert left_the_catalog([run]) == ["gone_kind"]


def test_curves_are_drawn_over_each_other_with_a_colour_for_each_run() -> None:
    runs = drawn([*stream(64, 1e9), *stream(1024, 2e9)], [*stream(64, 3e9), *stream(1024, 4e9)])
    (chart,) = comparison_charts(runs)
    assert (chart.id, chart.x.scale) == ("tcp_stream-throughput", "log2")
    assert [places(line) for line in chart.series] == [[(64.0, 1e9), (1024.0, 2e9)], [(64.0, 3e9), (1024.0, 4e9)]]
    assert [line.dash for line in chart.series] == ["solid", "dashed"]
    assert [line.ids for line in chart.series] == [{"pair_id": 1}, {"pair_id": 2}]
    (turned,) = comparison_charts(runs[::-1])
    assert {line.id: line.color for line in turned.series} == {line.id: line.color for line in chart.series}


def test_runs_of_different_length_share_a_chart_and_other_combinations_get_their_own_lines() -> None:
    short = [*stream(64, 1e9, duration_seconds=1), *stream(1024, 2e9, duration_seconds=1)]
    long = [*stream(64, 1e9, duration_seconds=10, flows=4), *stream(1024, 2e9, duration_seconds=10, flows=4)]
    (chart,) = comparison_charts(drawn(short, long))
    assert [line.label for line in chart.series] == ["Run 1 · Flows 1", "Run 2 · Flows 4"]
    assert [line.marker for line in chart.series] == ["circle", "rect"]


def test_a_single_place_on_the_axis_makes_no_chart_but_percentiles_do() -> None:
    latency = {"latency_p50_seconds": 1e-4, "latency_p99_seconds": 2e-4}
    runs = [[*stream(64, 1e9), trial("tcp_rr", metrics=latency)] for _ in range(2)]
    (chart,) = comparison_charts(drawn(*runs))
    assert (chart.id, chart.form) == ("tcp_rr-latency", "percentiles")
    assert [places(line)[1] for line in chart.series] == [("p50", 1e-4)] * 2


def test_only_what_differs_leaves_out_what_cannot_be_told() -> None:
    baseline = [*stream(64, *around(1e9)), *stream(128, *around(1e9)), *stream(256, *around(1e9))]
    failed = [trial(message_size_bytes=256, state="failed") for _ in range(5)]
    other = [*stream(64, *around(1e9)), *stream(128, *around(0.9e9)), *failed]
    found = narrowed(compare_runs([baseline, other]), kind="", only_differing=True)
    assert [row.measure.params["message_size_bytes"] for row in found.rows] == [128, 256]
    assert found.counts[1] == {"worse": 1, "missing": 1, Verdict.NONE_SHOWN: 1}
