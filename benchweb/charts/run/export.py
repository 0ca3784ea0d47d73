"""A run as CSV and as JSON, the same for the API and the pages."""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TypeVar

from benchweb.catalog import catalog
from benchweb.catalog.reasons import reason_items
from benchweb.charts.export import PAIR_IDS, pair_ids
from benchweb.charts.run.confidence import confidence_document
from benchweb.documents.csv_file import csv_parts
from benchweb.documents.moments import rfc3339
from benchweb.hosts.models import Endpoint
from benchweb.results.confidence import RunConfidence, run_confidence
from benchweb.results.models import Result
from benchweb.results.selectors import TrialRow, facts_documents, interval_parts, results_of_trials, trial_parts
from benchweb.runs.models import Run

_BEFORE_PARAMS = ("run", "trial", "index", "kind")
# Only where the plan asks for a confidence.
_SURE = ("confidence_width_percent", "confidence_reached")
_AFTER_PARAMS = ("repetition", "state", "reason", "started_at", "finished_at")
_ROWS_AT_ONCE = 500
# A document has tens of kilobytes, one of many flows megabytes.
_DOCUMENTS_AT_ONCE = 8
# Where a long test's intervals go: no stored text has this character.
_PLACEHOLDER = "\0"
Item = TypeVar("Item")


@dataclass(frozen=True)
class Content:
    """Where an export finds a run's rows: each is called as often as it is needed, and holds few rows at a time."""

    trials: Callable[[], Iterable[TrialRow]]
    # By the ids of their trials, and without facts.
    results: Callable[[Sequence[int]], Mapping[int, Result]]
    facts: Callable[[Sequence[int]], Mapping[int, dict[str, Any]]]
    # Of one trial.
    intervals: Callable[[int], Iterable[list[dict[str, Any]]]]


def stored_content(run: Run) -> Content:
    """Return a run's content as it is in the database."""
    return Content(
        trials=lambda: chain.from_iterable(trial_parts(run.pk)),
        results=results_of_trials,
        facts=facts_documents,
        intervals=interval_parts,
    )


def run_csv(run: Run) -> Iterator[str]:
    """Return a row per trial, part by part: parameters and metrics under their catalog names, which end in their unit.

    Numbers are in full precision, a metric that wasn't measured is an empty cell.
    """
    return csv_of(run, stored_content(run))


def csv_of(run: Run, content: Content) -> Iterator[str]:
    """Return the CSV of a run, part by part; an id that is None is an empty cell. Goes through the trials twice."""
    params, metrics = _names(content.trials())
    confidence = run_confidence(run.plan_version, content.trials())
    sure = _SURE if confidence else ()
    columns = [*_BEFORE_PARAMS, *params, *_AFTER_PARAMS, *metrics, "flags", "limited_by", *sure, *PAIR_IDS]
    ids = pair_ids(run.pair).values()
    parts = (
        ([*_values(run, row, params, metrics), *_sure(confidence, row), *ids] for row in rows)
        for rows in _in_parts(content.trials(), _ROWS_AT_ONCE)
    )
    return csv_parts(columns, parts)


def run_json(run: Run) -> Iterator[str]:
    """Return the run with every result's whole document, part by part; facts come once, named by their id."""
    return json_of(run, stored_content(run))


def json_of(run: Run, content: Content) -> Iterator[str]:
    """Return the JSON of a run, part by part."""
    confidence = confidence_document(run_confidence(run.plan_version, content.trials()))
    yield json_text(_run_document(run) | {"confidence": confidence}).removesuffix("}") + ', "trials": ['
    facts_ids: set[int] = set()
    between = ""
    for rows in _in_parts(content.trials(), _DOCUMENTS_AT_ONCE):
        results = content.results([row.id for row in rows if row.has_result])
        for row in rows:
            yield between
            yield from _trial_texts(row, results.get(row.id), content)
            between = ", "
        facts_ids |= {pk for result in results.values() for pk in (result.source_facts_id, result.sink_facts_id) if pk}
    yield '], "facts": {'
    between = ""
    for ids in _in_parts(sorted(facts_ids), _DOCUMENTS_AT_ONCE):
        members = [f'"{pk}": {json_text(facts)}' for pk, facts in content.facts(ids).items()]
        yield between + ", ".join(members)
        between = ", "
    yield "}}"


def json_text(document: dict[str, Any]) -> str:
    """Write a document: times in UTC with all microseconds, words as they are."""
    return json.dumps(document, default=rfc3339, ensure_ascii=False)


def engine_json(result: Result) -> Iterator[str]:
    """Return one result as the engine told it, part by part."""
    if result.interval_count is None:
        yield json_text(engine_document(result))
        return
    document = engine_document(result)
    document["intervals"] = _PLACEHOLDER
    yield from _with_intervals(json_text(document), interval_parts(result.trial_id))


def _trial_texts(row: TrialRow, result: Result | None, content: Content) -> Iterator[str]:
    document = _trial_document(row, result)
    if result is None or result.interval_count is None:
        yield json_text(document)
        return
    document["result"] = result.document | {"intervals": _PLACEHOLDER}
    yield from _with_intervals(json_text(document), content.intervals(row.id))


def _with_intervals(text: str, parts: Iterable[list[dict[str, Any]]]) -> Iterator[str]:
    """Put intervals into the text of a document, in the one place that is kept for them."""
    before, after = text.split(json.dumps(_PLACEHOLDER), 1)
    yield before + "["
    between = ""
    for part in parts:
        yield between + ", ".join(map(json_text, part))
        between = ", "
    yield "]" + after


def engine_document(result: Result) -> dict[str, Any]:
    """Return one result as the engine told it, facts and latency distribution back in their places.

    Of a long test it has the course that pages show.
    """
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
    combination = confidence.of(row)
    return [combination.width_percent, combination.is_reached] if combination else [None, None]


def _names(rows: Iterable[TrialRow]) -> tuple[list[str], list[str]]:
    """Return the parameters and the metrics that any row has, in the catalog's order, others after them."""
    params: set[str] = set()
    metrics: set[str] = set()
    for row in rows:
        params.update(row.params)
        metrics.update(row.metrics)
    return _ordered(params, catalog().document["parameters"]), _ordered(metrics, catalog().metrics)


def _ordered(used: set[str], names: Iterable[str]) -> list[str]:
    known = [name for name in names if name in used]
    return known + sorted(used.difference(known))


def _in_parts(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    left = iter(items)
    while part := list(islice(left, size)):
        yield part


def _run_document(run: Run) -> dict[str, Any]:
    version, pair = run.plan_version, run.pair
    return {
        "schema": 1,
        "run": run.pk,
        "state": run.state,
        **reason_items("reason", run.why),
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
        **reason_items("reason", row.why),
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
