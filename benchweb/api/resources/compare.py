"""Runs compared: what differs, how sure that is, and what can't be told."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import BaseModel, Field

from benchweb.api.paging import refuse_unknown
from benchweb.api.problems import FieldError, invalid, invalid_fields
from benchweb.api.schemas import Item
from benchweb.charts.comparison.export import comparison_document
from benchweb.charts.comparison.rows import compare_runs
from benchweb.results.selectors import trial_rows_of_runs
from benchweb.runs import selectors

router = Router(tags=["runs"])
MOST_RUNS = 8


class CompareQuery(BaseModel):
    runs: Annotated[str, Field(max_length=200, pattern=r"^\d{1,18}(,\d{1,18})+$", examples=["12,14"])]
    show: Literal["main", "headline", "all"] = "main"


class ComparedRun(Item):
    id: int
    state: str
    plan: int
    plan_version: int
    pair: int
    started_at: datetime | None
    finished_at: datetime | None


class ComparedEntry(Item):
    run: int
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
    baseline: int
    alpha: float
    runs: list[ComparedRun]
    measures: list[ComparedMeasure]


@router.get("/compare", response=ComparisonItem)
def compare(request: HttpRequest, query: Query[CompareQuery]) -> ComparisonItem:
    """Compare runs with the first of them, the measures that are worse first; docs/reference/compare.md says how."""
    refuse_unknown(request, CompareQuery)
    ids = list(dict.fromkeys(int(word) for word in query.runs.split(",")))
    if not 2 <= len(ids) <= MOST_RUNS:
        raise invalid("runs", f"From 2 to {MOST_RUNS} different runs can be compared.")
    found = {run.pk: run for run in selectors.runs_named().filter(pk__in=ids)}
    if gone := [run_id for run_id in ids if run_id not in found]:
        raise invalid_fields([FieldError("runs", f"There is no run {run_id}.") for run_id in gone])
    trials = trial_rows_of_runs(ids)
    compared = compare_runs([trials[run_id] for run_id in ids], show=query.show)
    return ComparisonItem(**comparison_document([found[run_id] for run_id in ids], compared))
