"""Take a trial's result into the database: one transaction, at most once, whatever is retried."""

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.db import transaction

from benchweb.catalog import Kind, catalog
from benchweb.catalog.parts import SOURCES, TOOL
from benchweb.catalog.reasons import Reason, reason_data
from benchweb.common.rows import fetch, fetch_column, literals
from benchweb.common.storable import TooDeepError, is_figure, storable, storable_text
from benchweb.hosts.facts.records import facts_reported, facts_store
from benchweb.hosts.facts.shapes import facts_fault
from benchweb.results.course import MOST_DISPLAYED, thinned
from benchweb.results.models import IntervalPart, Series
from benchweb.results.shapes import result_fault
from benchweb.runs import live
from benchweb.runs.models import OPEN_STATES, State, Trial
from benchweb.toolformats.host.littles_law import broken, least_share

_METRICS_DISPLAYED_LIVE = 40
# What the engine calls its own way to measure.
_NATIVE = "native"
# The flag of figures that can't be true together, and where both are in the document.
LAW = "littles_law"
# The flag of a rate that counts answers which were errors, and the share of them from which on it is given.
FAILED = "responses_failed"
_MOST_FAILED = 0.01
# Where a document has when its sink's session began, by the sink's clock.
SINK_STARTED_AT = "sink_started_at"
# Some three hundred kilobytes.
_INTERVALS_OF_A_PART = 400
# Ends the trial, and stores its result and points, if nobody has ended it before. By the database's clock alone: a
# worker's may have been stepped since the trial began.
_STORE = f"""
    WITH ended AS (
        UPDATE runs_trial SET state = %(state)s, reason = %(reason)s, reason_data = %(reason_data)s::jsonb,
            params = params || %(added)s::jsonb, finished_at = statement_timestamp()
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
    # The tool that the engine had measure, such as fio; empty where it measured itself.
    tool: str = ""
    # How many sources tested the sink at once.
    sources: int = 1

    @property
    def added(self) -> dict[str, Any]:
        """Return the parameters that tell its series from the engine's own of a source alone."""
        given = {TOOL.name: self.tool or TOOL.default, SOURCES.name: self.sources}
        return {name: value for name, value in given.items() if value not in (TOOL.default, SOURCES.default)}


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
    kind = catalog().kinds[kind_name]
    params = kind.filled(document.get("params") or {})
    law, law_figures = law_flags(kind, params, metrics)
    return ParsedResult(
        metrics=metrics,
        flags=[*(document.get("flags") or []), *law, *failed_flags(params, metrics)],
        limits=_limits(document.get("limits") or []),
        histogram=_histogram(document.get("histogram")),
        source_facts=_facts(document, "source"),
        sink_facts=_facts(document, "sink"),
        document=rest | law_figures,
        intervals=intervals if is_long else [],
        tool=_tool(document),
    )


def with_others(result: ParsedResult, beside: Mapping[str, Any]) -> ParsedResult:
    """Return the result of a run that started together with others, with how many they were and when its sink began."""
    if not beside:
        return result
    return replace(
        result,
        document=result.document | {SINK_STARTED_AT: storable_text(str(beside[SINK_STARTED_AT]))},
        sources=beside[SOURCES.name],
    )


