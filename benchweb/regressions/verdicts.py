"""Judge whether a run is worse than a baseline: pass, regression, inconclusive, or no data."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from statistics import median
from typing import NamedTuple

from benchweb.common.rows import fetch
from benchweb.regressions.deciding import VERDICT_LOOK_BACK
from benchweb.regressions.judging.sensitivity import SeriesSensitivity, sensitivities
from benchweb.regressions.judging.watched import is_worse, least_difference, watched_metric
from benchweb.results.models import Series
from benchweb.runs.models import Run
from benchweb.statistics.comparison import Difference, Verdict, difference, verdicts
from benchweb.statistics.deciding import (
    LARGEST_P_OF_DIFFERENCE,
    LEAST_RUNS,
    LEAST_VALUES_OF_INTERVAL,
    MORE_ERRORS_OF_FEW,
    NOISE_TIMES,
)
from benchweb.statistics.noise import NORMAL
from benchweb.statistics.rank_sum import least_p_value

# Of each measure.
_MOST_VALUES = 200

_OF_RUN = """
    SELECT series.kind, series.metric, series.identity_digest, min(series.id) AS series_id,
      array_agg(point.value ORDER BY point.at, point.trial_id) AS values
    FROM results_point point JOIN results_series series ON series.id = point.series_id
    WHERE point.run_id = %(run)s GROUP BY series.kind, series.metric, series.identity_digest
"""
_MEDIANS = """
    SELECT kind, metric, identity_digest, 0 AS series_id, array_agg(median ORDER BY at, run_id) AS values
    FROM (
      SELECT series.kind, series.metric, series.identity_digest, figure.median, figure.at, figure.run_id,
        row_number() OVER (PARTITION BY series.kind, series.metric, series.identity_digest ORDER BY figure.at DESC)
          AS place
      FROM results_series series
      JOIN hosts_pair pair ON pair.id = series.pair_id
      JOIN results_runfigure figure ON figure.series_id = series.id
      WHERE {of} AND figure.at >= %(since)s AND figure.at <= %(until)s AND figure.run_id <> %(run)s
        AND series.kind = ANY(%(kinds)s) AND series.metric = ANY(%(metrics)s)
    ) latest WHERE place <= %(most)s GROUP BY kind, metric, identity_digest
"""


class GateOutcome(StrEnum):
    """The answers that a gate may go by."""

    PASS = "pass"  # noqa: S105  (no password)
    REGRESSION = "regression"
    INCONCLUSIVE = "inconclusive"
    NO_DATA = "no_data"


class _Measure(NamedTuple):
    kind: str
    metric: str
    identity_digest: str
    series_id: int
    values: list[float]


@dataclass(frozen=True)
class Compared:
    """One measure of the run beside the baseline."""

    series_id: int
    kind: str
    metric: str
    difference: Difference
    verdict: Verdict
    is_worse: bool


@dataclass(frozen=True)
class Doubt:
    """A measure that may be worse, or of which so few repetitions tell nothing, and how many could tell."""

    compared: Compared
    repetitions: int


@dataclass(frozen=True)
class RunVerdict:
    """A verdict with what it rests on; `changes` are the measures that are surely different, the worst first."""

    outcome: GateOutcome
    changes: list[Compared]
    # What makes it inconclusive.
    in_doubt: list[Doubt]
    compared: int
    # The median over what was compared; None where these few repetitions can show nothing.
    smallest_detectable_change_ratio: float | None


def verdict_beside_run(run: Run, baseline: Run) -> RunVerdict:
    """Compare the repetitions of two runs; with itself a run has no verdict."""
    if run.pk == baseline.pk:
        return RunVerdict(GateOutcome.NO_DATA, [], [], 0, None)
    return _verdict(_run_measures(run), _run_measures(baseline), run, is_of_runs=False)


def verdict_beside_environment(run: Run, environment_id: int) -> RunVerdict:
    """Compare a run's repetitions with the medians of an environment's runs in the two months before."""
    return _verdict(_run_measures(run), _usual_measures(run, "pair.environment_id = %(which)s", environment_id), run)


def verdict_beside_history(run: Run) -> RunVerdict:
    """Compare a run's repetitions with the medians of its own pair's runs in the two months before."""
    return _verdict(_run_measures(run), _own_medians(run), run)


def _own_medians(run: Run) -> list[_Measure]:
    """Return the medians of the pair's own runs in the two months before."""
    return _usual_measures(run, "pair.id = %(which)s", run.pair_id)


def _run_measures(run: Run) -> list[_Measure]:
    return fetch(_Measure, _OF_RUN, {"run": run.pk})


def _usual_measures(run: Run, of: str, which: int) -> list[_Measure]:
    until = run.started_at or run.created_at
    watched = [measure for measure in _run_measures(run) if watched_metric(measure.kind, measure.metric)]
    values = {
        "which": which,
        "run": run.pk,
        "since": until - VERDICT_LOOK_BACK,
        "until": until,
        "kinds": sorted({measure.kind for measure in watched}),
        "metrics": sorted({measure.metric for measure in watched}),
        "most": _MOST_VALUES,
    }
    return fetch(_Measure, _MEDIANS.format(of=of), values)


