"""Take a trial's result into the database: one transaction, at most once, whatever is retried."""

import base64
import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from benchweb.catalog import catalog
from benchweb.catalog.reasons import Reason, reason_data
from benchweb.common.rows import fetch_column, literals
from benchweb.common.storable import TooDeepError, is_figure, storable, storable_text
from benchweb.hosts.facts.records import facts_reported, facts_store
from benchweb.hosts.facts.shapes import facts_fault
from benchweb.results.course import MOST_DISPLAYED, thinned
from benchweb.results.models import IntervalPart, Series
from benchweb.results.shapes import result_fault
from benchweb.runs import live
from benchweb.runs.models import OPEN_STATES, State, Trial

_METRICS_DISPLAYED_LIVE = 40
# Some three hundred kilobytes.
_INTERVALS_OF_A_PART = 400
# Ends the trial, and stores its result and points, if nobody has ended it before. By the database's clock alone: a
# worker's may have been stepped since the trial began.
_STORE = f"""
    WITH ended AS (
        UPDATE runs_trial SET state = %(state)s, reason = %(reason)s, reason_data = %(reason_data)s::jsonb,
            finished_at = statement_timestamp()
        WHERE id = %(trial)s AND state IN ({literals(OPEN_STATES)})
        RETURNING id, run_id, coalesce(started_at, finished_at) AS begun_at
    ), stored AS (
        INSERT INTO results_result
            (trial_id, metrics, flags, limits, document, interval_count, histogram, source_facts_id, sink_facts_id,
             created_at)
        SELECT id, %(metrics)s::jsonb, %(flags)s::jsonb, %(limits)s::jsonb, %(document)s::jsonb,
            %(interval_count)s::integer, %(histogram)s::bytea, %(source)s::bigint, %(sink)s::bigint,
            statement_timestamp()
        FROM ended
    ), points AS (
        INSERT INTO results_point (series_id, at, value, run_id, trial_id)
        SELECT series_id, begun_at, value, run_id, id
        FROM ended CROSS JOIN unnest(%(series)s::bigint[], %(values)s::float8[]) AS point (series_id, value)
    )
    SELECT id FROM ended
"""  # noqa: S608  (states of our own)


class ResultInvalid(ValueError):
    """An engine's document that isn't a result: what is wrong, and where in it."""


@dataclass(frozen=True)
class ParsedResult:
    """An engine's RESULT, checked: metrics are finite numbers that the catalog knows for the kind."""

    metrics: dict[str, float]
    flags: list[str]
    limits: list[dict[str, str]]
    histogram: bytes | None
    source_facts: dict[str, Any] | None
    sink_facts: dict[str, Any] | None
    document: dict[str, Any]
    # Of a long test all of its intervals, of which the document has the course alone; else none.
    intervals: list[dict[str, Any]] = field(default_factory=list)


def parsed_result(kind_name: str, document: Any) -> ParsedResult:
    """Check an engine's RESULT for a kind; raise ResultInvalid. Unknown metrics stay in the document."""
    if not isinstance(document, dict):
        raise ResultInvalid(Reason("result_no_object"))
    # Before anything that can't be stored is taken out: a metric that is no number is refused, not missing.
    metrics = _metrics(kind_name, document.get("metrics"))
    document = _storable(document)
    if document.get("kind") != kind_name:
        raise ResultInvalid(Reason("result_other_kind", answered=f"{document.get('kind')!r:.60}", kind_name=kind_name))
    rest = {key: value for key, value in document.items() if key not in {"source", "sink", "histogram"}}
    if fault := result_fault(rest):
        raise ResultInvalid(Reason("result_unreadable", fault=fault))
    # Older engines join none of a day's hundred thousand.
    intervals = thinned(rest.get("intervals") or [])
    is_long = len(intervals) > MOST_DISPLAYED
    if is_long:
        rest["intervals"] = thinned(intervals, MOST_DISPLAYED)
    return ParsedResult(
        metrics=metrics,
        flags=document.get("flags") or [],
        limits=_limits(document.get("limits") or []),
        histogram=_histogram(document.get("histogram")),
        source_facts=_facts(document, "source"),
        sink_facts=_facts(document, "sink"),
        document=rest,
        intervals=intervals if is_long else [],
    )


