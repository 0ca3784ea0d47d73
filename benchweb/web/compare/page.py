"""The compare page's prepared structure: runs as columns, measures as rows, what else differs, and the curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any, Protocol

from django.urls import reverse
from django.utils.translation import gettext as _

from benchweb.catalog import catalog
from benchweb.charts.comparison.charts import DrawnRun, comparison_charts
from benchweb.charts.comparison.rows import Entry, Measure, RunsComparison, compare_runs, left_the_catalog, narrowed
from benchweb.charts.export import pair_ids
from benchweb.documents.charts import ChartSpec
from benchweb.documents.references import (
    Label,
    environment_ref,
    joined_label,
    pair_ref,
    reason_label,
    run_ref,
    version_ref,
    worded,
)
from benchweb.results.selectors import TrialRow, facts_of_runs, trial_rows_of_runs
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.runs.selectors import runs_named
from benchweb.statistics import Verdict
from benchweb.web.compare.headline import ComparedHeadline, headline
from benchweb.web.compare.query import CompareQuery
from benchweb.web.compare.words import Words, apart_words, note_words, summary_words, words
from benchweb.web.facts.diff import ChangedFact, HostFacts, changed_facts

_Documents = dict[int, tuple[dict[str, Any], dict[str, Any]]]
# Of each run: eight repetitions show a change in one metric of forty.
REPETITIONS_WANTED = 8
_NO_FACTS: tuple[dict[str, Any], dict[str, Any]] = ({}, {})


@dataclass(frozen=True)
class RunColumn:
    """A run at the head of its column; `summary` and `judged` tell of its comparisons with the baseline."""

    run: Run
    label: str
    # The label where there is little room: its number alone.
    short: str
    is_baseline: bool
    is_open: bool
    summary: str
    # What of the runs themselves is not the baseline's, so that another path isn't taken for a change.
    apart: str
    judged: int
    baseline_url: str
    remove_url: str
    headline: ComparedHeadline | None
    # Why there is no figure where it was never to have one.
    absent: str


# Frozen it would take three times as long to make, and a page has hundreds.
@dataclass
class DisplayedEntry:
    """A run's figure of a measure; `missing` says why there is none, or why repetitions lack."""

    label: str
    entry: Entry
    words: Words | None
    missing: str


@dataclass(frozen=True)
class DisplayedRow:
    """A measure with its entries in the order of the columns."""

    measure: Measure
    entries: list[DisplayedEntry]


@dataclass(frozen=True)
class FactCell:
    """A run's value of a fact; empty where it isn't known."""

    label: str
    value: str
    changed: bool


@dataclass(frozen=True)
class FactRow:
    """A fact that differs between the runs, with a cell for each of them."""

    label: str
    ends: str
    is_changed: bool
    cells: list[FactCell]


@dataclass(frozen=True)
class Comparison:
    """Two or more runs compared."""

    # As its exports have it.
    compared: RunsComparison
    columns: list[RunColumn]
    rows: list[DisplayedRow]
    kinds: list[tuple[str, str]]
    left_out: list[str]
    facts: list[FactRow]
    without_facts: list[Run]
    charts: list[ChartSpec]
    # What many cells would have to say.
    note: str
    # The least repetitions of each run with which anything could be told; None where that is enough already.
    repetitions_wanted: int | None = None


def requested_runs(query: CompareQuery) -> list[Run]:
    """Read the runs in the query's order; one that doesn't exist is left out. One query."""
    found = runs_named().in_bulk(query.runs)
    return [found[pk] for pk in query.runs if pk in found]


def comparison(runs: Sequence[Run], query: CompareQuery) -> Comparison:
    """Prepare the comparison of runs, the baseline first; two queries: trials, facts of last results."""
    ids = [run.pk for run in runs]
    trials, documents = trial_rows_of_runs(ids), facts_of_runs(ids)
    compared = compare_runs([trials[run.pk] for run in runs], show=query.show, sort=query.sort)
    labels = _labels(runs, query.zone)
    columns = [
        _column(query, run, labels[run.pk], compared, index=index, apart=apart_words(runs[0], run))
        for index, run in enumerate(runs)
    ]
    facts, without_facts = _facts_changed(runs, documents)
    narrow = narrowed(compared, kind=query.kind, only_differing=query.is_differing)
    present = {row.measure.kind.name for row in compared.rows}
    rows = [
        DisplayedRow(
            row.measure, [displayed_entry(row.measure, *entry) for entry in zip(columns, row.entries, strict=True)]
        )
        for row in narrow.rows
    ]
    has_own_units = any(entry.words and entry.words.is_in_unit for row in rows for entry in row.entries)
    return Comparison(
        compared=narrow,
        columns=columns,
        rows=rows,
        kinds=[(kind.name, kind.label) for kind in catalog().kinds.values() if kind.name in present],
        left_out=left_the_catalog(trials.values()),
        facts=[_fact_row(columns, fact) for fact in facts],
        without_facts=without_facts,
        charts=comparison_charts(_drawn(runs, labels, trials, query.kind)),
        note=note_words(compared.counts, has_own_units=has_own_units),
        repetitions_wanted=REPETITIONS_WANTED if any(counts[Verdict.TOO_FEW] for counts in compared.counts) else None,
    )


