"""Runs compared: what differs, how sure that is, and what can't be told."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import BaseModel, Field

from benchweb.api.authentication import READ
from benchweb.api.paging import refuse_unknown
from benchweb.api.problems import FieldError, invalid, invalid_fields
from benchweb.api.schemas import Item
from benchweb.charts.comparison.export import comparison_document, sets_document
from benchweb.charts.comparison.rows import compare_runs
from benchweb.charts.comparison.sets import compare_sets, read_sides, sides_document
from benchweb.charts.comparison.sides import LONGEST_SIDE, MOST_SIDES
from benchweb.results.selectors import trial_rows_of_runs
from benchweb.runs import selectors

router = Router(tags=["runs"])
MOST_RUNS = MOST_SIDES


class CompareParameters(BaseModel):
    runs: Annotated[str, Field(max_length=200, pattern=r"^\d{1,18}(,\d{1,18})+$", examples=["12,14"])] | None = None
    side: Annotated[
        list[Annotated[str, Field(max_length=LONGEST_SIDE)]],
        Field(max_length=MOST_SIDES, examples=[["environment=3&kernel=6.1.0-28", "environment=3&kernel=6.1.0-30"]]),
    ] = []
    show: Literal["main", "headline", "all"] = "main"


class ComparedRun(Item):
    id: int
    state: str
    plan: int
    plan_version: int
    pair: int
    started_at: datetime | None
    finished_at: datetime | None


class ComparedSide(Item):
    """A set of runs: as requested, what it is called, and what it gave."""

    side: int
    query: str
    name: str
    runs: int
    pairs: int
    pairs_matching: int
    # Of the pairs those that are compared, and those that only one side measured.
    pairs_compared: list[int]
    pairs_left_out: list[int]
    first_at: datetime | None
    last_at: datetime | None


class ComparedEntry(Item):
    """A run's figures, or those of a side: then its values are the medians of its runs."""

    run: int | None = None
    side: int | None = None
    values: list[float]
    n: int
    median: float | None
    low: float | None
    high: float | None
    missing: str
    difference: float | None
    difference_ratio: float | None
    interval_low: float | None
    interval_high: float | None
    cliffs_delta: float | None
    p_value: float | None
    least_shift_shown: float | None
    verdict: str | None
    change: str | None


class ComparedMeasure(Item):
    kind: str
    params: dict[str, Any]
    metric: str
    unit: str
    better: str
    entries: list[ComparedEntry]


class ComparisonItem(Item):
    # The first run, or the first side.
    baseline: int
    alpha: float
    runs: list[ComparedRun] = []
    sides: list[ComparedSide] = []
    measures: list[ComparedMeasure]


@router.get("/compare", response=ComparisonItem, exclude_unset=True, auth=READ)
def compare(request: HttpRequest, query: Query[CompareParameters]) -> ComparisonItem:
    """Compare runs, or sets of runs, with the first of them; docs/reference/compare.md says how.

    The measures that are worse come first. A side is a query string of its own, encoded as one value.
    """
    refuse_unknown(request, CompareParameters)
    if query.side:
        return _sets(query)
    if query.runs is None:
        raise invalid("runs", "Name the runs to compare, such as runs=12,14, or two sides or more.")
    ids = list(dict.fromkeys(int(word) for word in query.runs.split(",")))
    if not 2 <= len(ids) <= MOST_RUNS:
        raise invalid("runs", f"From 2 to {MOST_RUNS} different runs can be compared.")
    found = {run.pk: run for run in selectors.runs_named().filter(pk__in=ids)}
    if gone := [run_id for run_id in ids if run_id not in found]:
        raise invalid_fields([FieldError("runs", f"There is no run {run_id}.") for run_id in gone])
    trials = trial_rows_of_runs(ids)
    compared = compare_runs([trials[run_id] for run_id in ids], show=query.show)
    return ComparisonItem(**comparison_document([found[run_id] for run_id in ids], compared))


def _sets(query: CompareParameters) -> ComparisonItem:
    if query.runs is not None:
        raise invalid("side", "Name runs or sides, not both: a run is a side as run=12.")
    if len(query.side) < 2:
        raise invalid("side", f"From 2 to {MOST_SIDES} sides can be compared.")
    read = read_sides(query.side, zone=UTC, show=query.show)
    if read.notices:
        raise invalid_fields([FieldError("side", notice) for notice in read.notices])
    return ComparisonItem(**sets_document(sides_document(read), compare_sets(read, show=query.show)), baseline=1)
