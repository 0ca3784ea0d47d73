"""A run's trials as what `benchweb.toolprints` writes."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from benchweb.catalog import catalog
from benchweb.catalog.reasons import Reason
from benchweb.catalog.translation import reason_text
from benchweb.results.models import Result
from benchweb.results.selectors import TrialRow, interval_parts, results_of_trials
from benchweb.runs.models import Run
from benchweb.toolprints.printed import Measurement, PrintedInterval

_RESULTS_AT_ONCE = 200


def measurements(run: Run, trials: Sequence[TrialRow], *, has_intervals: bool = False) -> list[Measurement]:
    """Return what each trial measured, with a tool's own figures where it was imported.

    A query for each 200 trials; with intervals one more for each trial.
    """
    made = []
    for first in range(0, len(trials), _RESULTS_AT_ONCE):
        rows = trials[first : first + _RESULTS_AT_ONCE]
        results = results_of_trials([row.id for row in rows if row.measured])
        made += [measurement(run, row, results.get(row.id), has_intervals=has_intervals) for row in rows]
    return made


def measurement(run: Run, row: TrialRow, result: Result | None, *, has_intervals: bool = False) -> Measurement:
    """Return one trial, whose result is at hand; with intervals a query or two."""
    kind = catalog().kinds.get(row.kind)
    is_timed = has_intervals and result is not None
    return Measurement(
        kind=row.kind,
        params=kind.filled(row.params) if kind else row.params,
        given=row.params,
        metrics={**_own_figures(result), **row.metrics} if row.measured else {},
        source=str(run.pair.source),
        sink=str(run.pair.sink),
        at=row.started_at,
        repetition=row.repetition,
        missing="" if row.measured else _missing(row),
        intervals=_intervals(chain.from_iterable(interval_parts(row.id))) if is_timed else (),
    )


def _own_figures(result: Result | None) -> dict[str, float]:
    """Return what an imported test printed of the whole that the catalog has no metric for."""
    figures: list[Mapping[str, Any]] = result.document.get("figures") or [] if result else []
    return {figure["metric"]: figure["value"] for figure in figures if not figure.get("part")}


def _missing(row: TrialRow) -> str:
    return reason_text(row.why or Reason("trial_in_state", state=Reason(f"state_{row.state}")))


def _intervals(documents: Iterable[Mapping[str, Any]]) -> tuple[PrintedInterval, ...]:
    return tuple(
        PrintedInterval(
            document["start_seconds"],
            document["end_seconds"],
            {name: value for name, value in (document.get("metrics") or {}).items() if value is not None},
            is_omitted=bool(document.get("warmup")),
        )
        for document in documents
    )
