"""Take a trial's result into the database: one transaction, at most once, whatever is retried."""

import base64
import binascii
import hashlib
import json
import math
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from benchweb.catalog import catalog
from benchweb.hosts.services import facts_record
from benchweb.results.models import Point, Result, Series
from benchweb.runs import live
from benchweb.runs.models import OPEN_STATES, State, Trial

_METRICS_SHOWN_LIVE = 40


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


def parsed_result(kind_name: str, document: Any) -> ParsedResult:
    """Check an engine's RESULT for a kind; raise ResultInvalid. Unknown metrics stay in the document."""
    if not isinstance(document, dict):
        raise ResultInvalid("The engine's result is not a JSON object.")
    if document.get("kind") != kind_name:
        raise ResultInvalid(f"The engine answered with kind {document.get('kind')!r:.60}, asked was {kind_name}.")
    rest = {key: value for key, value in document.items() if key not in {"source", "sink", "histogram"}}
    flags = document.get("flags") or []
    if not isinstance(flags, list) or not all(isinstance(flag, str) for flag in flags):
        raise ResultInvalid("The result's flags are not a list of words.")
    return ParsedResult(
        metrics=_metrics(kind_name, document.get("metrics")),
        flags=flags,
        limits=_limits(document.get("limits") or []),
        histogram=_histogram(document.get("histogram")),
        source_facts=_facts(document, "source"),
        sink_facts=_facts(document, "sink"),
        document=rest,
    )


def ingest(*, trial: Trial, result: ParsedResult, state: State, reason: str = "") -> bool:
    """Store a result and end its trial; False, with nothing written, when the trial was final already.

    A whole result (state finished) gives points; a partial one is kept and shown, but joins no series.
    Raises django.db errors (such as a full disk) with nothing written: the engine keeps the result until then.
    """
    with transaction.atomic():
        open_trial = Trial.objects.filter(pk=trial.pk, state__in=OPEN_STATES)
        if not open_trial.update(state=state, reason=reason, finished_at=Now()):
            return False
        # The database's clock alone: a worker's may have been stepped since the trial began.
        begun_at, at = Trial.objects.annotate(at=Now()).values_list("started_at", "at").get(pk=trial.pk)
        pair = trial.run.pair
        Result.objects.create(
            trial=trial,
            metrics=result.metrics,
            flags=result.flags,
            limits=result.limits,
            document=result.document,
            histogram=result.histogram,
            source_facts=_facts_row(pair.source_id, result.source_facts, at),
            sink_facts=_facts_row(pair.sink_id, result.sink_facts, at),
        )
        if state == State.FINISHED:
            _add_points(trial, result.metrics, at=begun_at or at)
        transaction.on_commit(lambda: _announce(trial, state, result))
    return True


def identity_digest(identity: dict[str, Any]) -> str:
    """Hash identity parameters, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _add_points(trial: Trial, metrics: dict[str, float], *, at: datetime) -> None:
    identity = catalog().kinds[trial.kind].identity(trial.params)
    digest = identity_digest(identity)
    pair_id = trial.run.pair_id
    key = {"pair_id": pair_id, "kind": trial.kind, "identity_digest": digest}
    ids = dict(Series.objects.filter(**key).values_list("metric", "pk"))
    if new := [Series(metric=metric, identity=identity, **key) for metric in metrics if metric not in ids]:
        Series.objects.bulk_create(new, ignore_conflicts=True)
        ids = dict(Series.objects.filter(**key).values_list("metric", "pk"))
    Point.objects.bulk_create(
        Point(series_id=ids[metric], at=at, value=value, run_id=trial.run_id, trial=trial)
        for metric, value in metrics.items()
    )


def _metrics(kind_name: str, metrics: Any) -> dict[str, float]:
    if not isinstance(metrics, dict):
        raise ResultInvalid("The result has no metrics.")
    known = catalog().kinds[kind_name].metrics
    checked: dict[str, float] = {}
    for key, value in metrics.items():
        if key not in known or value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ResultInvalid(f"The result's metric {key} is {value!r:.60}, which is no finite number.")
        checked[key] = float(value)
    return checked


def _limits(limits: Any) -> list[dict[str, str]]:
    """Keep what a list of trials shows of each direction's verdict."""
    try:
        return [{key: str(limit[key]) for key in ("direction", "by", "summary")} for limit in limits]
    except (TypeError, KeyError) as error:
        raise ResultInvalid("The result's limits are not a list of direction, by and summary.") from error


def _histogram(histogram: Any) -> bytes | None:
    if histogram is None:
        return None
    try:
        return base64.b64decode(histogram["data"], validate=True)
    except (TypeError, KeyError, binascii.Error) as error:
        raise ResultInvalid("The result's histogram can't be decoded from base64.") from error


def _facts(document: dict[str, Any], side: str) -> dict[str, Any] | None:
    facts = document.get(side)
    if facts is not None and not isinstance(facts, dict):
        raise ResultInvalid(f"The result's facts of the {side} are not a JSON object.")
    return facts


def _facts_row(endpoint_id: int, facts: dict[str, Any] | None, at: datetime) -> Any:
    return facts_record(endpoint_id=endpoint_id, document=facts, at=at) if facts else None


def _announce(trial: Trial, state: State, result: ParsedResult) -> None:
    shown = dict(list(result.metrics.items())[:_METRICS_SHOWN_LIVE])
    message = {"type": "trial", "trial": trial.pk, "index": trial.index, "state": state, "metrics": shown}
    live.publish(trial.run_id, message)
