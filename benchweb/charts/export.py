"""A run as CSV and as JSON, the same for the API and the pages."""

import base64
import csv
import io
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from benchweb.catalog import catalog, nested_text
from benchweb.charts.confidence import confidence_document
from benchweb.charts.moments import rfc3339
from benchweb.charts.pair_ids import PAIR_IDS, pair_ids
from benchweb.hosts.models import Endpoint
from benchweb.results.confidence import RunConfidence, run_confidence
from benchweb.results.models import Result
from benchweb.results.selectors import TrialRow, run_results, trial_rows
from benchweb.runs.models import Run

# What a spreadsheet takes for the start of a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
_BEFORE_PARAMS = ("run", "trial", "index", "kind")
# Only where the plan asks for a confidence.
_SURE = ("confidence_width_percent", "confidence_reached")
_AFTER_PARAMS = ("repetition", "state", "reason", "started_at", "finished_at")


def run_csv(run: Run) -> str:
    """Give a row per trial: parameters and metrics under their catalog names, which end in their unit.

    Numbers are in full precision, a metric that wasn't measured is an empty cell. One query.
    """
    return csv_of(run, trial_rows(run.pk))


def csv_of(run: Run, rows: Sequence[TrialRow]) -> str:
    """Give the CSV of a run whose trials are at hand; an id that is None is an empty cell."""
    params, metrics = _param_names(rows), _metric_names(rows)
    out = io.StringIO()
    writer = csv.writer(out)
    confidence = run_confidence(run.plan_version, rows)
    sure = _SURE if confidence else ()
    writer.writerow([*_BEFORE_PARAMS, *params, *_AFTER_PARAMS, *metrics, "flags", "limited_by", *sure, *PAIR_IDS])
    ids = pair_ids(run.pair).values()
    for row in rows:
        writer.writerow(map(cell, [*_values(run, row, params, metrics), *_sure(confidence, row), *ids]))
    return out.getvalue()


def run_json(run: Run) -> str:
    """Give the run with every result's whole document; facts are kept once and named by their id. Two queries."""
    return json_text(document_of(run, trial_rows(run.pk), list(run_results(run.pk))))


def document_of(run: Run, rows: Sequence[TrialRow], results: Sequence[Result]) -> dict[str, Any]:
    """Give the document of a run whose trials and results are at hand; times in it are not texts yet."""
    by_trial = {result.trial_id: result for result in results}
    trials = [_trial_document(row, by_trial.get(row.id)) for row in rows]
    confidence = confidence_document(run_confidence(run.plan_version, rows))
    return _run_document(run) | {"confidence": confidence, "facts": _facts(results), "trials": trials}


def json_text(document: dict[str, Any]) -> str:
    """Write a document: times in UTC with all microseconds, words as they are."""
    return json.dumps(document, default=rfc3339, ensure_ascii=False)


def engine_document(result: Result) -> dict[str, Any]:
    """Give one result as the engine told it, facts and latency distribution back in their places."""
    histogram = bytes(result.histogram) if result.histogram else None
    document: dict[str, Any] = result.document
    return document | {
        "histogram": {"encoding": "hdr-v2-deflate-base64", "data": base64.b64encode(histogram).decode()}
        if histogram
        else None,
        "source": result.source_facts.document if result.source_facts else None,
        "sink": result.sink_facts.document if result.sink_facts else None,
    }


def _values(run: Run, row: TrialRow, params: Iterable[str], metrics: Iterable[str]) -> list[Any]:
    return [
        run.pk,
        row.id,
        row.index,
        row.kind,
        *(row.params.get(name) for name in params),
        row.repetition,
        row.state,
        row.reason,
        row.started_at,
        row.finished_at,
        *(row.metrics.get(key) for key in metrics),
        " ".join(row.flags),
        " ".join(limit["by"] for limit in row.limits),
    ]


def _sure(confidence: RunConfidence | None, row: TrialRow) -> list[Any]:
    """Say of the row's combination how wide its interval is, and whether that is as narrow as asked."""
    if confidence is None:
        return []
    found = confidence.of(row)
    return [found.width_percent, found.is_reached] if found else [None, None]


def cell(value: Any) -> Any:
    """Write a value for a spreadsheet: in full precision, and no text as a formula."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | float):
        return nested_text(value) if isinstance(value, dict) else repr(value)
    if isinstance(value, datetime):
        return rfc3339(value)
    # A text such as "=HYPERLINK(…)" in a host's error message must stay text in a spreadsheet.
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def _param_names(rows: Iterable[TrialRow]) -> list[str]:
    used = {name for row in rows for name in row.params}
    known = [name for name in catalog().document["parameters"] if name in used]
    return known + sorted(used.difference(known))


def _metric_names(rows: Iterable[TrialRow]) -> list[str]:
    used = {key for row in rows for key in row.metrics}
    known = [key for key in catalog().metrics if key in used]
    return known + sorted(used.difference(known))


def _run_document(run: Run) -> dict[str, Any]:
    version, pair = run.plan_version, run.pair
    return {
        "schema": 1,
        "run": run.pk,
        "state": run.state,
        "reason": run.reason,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "plan": {
            "id": version.plan_id,
            "name": version.plan.name,
            "version": version.number,
            "repetitions": version.repetitions,
            "order": version.order,
            "pause_seconds": version.pause_seconds,
            "confidence": version.confidence,
            "steps": version.steps,
        },
        "pair": {
            "id": pair.pk,
            "source": _end_document(pair.source),
            "sink": _end_document(pair.sink),
            "environment": {"id": pair.environment_id, "name": pair.environment.name},
        },
    }


def _end_document(endpoint: Endpoint) -> dict[str, Any]:
    return {"endpoint": endpoint.pk, "name": str(endpoint), "host": endpoint.host_id}


def _trial_document(row: TrialRow, result: Result | None) -> dict[str, Any]:
    document: dict[str, Any] = {
        "trial": row.id,
        "index": row.index,
        "kind": row.kind,
        "params": row.params,
        "repetition": row.repetition,
        "state": row.state,
        "reason": row.reason,
        "started_at": row.started_at,
        "finished_at": row.finished_at,
        "metrics": row.metrics,
        "flags": row.flags,
        "limits": row.limits,
        "result": None,
    }
    if result is not None:
        histogram = result.histogram
        document |= {
            "result": result.document,
            "histogram": base64.b64encode(histogram).decode() if histogram else None,
            "source_facts": result.source_facts_id,
            "sink_facts": result.sink_facts_id,
        }
    return document


def _facts(results: Iterable[Result]) -> dict[str, Any]:
    rows = (facts for result in results for facts in (result.source_facts, result.sink_facts) if facts)
    return {str(facts.pk): facts.document for facts in rows}
