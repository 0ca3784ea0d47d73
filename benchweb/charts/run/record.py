"""A run with all that its page, its share and its Markdown tell: its names are references, and nothing is looked up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson
from pydantic import TypeAdapter

from benchweb.catalog import catalog
from benchweb.catalog.reasons import Reason
from benchweb.charts.run.charts import trial_charts
from benchweb.charts.run.confidence import DisplayedCombination, displayed_combinations
from benchweb.charts.run.export import run_names
from benchweb.charts.run.reproduce import TrialCommand, run_commands
from benchweb.charts.run.verdict import Headline, VerdictSentence, limit_words, metric_headlines, verdict
from benchweb.documents.charts import ChartSpec, written_value
from benchweb.documents.document import RowId
from benchweb.documents.hidden import LEFT_OUT, hidden_fields, hidden_value
from benchweb.documents.json_file import unlinked
from benchweb.documents.nameless import EngineDocument, KindParams
from benchweb.documents.references import (
    Label,
    endpoint_ref,
    environment_ref,
    free_text,
    host_ref,
    kind_ref,
    plan_ref,
    reason_label,
)
from benchweb.hosts.facts.mtu import mtu_words
from benchweb.results.confidence import run_confidence
from benchweb.results.selectors import TrialRow, facts_of_runs
from benchweb.runs.models import OPEN_STATES, Run, RunEvent

# A page of this many trials stays readable; the exports have all of them.
TRIALS_DISPLAYED = 200
_EVENTS_DISPLAYED = 200


@dataclass(frozen=True)
class RecordedEvent:
    """What happened, and when."""

    at: datetime
    text: str


@dataclass(frozen=True)
class RecordedLimit:
    """What limited a trial, in words."""

    label: str
    summary: str


@dataclass(frozen=True)
class RecordedTrial:
    """A trial with its headline figure; `value` is None where it has none, with the reason in `missing`."""

    index: int
    kind: str
    kind_label: str
    params: dict[str, Any]
    repetition: int
    state: str
    reason: str
    label: str
    unit: str
    value: float | None
    missing: str
    limits: list[RecordedLimit]
    flags: list[str]


@dataclass(frozen=True)
class RecordedConfidence:
    """What the plan asked for and what its run came to."""

    words: str
    sentence: str
    is_reached: bool
    level_percent: float
    width_percent: float
    rows: list[DisplayedCombination]


@dataclass(frozen=True)
class RunRecord:
    """A run in one language, as a share stores it; `run` is None where names are hidden.

    A field added later needs a default.
    """

    run: int | None
    plan: str
    plan_version: int
    source: str
    sink: str
    source_host: str
    sink_host: str
    environment: str
    state: str
    reason: str
    is_open: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    verdict: VerdictSentence
    confidence: RecordedConfidence | None
    trials: list[RecordedTrial]
    trials_hidden: int
    charts: list[ChartSpec]
    source_facts: dict[str, Any]
    sink_facts: dict[str, Any]
    commands: list[TrialCommand]
    events: list[RecordedEvent]
    # Every metric where it was best, for badges.
    figures: list[Headline]
    # Made up by generate_history, and to be said wherever its figures are.
    is_synthetic: bool = False
    # What the facts of the two ends tell that may have spoiled the run; empty for nothing.
    facts_note: str = ""
    # When its trials' intervals went for its age.
    intervals_removed_at: datetime | None = None
    details_removed_at: datetime | None = None


_RECORD = TypeAdapter(RunRecord)


def run_record(run: Run, trials: Sequence[TrialRow], *, is_live: bool = False) -> RunRecord:
    """Record a run in the active language; it comes with what names it. Reads facts and events in two queries.

    One that is live tells by its charts what may still come, and has no figures for badges.
    """
    is_open = run.state in OPEN_STATES
    names = run_names(run)
    source_facts, sink_facts = facts_of_runs([run.pk]).get(run.pk, ({}, {}))
    events = RunEvent.objects.filter(run=run).order_by("pk")[:_EVENTS_DISPLAYED]
    version, pair = run.plan_version, run.pair
    return RunRecord(
        run=RowId(run.pk),
        plan=plan_ref(version.plan.name),
        plan_version=version.number,
        source=endpoint_ref(pair.source),
        sink=endpoint_ref(pair.sink),
        source_host=host_ref(pair.source.host_id, pair.source.host_name),
        sink_host=host_ref(pair.sink.host_id, pair.sink.host_name),
        environment=environment_ref(pair.environment.name),
        state=run.state,
        reason=reason_label(run.why, names),
        is_open=is_open,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        verdict=verdict(trials, version.plan.main_size_bytes),
        confidence=_confidence(run, trials),
        trials=[_trial(trial, names) for trial in trials[:TRIALS_DISPLAYED]],
        trials_hidden=max(0, len(trials) - TRIALS_DISPLAYED),
        charts=trial_charts(trials, is_open=is_live and is_open, names=names),
        source_facts=EngineDocument(source_facts),
        sink_facts=EngineDocument(sink_facts),
        commands=run_commands(run, trials[:TRIALS_DISPLAYED]),
        events=[RecordedEvent(event.at, reason_label(event.what, names)) for event in events],
        figures=[] if is_live else metric_headlines(trials, version.plan.main_size_bytes),
        is_synthetic=pair.source.host.is_synthetic or pair.sink.host.is_synthetic,
        facts_note=mtu_words(pair, source_facts, sink_facts),
        intervals_removed_at=run.intervals_removed_at,
        details_removed_at=run.details_removed_at,
    )


@hidden_value.register
def _(value: RunRecord) -> RunRecord:
    record: RunRecord = hidden_fields(value)
    return replace(record, events=[event for event in record.events if event.text != LEFT_OUT])


def stored_record(record: RunRecord) -> dict[str, Any]:
    """Return what a share stores, with no links into the dashboard."""
    stored: dict[str, Any] = orjson.loads(orjson.dumps(record, default=written_value, option=orjson.OPT_UTC_Z))
    return stored | {"charts": [unlinked(chart) for chart in stored["charts"]]}


def record_of(stored: Mapping[str, Any]) -> RunRecord:
    """Read what a share stores."""
    return _RECORD.validate_python(stored)


def _trial(trial: TrialRow, names: Mapping[str, Label]) -> RecordedTrial:
    kind = catalog().kinds.get(trial.kind)
    metric = kind.metrics[kind.headline] if kind else None
    missing = trial.why or Reason("trial_in_state", state=Reason(f"state_{trial.state}"))
    known = catalog().flags
    return RecordedTrial(
        index=trial.index,
        kind=kind_ref(trial.kind),
        kind_label=kind.label if kind else kind_ref(trial.kind),
        params=KindParams(trial.kind, trial.params),
        repetition=trial.repetition,
        state=trial.state,
        reason=reason_label(trial.why, names),
        label=metric.label if metric else "",
        unit=metric.unit if metric else "",
        value=trial.metrics.get(metric.key) if metric else None,
        missing=reason_label(missing, names),
        limits=[RecordedLimit(limit_words(limit["by"]), free_text(limit["summary"])) for limit in trial.limits],
        flags=[flag if flag in known else free_text(flag) for flag in trial.flags],
    )


def _confidence(run: Run, trials: Sequence[TrialRow]) -> RecordedConfidence | None:
    confidence = run_confidence(run.plan_version, trials)
    if confidence is None:
        return None
    return RecordedConfidence(
        words=reason_label(confidence.requested.words),
        sentence=reason_label(confidence.sentence),
        is_reached=confidence.is_reached,
        level_percent=confidence.requested.level_percent,
        width_percent=confidence.requested.width_percent,
        rows=displayed_combinations(confidence),
    )
