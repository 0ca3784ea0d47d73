"""A comparison as a table of figures and as JSON: full precision, a row or object per entry."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog import nested_text
from benchweb.charts.comparison.rows import Entry, MeasureRow, RunsComparison
from benchweb.charts.export import PAIR_IDS, pair_ids
from benchweb.documents.document import DocumentTable, RowId
from benchweb.documents.references import Label, free_text, joined_label, reason_part, value_ref
from benchweb.runs.models import Run
from benchweb.statistics.comparison import Difference
from benchweb.statistics.deciding import LARGEST_P_OF_DIFFERENCE

_FIGURES = ("kind", "params", "metric", "unit", "run", "baseline", "n", "median", "low", "high", "missing")
_SIDES = ("side", "query", "name")
_FIGURES_OF_SETS = ("kind", "params", "metric", "unit", "n", "median", "low", "high", "missing")
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


def comparison_figures(runs: Sequence[Run], compared: RunsComparison) -> DocumentTable:
    """Return a row for each measure and run, the baseline's own first; a missing figure is empty."""
    rows = [
        [
            *(row.measure.kind.name, _params_label(row), row.measure.metric.key, row.measure.metric.unit),
            *(RowId(run.pk), RowId(runs[0].pk)),
            *_figures(entry),
            *pair_ids(run.pair).values(),
        ]
        for row in compared.rows
        for run, entry in zip(runs, row.entries, strict=True)
    ]
    return DocumentTable("comparison", [*_FIGURES, *_COMPARED, *PAIR_IDS], rows)


def comparison_document(runs: Sequence[Run], compared: RunsComparison) -> dict[str, Any]:
    """Return the whole comparison, each repetition's value included; `alpha` is the rate that the verdicts keep."""
    return {
        "baseline": runs[0].pk,
        "alpha": LARGEST_P_OF_DIFFERENCE,
        "runs": [_run(run) for run in runs],
        "measures": [_measure([{"run": run.pk} for run in runs], row) for row in compared.rows],
    }


def sets_figures(sides: Sequence[Mapping[str, Any]], compared: RunsComparison) -> DocumentTable:
    """Return a row for each measure and side, the baseline's own first; `n` counts runs."""
    rows = [
        [
            *(side["side"], free_text(side["query"]), side["name"]),
            *(row.measure.kind.name, _params_label(row), row.measure.metric.key, row.measure.metric.unit),
            *_figures(entry),
        ]
        for row in compared.rows
        for side, entry in zip(sides, row.entries, strict=True)
    ]
    return DocumentTable("sets", [*_SIDES, *_FIGURES_OF_SETS, *_COMPARED], rows)


def sets_document(sides: Sequence[Mapping[str, Any]], compared: RunsComparison) -> dict[str, Any]:
    """Return the whole comparison of sets, each run's median included."""
    return {
        "alpha": LARGEST_P_OF_DIFFERENCE,
        "sides": list(sides),
        "measures": [_measure([{"side": side["side"]} for side in sides], row) for row in compared.rows],
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


def _measure(columns: Sequence[Mapping[str, Any]], row: MeasureRow) -> dict[str, Any]:
    metric = row.measure.metric
    entries = [{**each, "values": e.values} | _entry(e) for each, e in zip(columns, row.entries, strict=True)]
    return {
        "kind": row.measure.kind.name,
        "params": row.measure.params,
        "metric": metric.key,
        "unit": metric.unit,
        "better": metric.better,
        "entries": entries,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    summary = entry.summary
    figures = {
        "n": len(entry.values),
        "median": summary.median if summary else None,
        "low": summary.low if summary else None,
        "high": summary.high if summary else None,
        "missing": entry.reason if entry.is_planned else _("not in this run's plan"),
    }
    return figures | _difference(entry.difference) | {"verdict": entry.verdict, "change": entry.change or None}


def _difference(difference: Difference | None) -> dict[str, Any]:
    if difference is None:
        return dict.fromkeys(_COMPARED[:-2])
    low, high = difference.interval or (None, None)
    return {
        "difference": difference.difference,
        "difference_ratio": difference.ratio,
        "interval_low": low,
        "interval_high": high,
        "cliffs_delta": difference.cliffs_delta,
        "p_value": difference.p_value,
        "least_shift_shown": difference.least_shift_shown,
    }


def _figures(entry: Entry) -> list[Any]:
    return [reason_part(value) if name == "missing" else value for name, value in _entry(entry).items()]


def _params_label(row: MeasureRow) -> Label:
    settings = [Label(name, "=", _setting(value)) for name, value in row.measure.params.items()]
    return joined_label(settings, " ")


def _setting(value: Any) -> str:
    text = nested_text(value) if isinstance(value, dict) else str(value)
    return value_ref(text) if isinstance(value, dict | str) and value else text