def _verdict(
    measured: Sequence[_Measure], baseline: Sequence[_Measure], run: Run, *, is_of_runs: bool = True
) -> RunVerdict:
    before: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for measure in baseline:
        before[measure[:3]] = measure.values
    common = [measure for measure in measured if watched_metric(measure.kind, measure.metric) and before[measure[:3]]]
    differences = [difference(before[measure[:3]], measure.values) for measure in common]
    compared = [
        Compared(measure.series_id, measure.kind, measure.metric, gap, verdict, _is_bad(measure, gap))
        for measure, gap, verdict in zip(common, differences, verdicts(differences), strict=True)
    ]
    surely = [change for change in compared if change.verdict == Verdict.DIFFERENT]
    known = sensitivities({change.series_id for change in surely})
    large = [
        change for change in surely if _is_large(change, known.get(change.series_id, SeriesSensitivity()).floor_ratio)
    ]
    usual = _as_usual(run, large, is_of_runs=is_of_runs) if large else set()
    different = [change for change in large if change.series_id not in usual]
    in_doubt = [doubt for change in compared if (doubt := _doubt(change, len(compared), is_of_runs))]
    detectable = [
        share
        for gap in differences
        if gap.least_shift_shown is not None and (share := gap.share(gap.least_shift_shown)) is not None
    ]
    return RunVerdict(
        outcome=_outcome(compared, different, in_doubt),
        changes=sorted(different, key=lambda change: (not change.is_worse, -abs(change.difference.ratio or 0.0))),
        in_doubt=in_doubt,
        compared=len(compared),
        smallest_detectable_change_ratio=median(detectable) if detectable else None,
    )


def _as_usual(run: Run, changes: Sequence[Compared], *, is_of_runs: bool) -> set[int]:
    """Return the series of changes that are no larger than runs of the pair differ among themselves.

    Repetitions of one run share what sets that run apart, which no test over them can see: what decides beside it is
    the noise between runs, MAD of their medians: what lies no further off than a suspect would is usual. Of two single
    runs both have it. Where the pair has fewer than LEAST_RUNS runs before, it is not known.
    """
    times = NOISE_TIMES * (1 if is_of_runs else sqrt(2))
    medians = {measure[:3]: measure.values for measure in _own_medians(run)}
    rows = Series.objects.filter(pk__in=[change.series_id for change in changes])
    identities = dict(rows.values_list("pk", "identity_digest"))
    usual = set()
    for change in changes:
        values = medians.get((change.kind, change.metric, identities[change.series_id]), [])
        if len(values) < LEAST_RUNS:
            continue
        middle = median(values)
        noise = NORMAL * median([abs(value - middle) for value in values])
        if abs(change.difference.difference) <= times * (1 + MORE_ERRORS_OF_FEW / len(values)) * noise:
            usual.add(change.series_id)
    return usual


def _doubt(compared: Compared, family: int, is_of_runs: bool) -> Doubt | None:
    """Return what is in doubt of a measure: it may be worse, or can't be told at all; None where nothing is."""
    if compared.verdict == Verdict.TOO_FEW:
        return Doubt(compared, _repetitions_needed(compared, 1, is_of_runs))
    if compared.verdict == Verdict.PERHAPS and compared.is_worse:
        return Doubt(compared, _repetitions_needed(compared, family, is_of_runs))
    return None


def _repetitions_needed(compared: Compared, family: int, is_of_runs: bool) -> int:
    """Return how many repetitions could tell, of this run, or of both where the baseline is a single run too."""
    before = compared.difference.baseline_n
    return next(
        count
        for count in range(LEAST_VALUES_OF_INTERVAL, _MOST_VALUES)
        if least_p_value(count, before if is_of_runs and before >= LEAST_VALUES_OF_INTERVAL else count) * family
        <= LARGEST_P_OF_DIFFERENCE
    )


def _outcome(compared: Sequence[Compared], different: Sequence[Compared], in_doubt: Sequence[Doubt]) -> GateOutcome:
    if not compared:
        return GateOutcome.NO_DATA
    if any(change.is_worse for change in different):
        return GateOutcome.REGRESSION
    # What may be worse, or can't be told at all, is no pass.
    return GateOutcome.INCONCLUSIVE if in_doubt else GateOutcome.PASS


def _is_bad(measure: _Measure, difference: Difference) -> bool:
    metric = watched_metric(measure.kind, measure.metric)
    level = difference.baseline_median
    return metric is not None and difference.difference != 0 and is_worse(metric, level, level + difference.difference)


def _is_large(compared: Compared, floor_ratio: float) -> bool:
    metric = watched_metric(compared.kind, compared.metric)
    least = least_difference(metric) if metric else 0.0
    ratio = compared.difference.ratio
    return abs(compared.difference.difference) >= least and (ratio is None or abs(ratio) >= floor_ratio)