def compared_charts(runs: Sequence[Run], query: CompareQuery) -> list[ChartSpec]:
    """Return the charts of a comparison alone; one query: trials."""
    trials = trial_rows_of_runs([run.pk for run in runs])
    return comparison_charts(_drawn(runs, _labels(runs, query.zone), trials, query.kind))


def facts_changed(runs: Sequence[Run]) -> tuple[list[ChangedFact], list[Run]]:
    """Return the facts that differ between the runs' last results, and the runs of which none are known; one query."""
    return _facts_changed(runs, facts_of_runs([run.pk for run in runs]))


def _facts_changed(runs: Sequence[Run], documents: _Documents) -> tuple[list[ChangedFact], list[Run]]:
    source = [HostFacts(run.pair.source_id, documents.get(run.pk, _NO_FACTS)[0]) for run in runs]
    sink = [HostFacts(run.pair.sink_id, documents.get(run.pk, _NO_FACTS)[1]) for run in runs]
    return changed_facts(source, sink), [run for run in runs if run.pk not in documents]


class AnyColumn(Protocol):
    """What a cell takes of its column."""

    @property
    def short(self) -> str: ...
    @property
    def judged(self) -> int: ...
    @property
    def absent(self) -> str: ...


def displayed_entry(measure: Measure, column: AnyColumn, entry: Entry) -> DisplayedEntry:
    """Prepare a cell."""
    return DisplayedEntry(
        label=column.short,
        entry=entry,
        words=words(entry, measure.metric, column.judged),
        missing=_("on other pairs: not compared") if entry.is_unmatched else _missing(entry, column),
    )


def _missing(entry: Entry, column: AnyColumn) -> str:
    return reason_label(entry.reason) if entry.is_planned else column.absent


def _fact_row(columns: Sequence[RunColumn], fact: ChangedFact) -> FactRow:
    by_column = zip(columns, fact.values, fact.changed, strict=True)
    cells = [FactCell(column.short, value, changed) for column, value, changed in by_column]
    return FactRow(fact.label, fact.ends, fact.is_changed, cells)


def _column(
    query: CompareQuery, run: Run, label: str, compared: RunsComparison, *, index: int, apart: str
) -> RunColumn:
    return RunColumn(
        run=run,
        label=label,
        short=_short(run),
        is_baseline=index == 0,
        is_open=run.state in OPEN_STATES,
        summary=summary_words(compared.counts[index]),
        apart=apart,
        judged=compared.judged[index],
        baseline_url=query.with_baseline(run.pk),
        remove_url=query.without(run.pk),
        headline=headline(compared.rows, index, compared.judged[index]) if index else None,
        absent=_("not in this run's plan"),
    )


def _short(run: Run) -> Label:
    return worded(_("Run %(id)s"), id=run_ref(run.pk))


def _labels(runs: Sequence[Run], zone: tzinfo) -> dict[int, Label]:
    """Name each run by its number and by what sets it apart from the others: pair, plan, environment, else when."""
    parts = [
        {run.pk: pair_ref(run.pair) for run in runs},
        {run.pk: version_ref(run.plan_version.plan.name, run.plan_version.number) for run in runs},
        {run.pk: environment_ref(run.pair.environment.name) for run in runs},
    ]
    apart = [part for part in parts if len(set(part.values())) > 1]
    if not apart:
        apart = [
            {run.pk: Label(f"{(run.started_at or run.created_at).astimezone(zone):%Y-%m-%d %H:%M}") for run in runs}
        ]
    return {run.pk: joined_label([_short(run), *(part[run.pk] for part in apart)]) for run in runs}


def _drawn(
    runs: Sequence[Run], labels: Mapping[int, str], trials: dict[int, list[TrialRow]], kind: str
) -> list[DrawnRun]:
    return [
        DrawnRun(
            id=run.pk,
            label=labels[run.pk],
            href=reverse("web:run", args=[run.pk]),
            trials=[trial for trial in trials[run.pk] if kind in ("", trial.kind)],
            ids=pair_ids(run.pair),
        )
        for run in runs
    ]