def ingest(*, trial: Trial, result: ParsedResult, state: State, reason: str = "") -> bool:
    """Store a result and end its trial; False, with nothing written, when the trial was final already.

    A whole result (state finished) gives points; a partial one is kept and shown, but joins no series.
    Raises django.db errors (such as a full disk) with nothing written: the engine keeps the result until then.
    """
    pair, sides = trial.run.pair, (result.source_facts, result.sink_facts)
    reported = [
        facts_reported(endpoint_id=endpoint_id, document=document) if document else None
        for endpoint_id, document in zip((pair.source_id, pair.sink_id), sides, strict=True)
    ]
    # A partial result joins no series.
    metrics = result.metrics if state == State.FINISHED else {}
    with transaction.atomic():
        pk_of_facts = facts_store([facts for facts in reported if facts])
        facts = [pk_of_facts[facts.key] if facts else None for facts in reported]
        key = _series_key(trial, result.added)
        values = _values(result, *facts) | _points(_series(key, metrics) if metrics else {}, metrics)
        data = reason_data(reason)
        ended = {
            "state": str(state),
            "reason": storable_text(reason),
            "reason_data": json.dumps(data) if data else None,
            "added": json.dumps(result.added),
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


def _series_key(trial: Trial, added: Mapping[str, Any]) -> _SeriesKey:
    identity = catalog().kinds[trial.kind].identity(trial.params | dict(added))
    return _SeriesKey(trial.run.pair_id, trial.kind, identity, identity_digest(identity))


class _SeriesOfMetric(NamedTuple):
    """A series of a test by its metric."""

    metric: str
    id: int


# As the points' foreign keys do at the end of the transaction: Django's ORM knows stronger locks alone.
_KNOWN_SERIES = """
    SELECT metric, id FROM results_series
    WHERE pair_id = %(pair_id)s AND kind = %(kind)s AND identity_digest = %(identity_digest)s FOR KEY SHARE
"""


def _series(key: _SeriesKey, metrics: dict[str, float]) -> dict[str, int]:
    """Return the series of each metric by its id, made where there was none; none is deleted in this transaction."""
    identity = {"pair_id": key.pair_id, "kind": key.kind, "identity_digest": key.digest}
    known = _known_series(identity)
    if new := [metric for metric in metrics if metric not in known]:
        made = (Series(metric=metric, identity=key.identity, **identity) for metric in new)
        Series.objects.bulk_create(made, ignore_conflicts=True)
        return _known_series(identity)
    return known


def _known_series(identity: Mapping[str, Any]) -> dict[str, int]:
    return {row.metric: row.id for row in fetch(_SeriesOfMetric, _KNOWN_SERIES, identity)}


def series_of(trial: Trial, metrics: Mapping[str, float]) -> dict[str, int]:
    """Return the series of each metric of a trial by its id, made where there was none."""
    return _series(_series_key(trial, {}), dict(metrics))


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


def failed_flags(params: Mapping[str, Any], metrics: Mapping[str, float], requests: float | None = None) -> list[str]:
    """Return the flag of a rate of requests of which over 1 % were answered by errors; `requests` where counted."""
    failed = metrics.get("failed_responses", 0.0)
    seconds = params.get("duration_seconds")
    if requests is None and isinstance(seconds, int | float):
        requests = metrics.get("requests_per_second", 0.0) * seconds
    return [FAILED] if failed and requests is not None and failed > _MOST_FAILED * requests else []


def law_flags(
    kind: Kind, params: Mapping[str, Any], metrics: Mapping[str, float], *, is_imported: bool = False
) -> tuple[list[str], dict[str, Any]]:
    """Return the flag of figures that break Little's law, and both of its figures for the document.

    Judged are kinds with a queue depth, by operations per second and their mean latency; another tool's job may have
    fewer in flight than its depth.
    """
    if "depth" not in kind.parameters or not {"iops", "latency_mean_seconds"} <= metrics.keys():
        return [], {}
    filled = kind.filled(params)
    depth, jobs = filled["depth"], filled.get("jobs", 1)
    if not isinstance(depth, int | float) or not isinstance(jobs, int | float):
        return [], {}
    whole = float(depth * jobs)
    least = {"least": least_share(whole)} if is_imported else {}
    law = broken(metrics["iops"], metrics["latency_mean_seconds"], whole, **least)
    return ([LAW], {LAW: {"in_flight": law.in_flight, "depth": law.depth}}) if law else ([], {})


def _tool(document: dict[str, Any]) -> str:
    """Name the tool that the engine had measure, without its version."""
    variant = (document.get("host_test") or {}).get("variant") or ""
    return "" if variant == _NATIVE else variant.partition(" ")[0]


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
    metrics = dict(list(result.metrics.items())[:_METRICS_DISPLAYED_LIVE])
    message = {"type": "trial", "trial": trial.pk, "index": trial.index, "state": state, "metrics": metrics}
    live.publish(trial.run_id, message)
