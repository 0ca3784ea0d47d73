"""Runs beside each other, measure by measure: the first is the baseline. Made from the catalog, no branch per kind."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from benchweb.catalog import Kind, Metric, catalog
from benchweb.charts.lines import missing_reason
from benchweb.charts.run.verdict import Setting
from benchweb.results.selectors import TrialRow
from benchweb.statistics import Difference, Summary, Verdict, difference, summary, verdicts
from benchweb.statistics.alignment import aligned

# Which metrics: those that the kind's charts show, its headline alone, or whatever was measured.
SHOWN = ("main", "headline", "all")
SORTS = ("worst", "plan")
Change = Literal["worse", "better", "changed", ""]


@dataclass(frozen=True)
class Measure:
    """What is compared: a metric of a kind with parameters; those that any row of the kind sets are named in all."""

    kind: Kind
    params: dict[str, Any]
    metric: Metric


# How busy the hosts were explains results, and is none.
_OF_HOSTS = ("_cpu_ratio", "_core_ratio", "cpu_seconds_per_gigabyte")
HEADLINE, RESULT, OF_HOSTS = range(3)


def importance(measure: Measure) -> int:
    """Return whether a measure is its kind's headline, another result, or only how busy the hosts were."""
    if measure.metric.key == measure.kind.headline:
        return HEADLINE
    return OF_HOSTS if measure.metric.key.endswith(_OF_HOSTS) else RESULT


@dataclass
class Entry:
    """A run's figure of a measure; against the baseline there are a difference and a verdict, if both have values."""

    values: list[float]
    summary: Summary | None
    # Why values are missing, also where only some are.
    reason: str
    # Whether the run's plan has this measure at all.
    is_planned: bool
    # What this run set otherwise than the baseline without being another measure, such as the duration.
    set_otherwise: list[Setting] = field(default_factory=list)
    difference: Difference | None = None
    verdict: Verdict | None = None
    change: Change = ""
    # Of a set of runs the path of each value, in their order; of a single run nothing.
    paths: list[int] = field(default_factory=list)
    # Of a set of runs: it measured this on none of the baseline's paths, so that nothing is like the other.
    is_unmatched: bool = False


@dataclass(frozen=True)
class MeasureRow:
    """A measure with an entry per run, the baseline's first."""

    measure: Measure
    entries: list[Entry]


@dataclass(frozen=True)
class RunsComparison:
    """All measures of all runs; of each run `counts` its outcomes, and `judged` how many could have differed."""

    rows: list[MeasureRow]
    counts: list[Counter[str]]
    judged: list[int]


_Key = tuple[str, str]
_Groups = dict[_Key, list[TrialRow]]


def compare_runs(
    trials: Sequence[Sequence[TrialRow]],
    *,
    show: str = "main",
    sort: str = "worst",
    paths: Sequence[Mapping[int, int]] = (),
) -> RunsComparison:
    """Compare runs whose trials are at hand, the baseline's first.

    Each run's comparisons with the baseline are a family of their own: a run more beside them changes no verdict.
    Of sets of runs a trial stands for a run, and `paths` tell by its id which path it was on: those are aligned.
    """
    rows = _rows([_groups(trial) for trial in trials], show, paths)
    for column in range(1, len(trials)):
        _judge(rows, column)
    columns = range(len(trials))
    return RunsComparison(
        rows=sorted(rows, key=_badness) if sort == "worst" else rows,
        counts=[Counter(_outcome(row, column) for row in rows) for column in columns],
        judged=[sum(_could_tell(row.entries[column]) for row in rows) for column in columns],
    )


def narrowed(compared: RunsComparison, *, kind: str, only_differing: bool) -> RunsComparison:
    """Keep the rows of a kind, and those in which something differs; the verdicts stay those of the whole."""
    rows = [row for row in compared.rows if kind in ("", row.measure.kind.name)]
    return replace(compared, rows=[row for row in rows if _differs(row)] if only_differing else rows)


def _differs(row: MeasureRow) -> bool:
    """Tell whether any run is worse, better, perhaps either, or failed to measure what it should have."""
    return any(
        entry.change or entry.verdict == Verdict.PERHAPS or (entry.is_planned and not entry.values)
        for entry in row.entries
    )


def left_the_catalog(trials: Iterable[Sequence[TrialRow]]) -> list[str]:
    """Name the kinds of trials that the catalog doesn't know any more: they can't be compared."""
    return sorted({trial.kind for run in trials for trial in run} - catalog().kinds.keys())


def _groups(trials: Sequence[TrialRow]) -> _Groups:
    """Group a run's trials by what makes a series: kind and identity, so that another duration is the same measure."""
    kinds, keys, groups = catalog().kinds, dict[str, _Key](), _Groups()
    for trial in trials:
        if trial.kind not in kinds:
            continue
        written = f"{trial.kind} {trial.params}"
        if written not in keys:
            identity = kinds[trial.kind].identity(trial.params)
            keys[written] = trial.kind, json.dumps(identity, sort_keys=True)
        groups.setdefault(keys[written], []).append(trial)
    return groups


def metrics_shown(show: str) -> list[str]:
    """Name the metrics of all kinds that are compared; none for all of them."""
    kinds = catalog().kinds.values()
    return [] if show == "all" else sorted({metric.key for kind in kinds for metric in _metrics(kind, show)})


