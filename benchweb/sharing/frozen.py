"""A run as it was when it was shared: all that its page shows, with nothing left to look up."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.conf import settings
from django.utils import translation
from pydantic import BaseModel

from benchweb.catalog import catalog
from benchweb.catalog.reasons import Reason
from benchweb.catalog.translation import reason_text
from benchweb.charts.run.charts import trial_charts
from benchweb.charts.run.confidence import displayed_combinations
from benchweb.charts.run.export import Content, csv_of, json_of
from benchweb.charts.run.reproduce import TrialCommand, run_commands
from benchweb.charts.run.verdict import Headline, VerdictSentence, limit_words, metric_headlines, verdict
from benchweb.documents.charts import charts_text
from benchweb.documents.json_file import unlinked
from benchweb.hosts.facts.mtu import mtu_words
from benchweb.results.confidence import run_confidence
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import OPEN_STATES, Run

# A page of this many trials stays readable; the exports have all of them.
TRIALS_DISPLAYED = 200


class FrozenEvent(BaseModel):
    """What happened, and when."""

    at: datetime
    text: str


@dataclass(frozen=True)
class RunContent:
    """What a snapshot is made of: a run with all that names it, its trials and events, and what is exported."""

    run: Run
    trials: list[TrialRow]
    # Source's and sink's, as they came with the last result that has some.
    facts: tuple[dict[str, Any], dict[str, Any]]
    events: list[tuple[datetime, str]]
    exported: Content


class FrozenLimit(BaseModel):
    """What limited a trial, in words."""

    label: str
    summary: str


class FrozenTrial(BaseModel):
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
    limits: list[FrozenLimit]
    flags: list[str]


class FrozenCombination(BaseModel):
    """How sure a combination's mean is."""

    kind: str
    params: dict[str, Any]
    repetitions: int
    unit: str
    mean: float | None
    half_width: float | None
    width_percent: float | None
    is_reached: bool


class FrozenConfidence(BaseModel):
    """What the plan asked for and what its run came to."""

    words: str
    sentence: str
    is_reached: bool
    level_percent: float
    width_percent: float
    rows: list[FrozenCombination]


class FrozenRun(BaseModel):
    """The page's content; `run` is None where names are replaced. A field added later needs a default."""

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
    confidence: FrozenConfidence | None
    trials: list[FrozenTrial]
    trials_hidden: int
    charts: list[dict[str, Any]]
    source_facts: dict[str, Any]
    sink_facts: dict[str, Any]
    commands: list[TrialCommand]
    events: list[FrozenEvent]
    # Every metric where it was best, for badges.
    figures: list[Headline]
    # Made up by generate_history, and to be said wherever its figures are.
    is_synthetic: bool = False
    # What the facts of the two ends tell that may have spoiled the run; empty for nothing.
    facts_note: str = ""


@dataclass(frozen=True)
class Snapshot:
    """A frozen run, once in each language by its code, and both its exports, part by part."""

    pages: dict[str, FrozenRun]
    csv: Iterator[str]
    document: Iterator[str]


def snapshot(content: RunContent) -> Snapshot:
    """Freeze a run; no query but for the parts of its exports."""
    run = content.run
    return Snapshot(
        pages={language: _page_in(language, content) for language, _name in settings.LANGUAGES},
        csv=csv_of(run, content.exported),
        document=json_of(run, content.exported),
    )


def _page_in(language: str, content: RunContent) -> FrozenRun:
    # A label that is put together of many words can't be translated when it is read.
    with translation.override(language):
        return _page(content)


def _page(content: RunContent) -> FrozenRun:
    run, trials = content.run, content.trials
    source_facts, sink_facts = content.facts
    return FrozenRun(
        run=run.pk,
        plan=run.plan_version.plan.name,
        plan_version=run.plan_version.number,
        source=str(run.pair.source),
        sink=str(run.pair.sink),
        source_host=run.pair.source.host.name,
        sink_host=run.pair.sink.host.name,
        environment=run.pair.environment.name,
        state=run.state,
        reason=reason_text(run.why),
        is_open=run.state in OPEN_STATES,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        verdict=verdict(run, trials),
        confidence=_confidence(run, trials),
        trials=[_trial(trial) for trial in trials[:TRIALS_DISPLAYED]],
        trials_hidden=max(0, len(trials) - TRIALS_DISPLAYED),
        charts=[unlinked(chart) for chart in orjson.loads(charts_text(trial_charts(trials, is_open=False)))],
        source_facts=source_facts,
        sink_facts=sink_facts,
        commands=run_commands(run, trials[:TRIALS_DISPLAYED]),
        events=[FrozenEvent(at=at, text=reason_text(text)) for at, text in content.events],
        figures=metric_headlines(trials),
        is_synthetic=run.pair.source.host.is_synthetic or run.pair.sink.host.is_synthetic,
        facts_note=mtu_words(run.pair, source_facts, sink_facts),
    )


def _trial(trial: TrialRow) -> FrozenTrial:
    kind = catalog().kinds.get(trial.kind)
    metric = kind.metrics[kind.headline] if kind else None
    return FrozenTrial(
        index=trial.index,
        kind=trial.kind,
        kind_label=kind.label if kind else trial.kind,
        params=trial.params,
        repetition=trial.repetition,
        state=trial.state,
        reason=reason_text(trial.why),
        label=metric.label if metric else "",
        unit=metric.unit if metric else "",
        value=trial.metrics.get(metric.key) if metric else None,
        missing=reason_text(trial.why or Reason("trial_in_state", state=Reason(f"state_{trial.state}"))),
        limits=[FrozenLimit(label=limit_words(limit["by"]), summary=limit["summary"]) for limit in trial.limits],
        flags=trial.flags,
    )


def _confidence(run: Run, trials: list[TrialRow]) -> FrozenConfidence | None:
    confidence = run_confidence(run.plan_version, trials)
    if confidence is None:
        return None
    return FrozenConfidence(
        words=reason_text(confidence.requested.words),
        sentence=reason_text(confidence.sentence),
        is_reached=confidence.is_reached,
        level_percent=confidence.requested.level_percent,
        width_percent=confidence.requested.width_percent,
        rows=[
            FrozenCombination(
                kind=row.combination.kind,
                params=row.combination.params,
                repetitions=row.combination.repetitions,
                unit=row.metric.unit if row.metric else "",
                mean=row.mean,
                half_width=row.half_width,
                width_percent=row.width_percent,
                is_reached=row.combination.is_reached,
            )
            for row in displayed_combinations(confidence)
        ],
    )
