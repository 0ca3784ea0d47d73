"""A run as CSV and as JSON, the same for the API, the pages and shares; for a share perhaps without names."""

import base64
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, TypeVar

from django.utils import translation

from benchweb.catalog import catalog, nested_text
from benchweb.catalog.reasons import reason_items
from benchweb.charts.export import PAIR_IDS, pair_ids
from benchweb.charts.run.confidence import confidence_document
from benchweb.documents.csv_file import csv_parts
from benchweb.documents.document import DocumentTable, PlacedId, RowId
from benchweb.documents.hidden import hidden, hidden_reason, pseudonyms_of
from benchweb.documents.moments import rfc3339
from benchweb.documents.nameless import EngineDocument, KindParams, is_chosen_freely
from benchweb.documents.references import (
    Label,
    address_ref,
    endpoint_ref,
    environment_ref,
    free_text,
    host_ref,
    joined_label,
    kind_ref,
    plan_ref,
    reason_naming,
    uplink_ref,
    value_ref,
)
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
# Of a limit without names at least this: who reads the file counts on it.
_LIMIT = {"by": "unknown", "summary": ""}
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


@dataclass(frozen=True)
class _Writing:
    """How a run's JSON is written, with what it names or without; facts are numbered as they come."""

    names: Mapping[str, Label]
    is_nameless: bool
    facts: dict[int, PlacedId] = field(default_factory=dict)

    def reason(self, reason: str) -> dict[str, Any]:
        """Return a reason as documents have it."""
        return reason_items("reason", hidden_reason(reason, pseudonyms_of(self.names)) if self.is_nameless else reason)

    def part(self, value: Item) -> Item:
        """Return a part of the document as it is written."""
        return _hidden_in_english(value) if self.is_nameless else value

    def facts_id(self, facts_id: int | None) -> PlacedId | None:
        """Return what the facts of an end are found by."""
        if facts_id is None:
            return None
        return self.facts.setdefault(facts_id, PlacedId(facts_id, len(self.facts) + 1))


def run_names(run: Run) -> dict[str, Label]:
    """Return what a run's reasons may name, by how they do."""
    version, pair = run.plan_version, run.pair
    names = {
        version.plan.name: plan_ref(version.plan.name),
        pair.environment.name: environment_ref(pair.environment.name),
    }
    for end in (pair.source, pair.sink):
        names |= {str(end): endpoint_ref(end), end.host_name: host_ref(end.host_id, end.host_name)}
        names |= {address: address_ref(address) for address in (end.control_address, end.data_address) if address}
        names |= {end.host.uplink: uplink_ref(end.host.uplink)} if end.host.uplink else {}
    return names


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
    """Return the CSV of a run, part by part. Goes through the trials twice."""
    columns, parts = _figures(run, content.trials)
    return csv_parts(columns, parts)


def figures_table(run: Run, trials: Sequence[TrialRow]) -> DocumentTable:
    """Return the rows of the CSV, which know what they name."""
    columns, parts = _figures(run, lambda: trials)
    return DocumentTable("", columns, [row for rows in parts for row in rows])


def _figures(run: Run, trials: Callable[[], Iterable[TrialRow]]) -> tuple[list[str], Iterator[Iterator[list[Any]]]]:
    """Return the columns and, part by part, the rows."""
    params, metrics = _names(trials())
    confidence = run_confidence(run.plan_version, trials())
    sure = _SURE if confidence else ()
    columns = [*_BEFORE_PARAMS, *params, *_AFTER_PARAMS, *metrics, "flags", "limited_by", *sure, *PAIR_IDS]
    ids, names = pair_ids(run.pair).values(), run_names(run)
    parts = (
        ([*_values(run, names, row, params, metrics), *_sure(confidence, row), *ids] for row in rows)
        for rows in _in_parts(trials(), _ROWS_AT_ONCE)
    )
    return columns, parts


def run_json(run: Run) -> Iterator[str]:
    """Return the run with every result's whole document, part by part; facts come once, named by their id."""
    return json_of(run, stored_content(run))


def json_of(run: Run, content: Content, *, is_nameless: bool = False) -> Iterator[str]:
    """Return the JSON of a run, part by part; without names in English, as it is with them."""
    writing = _Writing(run_names(run), is_nameless)
    confidence = confidence_document(run_confidence(run.plan_version, content.trials()))
    head = writing.part(_run_document(run, writing) | {"confidence": confidence})
    yield json_text(head).removesuffix("}") + ', "trials": ['
    between = ""
    for rows in _in_parts(content.trials(), _DOCUMENTS_AT_ONCE):
        results = content.results([row.id for row in rows if row.has_result])
        for row in rows:
            yield between
            yield from _trial_texts(row, results.get(row.id), content, writing)
            between = ", "
    yield '], "facts": {'
    between = ""
    for ids in _in_parts(sorted(writing.facts), _DOCUMENTS_AT_ONCE):
        documents = content.facts(ids).items()
        members = [(writing.part(writing.facts[pk]), writing.part(EngineDocument(facts))) for pk, facts in documents]
        yield between + ", ".join(f'"{number}": {json_text(facts)}' for number, facts in members)
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