def _rows(runs: Sequence[_Groups], show: str, paths: Sequence[Mapping[int, int]]) -> list[MeasureRow]:
    """Return a row for each metric that any run measured, in the order of the plans."""
    places = dict.fromkeys(key for groups in runs for key in groups)
    identities: dict[_Key, dict[str, Any]] = {key: json.loads(key[1]) for key in places}
    named: dict[str, set[str]] = {}
    for (name, _), identity in identities.items():
        named.setdefault(name, set()).update(identity)
    rows = []
    for key, identity in identities.items():
        kind = catalog().kinds[key[0]]
        params = {name: identity.get(name, kind.series_parameters[name].default) for name in sorted(named[kind.name])}
        trials = [groups.get(key, []) for groups in runs]
        measured = {metric for each in trials for trial in each if trial.measured for metric in trial.metrics}
        rows += [
            MeasureRow(Measure(kind, params, metric), _entries(kind, trials, metric.key, paths))
            for metric in _metrics(kind, show)
            if metric.key in measured
        ]
    return rows


def _metrics(kind: Kind, show: str) -> list[Metric]:
    wanted = {kind.headline}
    if show == "main":
        wanted |= {metric for chart in kind.charts for metric in chart.metrics}
    return [metric for metric in kind.metrics.values() if show == "all" or metric.key in wanted]


def _entries(
    kind: Kind, runs: Sequence[Sequence[TrialRow]], metric: str, paths: Sequence[Mapping[int, int]]
) -> list[Entry]:
    entries = []
    for index, trials in enumerate(runs):
        measured = [trial for trial in trials if trial.measured and metric in trial.metrics]
        values = [trial.metrics[metric] for trial in measured]
        reason = missing_reason(trials, len(values)) if trials else ""
        entry = Entry(values, summary(values), reason, is_planned=bool(trials))
        if trials and runs[0]:
            entry.set_otherwise = _set_otherwise(kind, runs[0][0].params, trials[0].params)
        if paths:
            entry.paths = [paths[index][trial.id] for trial in measured]
        entries.append(entry)
    return entries


def _set_otherwise(kind: Kind, baseline: Mapping[str, Any], params: Mapping[str, Any]) -> list[Setting]:
    if baseline == params:
        return []
    ours, theirs = kind.filled(params), kind.filled(baseline)
    return [
        Setting(name, parameter.label, ours[name], parameter.unit)
        for name, parameter in kind.parameters.items()
        if not parameter.identity and ours[name] != theirs[name]
    ]


def _judge(rows: Sequence[MeasureRow], column: int) -> None:
    """Set the differences of a run's entries and, over all of them, their verdicts."""
    judged = []
    for row in rows:
        baseline, entry = row.entries[0], row.entries[column]
        if baseline.values and entry.values:
            entry.is_unmatched = bool(entry.paths) and set(entry.paths).isdisjoint(baseline.paths)
            judged += [] if entry.is_unmatched else [row]
    differences = [difference(*_beside(row.entries[0], row.entries[column])) for row in judged]
    for row, each, verdict in zip(judged, differences, verdicts(differences), strict=True):
        entry = row.entries[column]
        entry.difference, entry.verdict = each, verdict
        if verdict == Verdict.DIFFERENT:
            entry.change = _change(row.measure.metric, each)


def _beside(baseline: Entry, entry: Entry) -> tuple[list[float], list[float]]:
    """Return what is compared: of sets of runs the values of each path beside those of the same path."""
    if not baseline.paths or not entry.paths:
        return baseline.values, entry.values
    return aligned(_by_path(baseline), _by_path(entry))


def _by_path(entry: Entry) -> dict[int, list[float]]:
    values: dict[int, list[float]] = {}
    for path, value in zip(entry.paths, entry.values, strict=True):
        values.setdefault(path, []).append(value)
    return values


def _change(metric: Metric, difference: Difference) -> Change:
    if metric.better == "neutral":
        return "changed"
    return "better" if (difference.difference > 0) == (metric.better == "higher") else "worse"


def _could_tell(entry: Entry) -> bool:
    return entry.difference is not None and entry.difference.can_tell


def _outcome(row: MeasureRow, column: int) -> str:
    """Return what became of a measure in a run; nothing where neither it nor the baseline was to have it."""
    entry = row.entries[column]
    if entry.verdict is not None:
        return entry.change or entry.verdict
    if entry.values:
        return "unmatched" if entry.is_unmatched else "alone"
    if entry.is_planned:
        return "missing"
    return "elsewhere" if row.entries[0].is_planned else ""


# The order of the page: what is worse, what has failed here and not there, what is perhaps worse, what can't be told,
# what is better, and last what only one plan has.
_WORSE, _FAILED, _PERHAPS, _UNTOLD, _BETTER, _ELSEWHERE = range(6)


def _badness(row: MeasureRow) -> tuple[bool, int, int, float]:
    """Return the place of a row by its worst entry: results first, by change, headlines first, by size."""
    compared = [_entry_badness(row, entry) for entry in row.entries[1:]]
    change, size = min(compared, default=(_UNTOLD, 0.0))
    rank = importance(row.measure)
    return rank == OF_HOSTS, change, rank, size


def _entry_badness(row: MeasureRow, entry: Entry) -> tuple[int, float]:
    if entry.difference is None:
        has_failed = entry.is_planned and not entry.values and bool(row.entries[0].values)
        return (_FAILED if has_failed else _ELSEWHERE), 0.0
    size = _size(row.measure.metric, entry.difference)
    untold = _PERHAPS if entry.verdict == Verdict.PERHAPS and size > 0 else _UNTOLD
    return {"worse": _WORSE, "better": _BETTER}.get(entry.change, untold), -size


def _size(metric: Metric, difference: Difference) -> float:
    """Return how much worse the median is, as a share of the baseline's; a metric without a good direction isn't."""
    if metric.better == "neutral":
        return 0.0
    # From nothing to something is more than any share.
    share = (
        difference.ratio
        if difference.ratio is not None
        else difference.difference * float("inf")
        if difference.difference
        else 0.0
    )
    return share if metric.better == "lower" else -share
