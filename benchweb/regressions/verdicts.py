"""Judge whether a run is worse than a baseline: pass, regression, inconclusive, or no data."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median
from typing import NamedTuple

from benchweb.common.rows import fetch
from benchweb.regressions.deciding import VERDICT_LOOK_BACK
from benchweb.regressions.judging.sensitivity import SeriesSensitivity, sensitivities
from benchweb.regressions.judging.watched import is_worse, least_difference, watched_metric
from benchweb.runs.models import Run
from benchweb.statistics.comparison import Difference, Verdict, difference, verdicts

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
class RunVerdict:
    """A verdict with what it rests on; `changes` are the measures that are surely different, the worst first."""

    outcome: GateOutcome
    changes: list[Compared]
    compared: int
    # The median over what was compared; None where these few repetitions can show nothing.
    smallest_detectable_change_ratio: float | None


def verdict_beside_run(run: Run, baseline: Run) -> RunVerdict:
    """Compare the repetitions of two runs."""
    return _verdict(_run_measures(run), _run_measures(baseline))


def verdict_beside_environment(run: Run, environment_id: int) -> RunVerdict:
    """Compare a run's repetitions with the medians of an environment's runs in the two months before."""
    return _verdict(_run_measures(run), _usual_measures(run, "pair.environment_id = %(which)s", environment_id))


def verdict_beside_history(run: Run) -> RunVerdict:
    """Compare a run's repetitions with the medians of its own pair's runs in the two months before."""
    return _verdict(_run_measures(run), _usual_measures(run, "pair.id = %(which)s", run.pair_id))


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


def _verdict(measured: Sequence[_Measure], baseline: Sequence[_Measure]) -> RunVerdict:
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
    different = [
        change for change in surely if _is_large(change, known.get(change.series_id, SeriesSensitivity()).floor_ratio)
    ]
    detectable = [
        share
        for gap in differences
        if gap.least_shift_shown is not None and (share := gap.share(gap.least_shift_shown)) is not None
    ]
    return RunVerdict(
        outcome=_outcome(compared, different),
        changes=sorted(different, key=lambda change: (not change.is_worse, -abs(change.difference.ratio or 0.0))),
        compared=len(compared),
        smallest_detectable_change_ratio=median(detectable) if detectable else None,
    )


def _outcome(compared: Sequence[Compared], different: Sequence[Compared]) -> GateOutcome:
    if not compared:
        return GateOutcome.NO_DATA
    if any(change.is_worse for change in different):
        return GateOutcome.REGRESSION
    # What may be worse, or can't be told at all, is no pass.
    if any(
        change.verdict == Verdict.TOO_FEW or (change.verdict == Verdict.PERHAPS and change.is_worse)
        for change in compared
    ):
        return GateOutcome.INCONCLUSIVE
    return GateOutcome.PASS


def _is_bad(measure: _Measure, difference: Difference) -> bool:
    metric = watched_metric(measure.kind, measure.metric)
    level = difference.baseline_median
    return metric is not None and difference.difference != 0 and is_worse(metric, level, level + difference.difference)


def _is_large(compared: Compared, floor_ratio: float) -> bool:
    metric = watched_metric(compared.kind, compared.metric)
    least = least_difference(metric) if metric else 0.0
    ratio = compared.difference.ratio
    return abs(compared.difference.difference) >= least and (ratio is None or abs(ratio) >= floor_ratio)