def _trial_texts(row: TrialRow, result: Result | None, content: Content, writing: _Writing) -> Iterator[str]:
    document = writing.part(_trial_document(row, result, writing))
    if writing.is_nameless:
        document["limits"] = [_LIMIT | limit for limit in document["limits"]]
    if result is None or result.interval_count is None:
        yield json_text(document)
        return
    document["result"] = document["result"] | {"intervals": _PLACEHOLDER}
    parts = ([writing.part(EngineDocument(each)) for each in part] for part in content.intervals(row.id))
    yield from _with_intervals(json_text(document), parts)


def _with_intervals(text: str, parts: Iterable[Sequence[dict[str, Any]]]) -> Iterator[str]:
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


def _values(
    run: Run, names: Mapping[str, Label], row: TrialRow, params: Iterable[str], metrics: Iterable[str]
) -> list[Any]:
    return [
        RowId(run.pk),
        PlacedId(row.id, row.index),
        row.index,
        kind_ref(row.kind),
        *(_param(row, name) for name in params),
        row.repetition,
        row.state,
        # Of before the reason was said otherwise, what was said then.
        reason_naming(row.why if row.why == row.reason else row.reason, names),
        row.started_at,
        row.finished_at,
        *(free_text(value) if isinstance(value := row.metrics.get(key), str) else value for key in metrics),
        joined_label(_known(row.flags, catalog().flags), " "),
        joined_label(_known([limit["by"] for limit in row.limits], catalog().limits), " "),
    ]


def _param(row: TrialRow, name: str) -> Any:
    value, kind = row.params.get(name), catalog().kinds.get(row.kind)
    if value is None or isinstance(value, int | float):
        return value
    parameter = kind.series_parameters.get(name) if kind else None
    if parameter and not is_chosen_freely(parameter, value):
        return value
    return value_ref(nested_text(value) if isinstance(value, dict) else str(value))


def _known(words: Iterable[str], known: Collection[str]) -> list[str]:
    """Return words of the catalog, and others as free texts."""
    return [word if word in known else free_text(word) for word in words]


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
    return known + [value_ref(name) for name in sorted(used.difference(known))]


def _in_parts(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    left = iter(items)
    while part := list(islice(left, size)):
        yield part


def _hidden_in_english(value: Item) -> Item:
    # What programs read is the same in every language.
    with translation.override("en"):
        return hidden(value)


def _run_document(run: Run, writing: _Writing) -> dict[str, Any]:
    version, pair = run.plan_version, run.pair
    return {
        "schema": 1,
        "run": RowId(run.pk),
        "state": run.state,
        **writing.reason(run.why),
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "intervals_removed_at": run.intervals_removed_at,
        "details_removed_at": run.details_removed_at,
        "plan": {
            "id": RowId(version.plan_id),
            "name": plan_ref(version.plan.name),
            "version": version.number,
            "repetitions": version.repetitions,
            "order": version.order,
            "pause_seconds": version.pause_seconds,
            "confidence": version.confidence,
            "steps": list(map(EngineDocument, version.steps)),
        },
        "pair": {
            "id": RowId(pair.pk),
            "source": _end_document(pair.source),
            "sink": _end_document(pair.sink),
            "environment": {"id": RowId(pair.environment_id), "name": environment_ref(pair.environment.name)},
        },
    }


def _end_document(endpoint: Endpoint) -> dict[str, Any]:
    return {"endpoint": RowId(endpoint.pk), "name": endpoint_ref(endpoint), "host": RowId(endpoint.host_id)}


def _trial_document(row: TrialRow, result: Result | None, writing: _Writing) -> dict[str, Any]:
    document: dict[str, Any] = {
        "trial": PlacedId(row.id, row.index),
        "index": row.index,
        "kind": kind_ref(row.kind),
        "params": KindParams(row.kind, row.params),
        "repetition": row.repetition,
        "state": row.state,
        **writing.reason(row.why),
        "started_at": row.started_at,
        "finished_at": row.finished_at,
        "metrics": EngineDocument(row.metrics),
        "flags": _known(row.flags, catalog().flags),
        "limits": list(map(EngineDocument, row.limits)),
        "result": None,
    }
    if result is not None:
        histogram = result.histogram
        document |= {
            "result": EngineDocument(result.document),
            "histogram": base64.b64encode(histogram).decode() if histogram else None,
            "source_facts": writing.facts_id(result.source_facts_id),
            "sink_facts": writing.facts_id(result.sink_facts_id),
        }
    return document
