"""What a pair's hosts measure alone in the same nights shows a step that their weekends hide, and whose it is."""

from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from benchweb.catalog import catalog
from benchweb.charts.alerts.charts import alert_charts
from benchweb.hosts.canaries import UNITS, CanaryPasses, canary_record
from benchweb.hosts.models import CanaryMetric, Pair
from benchweb.regressions.alert_details import detail_lines
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.concerned import concerned_by
from benchweb.regressions.judge import judge_run
from benchweb.regressions.judging.canaries import METRIC, Canary
from benchweb.regressions.judging.findings import SeriesFinding, worsened_findings
from benchweb.regressions.judging.histories import History, RunValue, histories
from benchweb.regressions.judging.sensitivity import SeriesSensitivity
from benchweb.regressions.models import Alert
from benchweb.results.models import Series
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Run
from tests.factories import make_pair, make_run
from tests.nights import add_values, measured
from tests.regressions.judged import NOISE, level, night

NIGHTS, STEP_AT, HOST = 60, 50, 7
MEMORY = {"kind": "memory_bandwidth", "params": {}}


def weekend(number: int) -> float:
    """Return which share of its speed the host has in a night."""
    return 0.94 if number % 7 > 4 else 1.0


def own_speed(number: int, step: float = 1.0) -> float:
    """Return what the host alone copies in a night, in bytes per second."""
    return 2e10 * weekend(number) * step * (1 - NOISE[(5 * number) % 12] / 2)


def history(*, step: float, canary_step: float = 1.0, metric: str = "throughput_bps") -> History:
    """Return sixty nights with weekends, a step of the pair in the last ten, and what the host alone measured."""
    steps = [step if number >= STEP_AT else 1.0 for number in range(NIGHTS)]
    of_host = [own_speed(number, canary_step if number >= STEP_AT else 1.0) for number in range(NIGHTS)]
    values = [level(number, weekend(number) * factor) for number, factor in enumerate(steps)]
    if metric.endswith("_seconds"):
        values = [1 / value for value in values]
    runs = [RunValue(number, night(number), value, 5) for number, value in enumerate(values)]
    ats = [night(number) + timedelta(hours=2) for number in range(NIGHTS)]
    kind = catalog().tests["tcp_stream" if metric == "throughput_bps" else "tcp_rr"]
    canaries = [Canary(HOST, METRIC, ats, of_host)]
    return History(1, 1, kind.name, {}, kind.metrics[metric], SeriesSensitivity(), runs, canaries=canaries)


def finding(judged: History) -> SeriesFinding | None:
    """Return what a history shows."""
    return next(iter(worsened_findings([judged], {})), None)


def test_a_step_that_weekends_hide_shows_beside_a_canary_as_the_pairs_own() -> None:
    judged = history(step=0.96)
    assert finding(replace(judged, canaries=(), changes={})) is None
    found = finding(judged)
    assert found is not None
    assert (found.first_bad.run_id, found.canary) == (STEP_AT, None)
    assert found.difference_ratio == pytest.approx(-0.04, abs=0.01)


def test_a_slower_host_shows_in_its_pairs_round_trips_too() -> None:
    judged = history(step=0.96, metric="latency_p50_seconds")
    assert finding(replace(judged, canaries=(), changes={})) is None
    found = finding(judged)
    assert found is not None
    assert (found.first_bad.run_id, found.canary) == (STEP_AT, None)


def test_what_the_canary_shows_too_is_the_hosts_and_is_not_lost() -> None:
    found = finding(history(step=0.88, canary_step=0.88))
    assert found is not None
    assert found.canary is not None
    assert found.first_bad.run_id == STEP_AT
    assert found.canary.host_id == HOST
    assert found.canary.ratio == pytest.approx(-0.12, abs=0.03)


@pytest.mark.parametrize("canary_step", [0.7, 1.4])
def test_a_canary_that_changes_alone_changes_nothing_else(canary_step: float) -> None:
    assert finding(history(step=1.0, canary_step=canary_step)) is None


