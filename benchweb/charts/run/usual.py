"""A run's figures beside those of the runs before it: of each kind its headline, at the plan's one setting."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from benchweb.catalog import Kind, Metric, catalog
from benchweb.charts.lines import sweeps
from benchweb.charts.run.verdict import Headline, headline_of, limits_by_frequency
from benchweb.common.rows import fetch
from benchweb.regressions.overview import Worsening, lasting, worsenings
from benchweb.results.ingest import identity_digest
from benchweb.results.run_summaries import deviation_of
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.statistics import Deviation
from benchweb.statistics.deciding import NOISE_TIMES

# As many as the recent medians keep, so that both say the same; and some that came after it.
_MOST_BEFORE = 30
_MOST_AFTER = 10

_NEAR = """
SELECT series.id AS series, series.kind, figure.run_id AS run, figure.at, figure.median
FROM unnest(%(kinds)s::text[], %(metrics)s::text[], %(digests)s::text[]) AS wanted(kind, metric, digest)
JOIN results_series series ON series.pair_id = %(pair)s AND series.kind = wanted.kind
    AND series.metric = wanted.metric AND series.identity_digest = wanted.digest
CROSS JOIN LATERAL (
    (SELECT run_id, at, median FROM results_runfigure
    WHERE series_id = series.id AND at < %(at)s AND run_id <> %(run)s ORDER BY at DESC LIMIT %(before)s)
    UNION ALL
    (SELECT run_id, at, median FROM results_runfigure
    WHERE series_id = series.id AND at >= %(at)s AND run_id <> %(run)s ORDER BY at LIMIT %(after)s)
) figure
ORDER BY series.kind, figure.at, figure.run_id
"""


@dataclass(frozen=True)
class UsualFigure:
    """A kind's headline in a run beside the runs of the same series; `usual` is None for the first of them."""

    kind: Kind
    metric: Metric
    # None until a trial has given it.
    headline: Headline | None
    # What the series is told apart by, with the defaults that no figure is told without.
    params: Mapping[str, Any]
    # What held its trials back, the most frequent first.
    limits: Sequence[str]
    # The medians of the runs around, oldest first; this run's is at `mark`, if it has one.
    values: list[float]
    mark: int | None
    usual: Deviation | None
    # What a live alert tells of, where this run is as bad as the runs before it.
    lasting: Worsening | None

    @property
    def band(self) -> tuple[float, float] | None:
        """Return from what to what is usual: outside of it a run stands out. None while that is being learnt."""
        if self.usual is None or self.usual.is_learning:
            return None
        reach = NOISE_TIMES * self.usual.noise
        return self.usual.baseline - reach, self.usual.baseline + reach

    @property
    def baseline(self) -> float | None:
        """Return the usual figure. (In a template None.baseline would be "".)"""
        return self.usual.baseline if self.usual else None


@dataclass(frozen=True)
class _Near:
    series: int
    kind: str
    run: int
    at: datetime
    median: float


def usual_figures(run: Run, trials: Sequence[TrialRow]) -> list[UsualFigure]:
    """Return each kind's figure beside what is usual, in the catalog's order; two queries."""
    size_bytes = run.plan_version.plan.main_size_bytes
    headlines = [(sweep, *headline_of(sweep, size_bytes)) for sweep in sweeps(trials, catalog().kinds)]
    identities = [sweep.kind.identity(trial.params) for sweep, _headline, trial in headlines]
    at = run.started_at or timezone.now()
    values = {
        "pair": run.pair_id,
        "run": run.pk,
        "at": at,
        "kinds": [sweep.kind.name for sweep, _headline, _trial in headlines],
        "metrics": [sweep.kind.headline for sweep, _headline, _trial in headlines],
        "digests": [identity_digest(identity) for identity in identities],
        "before": _MOST_BEFORE,
        "after": _MOST_AFTER,
    }
    near: dict[str, list[_Near]] = defaultdict(list)
    for row in fetch(_Near, _NEAR, values):
        near[row.kind].append(row)
    worse_by_series = worsenings({rows[0].series for rows in near.values()}) if near else {}
    is_open = run.state in OPEN_STATES
    figures = []
    for (sweep, headline, _trial), identity in zip(headlines, identities, strict=True):
        kind, own = sweep.kind, [] if headline is None else [headline.value]
        before = [figure.median for figure in near[kind.name] if figure.at < at]
        after = [figure.median for figure in near[kind.name] if figure.at >= at]
        metric = kind.metrics[kind.headline]
        # Half of the repetitions compare with nothing.
        usual = deviation_of([*before, *own], metric) if own and not is_open else None
        worsening = worse_by_series.get(near[kind.name][0].series) if usual and near[kind.name] else None
        figures.append(
            UsualFigure(
                kind=kind,
                metric=metric,
                headline=headline,
                params=kind.stated_defaults | identity,
                limits=limits_by_frequency(sweep.trials),
                values=[*before, *own, *after],
                mark=len(before) if own else None,
                usual=usual,
                lasting=lasting(worsening, at, usual),
            )
        )
    return figures