def ingest(*, trial: Trial, result: ParsedResult, state: State, reason: str = "") -> bool:
    """Store a result and end its trial; False, with nothing written, when the trial was final already.

    A whole result (state finished) gives points; a partial one is kept and shown, but joins no series.
    Raises django.db errors (such as a full disk) with nothing written: the engine keeps the result until then.
    """
    pair, sides = trial.run.pair, (result.source_facts, result.sink_facts)
    told = [
        facts_reported(endpoint_id=endpoint_id, document=document) if document else None
        for endpoint_id, document in zip((pair.source_id, pair.sink_id), sides, strict=True)
    ]
    # A partial result joins no series.
    metrics = result.metrics if state == State.FINISHED else {}
    with transaction.atomic():
        kept = facts_store([each for each in told if each])
        facts = [kept[each.key] if each else None for each in told]
        values = _values(result, *facts) | _points(_series(_series_key(trial), metrics) if metrics else {}, metrics)
        data = reason_data(reason)
        ended = {
            "state": str(state),
            "reason": storable_text(reason),
            "reason_data": json.dumps(data) if data else None,
        }
        if not fetch_column(_STORE, values | ended | {"trial": trial.pk}):
            transaction.set_rollback(True)
            return False
        _keep_intervals(trial, result.intervals)
        transaction.on_commit(lambda: _announce(trial, state, result))
    return True


def _storable(document: dict[str, Any]) -> dict[str, Any]:
    try:
        made: dict[str, Any] = storable(document)
    except TooDeepError as error:
        raise ResultInvalid(Reason("result_not_kept", error=str(error))) from error
    return made


def identity_digest(identity: dict[str, Any]) -> str:
    """Hash identity parameters, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class _SeriesKey:
    """What a trial's series have in common: all but their metric."""

    pair_id: int
    kind: str
    identity: dict[str, Any]
    digest: str


def _series_key(trial: Trial) -> _SeriesKey:
    identity = catalog().kinds[trial.kind].identity(trial.params)
    return _SeriesKey(trial.run.pair_id, trial.kind, identity, identity_digest(identity))


def _series(key: _SeriesKey, metrics: dict[str, float]) -> dict[str, int]:
    """Return the series of each metric by its id, made where there was none."""
    identity = {"pair_id": key.pair_id, "kind": key.kind, "identity_digest": key.digest}
    series = Series.objects.filter(**identity)
    known = dict(series.values_list("metric", "id"))
    if new := [metric for metric in metrics if metric not in known]:
        made = (Series(metric=metric, identity=key.identity, **identity) for metric in new)
        Series.objects.bulk_create(made, ignore_conflicts=True)
        return dict(series.values_list("metric", "id"))
    return known


def _values(result: ParsedResult, source: int | None, sink: int | None) -> dict[str, Any]:
    return {
        "metrics": json.dumps(result.metrics),
        "flags": json.dumps(result.flags),
        "limits": json.dumps(result.limits),
        "document": json.dumps(result.document),
        "interval_count": len(result.intervals) or None,
        "histogram": result.histogram,
        "source": source,
        "sink": sink,
    }


def _keep_intervals(trial: Trial, intervals: list[dict[str, Any]]) -> None:
    starts = range(0, len(intervals), _INTERVALS_OF_A_PART)
    IntervalPart.objects.bulk_create(
        IntervalPart(trial=trial, number=number, intervals=intervals[start : start + _INTERVALS_OF_A_PART])
        for number, start in enumerate(starts)
    )


def _points(series: dict[str, int], metrics: dict[str, float]) -> dict[str, Any]:
    return {"series": [series[metric] for metric in metrics], "values": list(metrics.values())}


def _metrics(kind_name: str, metrics: Any) -> dict[str, float]:
    if not isinstance(metrics, dict):
        raise ResultInvalid(Reason("result_without_metrics"))
    known = catalog().kinds[kind_name].metrics
    checked: dict[str, float] = {}
    for key, value in metrics.items():
        if key not in known or value is None:
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or (isinstance(value, float) and not math.isfinite(value)):
            raise ResultInvalid(Reason("result_metric_not_finite", key=key, value=f"{value!r:.60}"))
        if not is_figure(value):
            raise ResultInvalid(Reason("result_metric_too_large", key=key))
        checked[key] = float(value)
    return checked


def _limits(limits: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Keep what a list of trials shows of each direction's verdict."""
    return [{key: limit[key] for key in ("direction", "by", "summary")} for limit in limits]


def _histogram(histogram: Any) -> bytes | None:
    if histogram is None:
        return None
    try:
        return base64.b64decode(histogram["data"], validate=True)
    except (TypeError, KeyError, ValueError) as error:
        raise ResultInvalid(Reason("result_histogram_unreadable")) from error


def _facts(document: dict[str, Any], side: str) -> dict[str, Any] | None:
    facts = document.get(side)
    if facts is not None and not isinstance(facts, dict):
        raise ResultInvalid(Reason("result_facts_no_object", side=Reason(f"side_{side}")))
    if facts and (fault := facts_fault(facts)):
        raise ResultInvalid(Reason("result_facts_unreadable", side=Reason(f"side_{side}"), fault=fault))
    return facts


def _announce(trial: Trial, state: State, result: ParsedResult) -> None:
    shown = dict(list(result.metrics.items())[:_METRICS_DISPLAYED_LIVE])
    message = {"type": "trial", "trial": trial.pk, "index": trial.index, "state": state, "metrics": shown}
    live.publish(trial.run_id, message)