def test_a_canary_of_other_nights_is_none() -> None:
    judged = history(step=0.96)
    late = [at + timedelta(hours=9) for at in judged.canaries[0].ats]
    far = replace(judged, canaries=[judged.canaries[0]._replace(ats=late)], changes={})
    assert far.explained is None
    assert finding(far) is None


def test_a_nights_canary_says_nothing_of_runs_that_follow_each_other_all_day() -> None:
    canary = Canary(HOST, METRIC, [night(number) for number in range(3)], [3.0, 2.0, 1.0])
    hourly = [night(0) + timedelta(hours=hour) for hour in range(48)]
    assert canary.beside(hourly) == [None] * 48
    nightly = [night(number) + timedelta(hours=hour) for number in range(3) for hour in (0, 1)]
    assert canary.beside(nightly) == [3.0, 3.0, 2.0, 2.0, 1.0, 1.0]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("metric", "said"), [(CanaryMetric.MEMORY, "Memory copying −1"), (CanaryMetric.SPIN, "Fixed calculation +1")]
)
def test_what_its_engine_measured_by_itself_makes_a_change_the_hosts(metric: CanaryMetric, said: str) -> None:
    pair = make_pair()
    host = pair.sink.host
    for number in range(40):
        step = 0.88 if number >= 34 else 1.0
        last = measured(pair, night(number), level(number, weekend(number) * step))
        speed = own_speed(number, step)
        value = 1 / speed if metric == CanaryMetric.SPIN else speed
        passes = CanaryPasses(metric, value, value, value, 9)
        canary_record(endpoint_id=pair.sink_id, at=night(number), figures=[passes])
    write_figures()
    assert judge_run(last.pk)
    alert = Alert.objects.select_related("host", "pair").exclude(opened_at=None).get()
    assert (alert.host, alert.params["canary"]["metric"]) == (host, metric)
    assert any(
        line.startswith(f"{host.name} alone was slower too: {said}")
        for line in detail_lines(alert, concerned_by(alert))
    )
    charts = alert_charts(alert, zone=UTC)
    [chart] = [chart for chart in charts if chart.id == f"canary-{metric}"]
    assert charts.index(chart) == 1
    assert (str(chart.title), chart.y.unit) == (f"{host.name} · {metric.label}", UNITS[metric])
    assert [len(line.points) for line in chart.series] == [40]


@pytest.mark.django_db
def test_an_alert_says_that_the_host_alone_was_slower_too() -> None:
    pair = make_pair()
    alone = Pair.objects.create(source=pair.source, sink=pair.source, environment=pair.environment)
    for number in range(40):
        step = 0.88 if number >= 34 else 1.0
        last = measured(pair, night(number), level(number, weekend(number) * step))
        run = make_run(pair=alone, steps=[MEMORY])
        Run.objects.filter(pk=run.pk).update(state="finished", started_at=night(number), finished_at=night(number))
        add_values(
            run,
            alone,
            night(number),
            own_speed(number, step),
            kind="memory_bandwidth",
            metric="memory_bytes_per_second",
        )
    write_figures()
    assert judge_run(last.pk)
    alert = Alert.objects.select_related("host", "pair").exclude(opened_at=None).get()
    host = pair.source.host
    assert (alert.host, alert.begun_at, alert.verdict) == (host, night(34), "")
    assert alert.params["canary"] == {"host": host.pk, "metric": METRIC, "ratio": pytest.approx(-0.12, abs=0.03)}
    assert str(alert_title(alert)).startswith(f"Host {host.name}: ")
    said = f"{host.name} alone was slower too: Memory bandwidth · "
    assert any(line.startswith(said) for line in detail_lines(alert, concerned_by(alert)))
    # Another environment's host may be set up otherwise.
    Pair.objects.filter(pk=alone.pk).update(environment=make_pair(environment="other").environment)
    assert [each.canaries for each in histories(Series.objects.filter(pair=pair).values_list("pk", flat=True))] == [()]
