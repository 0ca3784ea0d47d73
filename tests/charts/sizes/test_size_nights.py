"""Figures by message size over whole environments: night by night where to read all runs would take too long."""

from datetime import timedelta

import pytest

from benchweb.catalog import catalog
from benchweb.charts.history.query import history_query
from benchweb.charts.sizes import lines as size_lines
from benchweb.charts.sizes.charts import Sizes, size_charts
from benchweb.hosts.models import Pair
from benchweb.hosts.services import pair_create
from benchweb.results import nightly_summaries as nights
from benchweb.results import run_summaries as recents
from benchweb.results.models import EnvironmentNights
from tests.charts.history_rows import DAY, NIGHT, past_run
from tests.factories import make_pair, make_plan

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _few_series_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_LEAST_SERIES", "_MOST_SERIES"):
        monkeypatch.setattr(size_lines, name, 3)


@pytest.fixture
def pairs() -> list[Pair]:
    """Measure two sizes on two pairs of one environment: 5 runs of 64 B in three nights, one of 1,024 B."""
    one = make_pair(environment="lab")
    other = pair_create(source=one.sink, sink=one.source, environment=one.environment)
    # On first result the median is 2, on the next 9, on the last 5: of all five runs it would be 3.
    for pair, night, hour, values in (
        (one, 0, 0, (1e9,)),
        (one, 0, 1, (2e9, 2e9)),
        (other, 0, 0, (3e9,)),
        (one, 1, 0, (8e9, 9e9, 11e9)),
        (other, 2, 0, (5e9,)),
    ):
        measure(pair, 64, night, hour, *values)
    measure(one, 1024, 0, 2, 7e9)
    measure(other, 1024, 0, 2, 7.5e9)
    summed_up()
    return [one, other]


def measure(pair: Pair, size: int, night: int, hour: int, *values: float) -> None:
    steps = [{"kind": "tcp_stream", "params": {"message_size_bytes": size}}]
    at = NIGHT + night * DAY + timedelta(hours=hour)
    past_run(make_plan(steps=steps), pair, at, *[{"throughput_bps": value} for value in values])


def summed_up() -> None:
    while recents.sum_up():
        pass
    nights.make()


def sizes(**values: str) -> Sizes:
    query = history_query(values, now=NIGHT + timedelta(days=60))
    return size_charts(query, catalog().kinds["tcp_stream"])


def points(found: Sizes) -> dict[str, list[tuple[float | str, float | None, float | None, float | None, int]]]:
    (chart,) = found.charts
    return {line.label: [(p.x, p.y, p.low, p.high, p.n) for p in line.points] for line in chart.series}


def test_a_point_is_the_median_of_the_nights_medians_and_says_so(pairs: list[Pair]) -> None:
    found = sizes()
    assert points(found) == {
        "lab (5 runs, at most 2 pairs a night)": [(64, 5e9, 1e9, 11e9, 8)],
        "lab (2 runs, at most 2 pairs a night)": [(1024, 7.25e9, 7e9, 7.5e9, 2)],
    }
    assert "median of the nights' medians, each over all runs of its night" in found.charts[0].subtitle
    # It rests on all series, and hides none.
    assert found.series == found.total == 4


def test_what_is_of_some_pairs_is_read_run_by_run(pairs: list[Pair]) -> None:
    assert points(sizes(pair=str(pairs[0].pk))) == {
        "lab (3 runs)": [(64, 2e9, 1e9, 11e9, 6)],
        "lab (1 run)": [(1024, 7e9, 7e9, 7e9, 1)],
    }


def test_dates_part_the_nights(pairs: list[Pair]) -> None:
    found = points(sizes(overlay="date", **{"p.message_size_bytes": "64"}))
    assert [[(x, y, n) for x, y, _, _, n in line] for line in found.values()] == [
        [(64, 2e9, 4)], [(64, 9e9, 3)], [(64, 5e9, 1)],
    ]  # fmt: skip


def test_nights_outside_the_time_shown_are_left_out(pairs: list[Pair]) -> None:
    begin = NIGHT - timedelta(hours=1)
    found = sizes(**{"from": begin.isoformat(), "to": (begin + 2 * DAY).isoformat()})
    assert [(x, n) for line in points(found).values() for x, *_, n in line] == [(64, 7), (1024, 2)]


def test_less_than_two_nights_are_read_run_by_run(pairs: list[Pair]) -> None:
    found = sizes(**{"from": (NIGHT - DAY / 2).isoformat(), "to": (NIGHT + DAY).isoformat()})
    assert "median of the runs' medians" in found.charts[0].subtitle
    # Of the second size the other pair's series is one too many.
    assert list(points(found)) == ["lab (3 runs, 2 pairs)", "lab (1 run)"]
    assert (found.series, found.total) == (3, 4)


def test_environments_that_are_not_drawn_are_told_as_series_left_out(
    pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    measure(make_pair(environment="elsewhere"), 64, 0, 0, 20e9)
    EnvironmentNights.objects.update(made_at=None)
    summed_up()
    monkeypatch.setattr(size_lines, "MOST_OVERLAID", 1)
    found = sizes()
    assert (found.series, found.total) == (4, 5)


def test_a_filter_by_environment_leaves_others_out(pairs: list[Pair]) -> None:
    elsewhere = make_pair(environment="elsewhere")
    measure(elsewhere, 64, 0, 0, 20e9)
    EnvironmentNights.objects.update(made_at=None)
    summed_up()
    assert [label.split(" ")[0] for label in points(sizes())] == ["lab", "lab", "elsewhere"]
    assert {label.split(" ")[0] for label in points(sizes(environment=str(pairs[0].environment_id)))} == {"lab"}
