"""A comparison as CSV and as JSON, the same for the API and the pages: full precision, a row or object per entry."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog import nested_text
from benchweb.charts.comparison.rows import Entry, MeasureRow, RunsComparison
from benchweb.charts.export import PAIR_IDS, cell, pair_ids
from benchweb.runs.models import Run
from benchweb.statistics.comparison import ALPHA, Difference

_FIGURES = ("kind", "params", "metric", "unit", "run", "baseline", "n", "median", "low", "high", "missing")
_COMPARED = (
    "difference",
    "difference_ratio",
    "interval_low",
    "interval_high",
    "cliffs_delta",
    "p_value",
    "least_shift_shown",
    "verdict",
    "change",
)


def comparison_csv(runs: Sequence[Run], found: RunsComparison) -> str:
    """Return a line for each measure and run, the baseline's own first; a missing figure is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*_FIGURES, *_COMPARED, *PAIR_IDS])
    for row in found.rows:
        params = " ".join(f"{name}={_text(value)}" for name, value in row.measure.params.items())
        for run, entry in zip(runs, row.entries, strict=True):
            named = [row.measure.kind.name, params, row.measure.metric.key, row.measure.metric.unit, run.pk, runs[0].pk]
            writer.writerow(map(cell, [*named, *_entry(entry).values(), *pair_ids(run.pair).values()]))
    return out.getvalue()


def comparison_document(runs: Sequence[Run], found: RunsComparison) -> dict[str, Any]:
    """Return the whole comparison, each repetition's value included; `alpha` is the rate that the verdicts keep."""
    return {
        "baseline": runs[0].pk,
        "alpha": ALPHA,
        "runs": [_run(run) for run in runs],
        "measures": [_measure(runs, row) for row in found.rows],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "id": run.pk,
        "state": run.state,
        "plan": run.plan_version.plan_id,
        "plan_version": run.plan_version.number,
        "pair": run.pair_id,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        **pair_ids(run.pair),
    }


def _measure(runs: Sequence[Run], row: MeasureRow) -> dict[str, Any]:
    metric = row.measure.metric
    entries = [{"run": run.pk, "values": e.values} | _entry(e) for run, e in zip(runs, row.entries, strict=True)]
    return {
        "kind": row.measure.kind.name,
        "params": row.measure.params,
        "metric": metric.key,
        "unit": metric.unit,
        "better": metric.better,
        "entries": entries,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    found = entry.summary
    figures = {
        "n": len(entry.values),
        "median": found.median if found else None,
        "low": found.low if found else None,
        "high": found.high if found else None,
        "missing": entry.reason if entry.is_planned else _("not in this run's plan"),
    }
    return figures | _difference(entry.difference) | {"verdict": entry.verdict, "change": entry.change or None}


def _difference(found: Difference | None) -> dict[str, Any]:
    if found is None:
        return dict.fromkeys(_COMPARED[:-2])
    low, high = found.interval or (None, None)
    return {
        "difference": found.difference,
        "difference_ratio": found.ratio,
        "interval_low": low,
        "interval_high": high,
        "cliffs_delta": found.cliffs_delta,
        "p_value": found.p_value,
        "least_shift_shown": found.least_shift_shown,
    }


def _text(value: Any) -> str:
    return nested_text(value) if isinstance(value, dict) else str(value)
