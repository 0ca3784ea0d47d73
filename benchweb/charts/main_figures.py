"""The one figure that a list shows of a run or a pair: the headline of its first kind, beside the runs before it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from benchweb.catalog import Kind, Metric, catalog
from benchweb.catalog.translation import unknown_words
from benchweb.common import formatting
from benchweb.common.rows import fetch
from benchweb.regressions.overview import Worsening, lasting, worsenings
from benchweb.results.run_summaries import deviation_of
from benchweb.statistics import Deviation

# As many as the recent medians keep.
_MOST_BEFORE = 30

# By the pair's series of the headline, which are few: a run has a figure for each of hundreds of series.
_OF_RUNS = """
WITH headline AS MATERIALIZED (
    SELECT * FROM unnest(%(kinds)s::text[], %(metrics)s::text[], %(lower)s::bool[], %(names)s::text[],
        %(defaults)s::float8[]) AS h(kind, metric, is_lower, size_name, size_default)
)
SELECT run.id AS of, best.*,
    ARRAY(SELECT earlier.median FROM results_runfigure earlier
        WHERE earlier.series_id = best.series AND earlier.at < best.at ORDER BY earlier.at DESC LIMIT %(before)s
    ) AS latest_before
FROM runs_run run JOIN plans_planversion version ON version.id = run.plan_version_id
CROSS JOIN LATERAL (
    SELECT series.id AS series, series.kind, series.metric, series.identity, figure.run_id AS run, figure.at, figure.n,
        figure.median, figure.low, figure.high
    FROM jsonb_array_elements(version.steps) WITH ORDINALITY AS step(value, place)
    JOIN headline ON headline.kind = step.value->>'kind'
    JOIN results_series series ON series.pair_id = run.pair_id AND series.kind = headline.kind
        AND series.metric = headline.metric
    JOIN results_runfigure figure ON figure.run_id = run.id AND figure.series_id = series.id
    WHERE CASE WHEN %(size)s::float8 IS NULL THEN step.place = 1
        -- A size that an imported text doesn't tell is null, which is no size.
        WHEN series.identity ? headline.size_name THEN (series.identity->>headline.size_name)::float8 = %(size)s
        ELSE headline.size_default = %(size)s END
    ORDER BY step.place, CASE WHEN headline.is_lower THEN figure.median ELSE -figure.median END, series.id
    LIMIT 1
) best
WHERE run.id = ANY(%(ids)s::bigint[])
"""
# The kind that was measured last, of several the first of the catalog; of its settings the best.
_OF_PAIRS = """
WITH headline AS MATERIALIZED (
    SELECT * FROM unnest(%(kinds)s::text[], %(metrics)s::text[], %(lower)s::bool[])
        WITH ORDINALITY AS h(kind, metric, is_lower, place)
)
SELECT pair.id AS of, best.*
FROM unnest(%(ids)s::bigint[]) AS pair(id)
CROSS JOIN LATERAL (
    SELECT series.id AS series, series.kind, series.metric, series.identity,
        recent.runs[cardinality(recent.runs)] AS run, recent.at,
        recent.n, recent.median, recent.low, recent.high, recent.medians
    FROM headline
    JOIN results_series series ON series.pair_id = pair.id AND series.kind = headline.kind
        AND series.metric = headline.metric
    JOIN results_recentmedians recent ON recent.series_id = series.id
    ORDER BY recent.at::date DESC, headline.place,
        CASE WHEN headline.is_lower THEN recent.median ELSE -recent.median END, series.id
    LIMIT 1
) best
"""


# A run of another plan may have been measured since; the latest few of each version hold one with figures.
_LATEST_OF_PLANS = """
SELECT plan.id AS of, max(latest.id) AS run
FROM unnest(%(ids)s::bigint[]) AS plan(id)
JOIN plans_planversion version ON version.plan_id = plan.id
CROSS JOIN LATERAL (
    SELECT id FROM runs_run WHERE plan_version_id = version.id AND has_figures AND state = 'finished'
    ORDER BY id DESC LIMIT 1
) latest
GROUP BY plan.id
"""
_LATEST_OF_HOSTS = """
SELECT host.id AS of, max(latest.id) AS run
FROM unnest(%(ids)s::bigint[]) AS host(id)
CROSS JOIN LATERAL (
    SELECT pair.id FROM hosts_pair pair JOIN hosts_endpoint endpoint ON endpoint.id = pair.source_id
    WHERE endpoint.host_id = host.id AND pair.archived_at IS NULL ORDER BY pair.id LIMIT %(most)s
) pair
CROSS JOIN LATERAL (
    SELECT id FROM runs_run WHERE pair_id = pair.id AND has_figures AND state = 'finished' ORDER BY id DESC LIMIT 1
) latest
GROUP BY host.id
"""
_FIRST_OF_CAMPAIGNS = """
SELECT campaign.id AS of, run.id AS run
FROM unnest(%(ids)s::bigint[]) AS campaign(id)
CROSS JOIN LATERAL (
    SELECT id FROM runs_run WHERE campaign_id = campaign.id AND has_figures AND state = 'finished'
    ORDER BY id LIMIT %(most)s
) run
"""
# In a mesh a host has hundreds.
_PAIRS_OF_HOST = 8
# Of a mesh of thousands of runs a list tells by the first of them; its page has all.
_RUNS_OF_CAMPAIGN = 4


@dataclass(frozen=True)
class _Latest:
    of: int
    run: int


@dataclass(frozen=True)
class MainFigure:
    """A run's median in its series, with its repetitions, and the medians of the runs before it, oldest first."""

    kind: Kind
    metric: Metric
    # What the series is told apart by, with the defaults that no figure is told without.
    params: Mapping[str, Any]
    run: int
    at: datetime
    n: int
    median: float
    extremes: tuple[float, float]
    before: list[float]
    # What a live alert tells of its series.
    worsening: Worsening | None = None

    @property
    def values(self) -> list[float]:
        return [*self.before, self.median]

    @cached_property
    def change(self) -> Deviation | None:
        """Compare it with the runs before it."""
        return deviation_of(self.values, self.metric)

    @property
    def lasting(self) -> Worsening | None:
        """Return what an alert tells of, where this run is as bad as the runs before it."""
        return lasting(self.worsening, self.at, self.change)

    @property
    def setting(self) -> str:
        """Say the size that the figure was measured at, if its kind has one."""
        name = self.kind.swept_size
        if not name:
            return ""
        size = self.params[name]
        return unknown_words() if size is None else formatting.setting(size, self.kind.parameters[name].unit)

    @property
    def baseline(self) -> float | None:
        """Return the usual figure. (In a template None.baseline would be "".)"""
        return self.change.baseline if self.change else None


@dataclass(frozen=True, kw_only=True)
class _Row:
    of: int
    series: int
    kind: str
    metric: str
    identity: dict[str, Any]
    run: int
    at: datetime
    n: int
    median: float
    low: float
    high: float
    # The one, the latest first, or the other, with the median itself at the end.
    latest_before: list[float] | None = None
    medians: list[float] | None = None


def figures_of_runs(run_ids: Collection[int], *, size_bytes: float | None = None) -> dict[int, MainFigure]:
    """Return the main figure of each run that has one: of its plan's first kind, or of a size that is asked for."""
    if not run_ids:
        return {}
    kinds = catalog().kinds.values()
    values = {
        **_headlines(),
        "names": [kind.swept_size for kind in kinds],
        "defaults": [kind.parameters[kind.swept_size].default if kind.swept_size else None for kind in kinds],
        "size": size_bytes,
        "before": _MOST_BEFORE,
        "ids": list(run_ids),
    }
    return _figures(fetch(_Row, _OF_RUNS, values))


def figures_of_pairs(pair_ids: Collection[int]) -> dict[int, MainFigure]:
    """Return the main figure of each pair that has one: of what was measured there last."""
    if not pair_ids:
        return {}
    return _figures(fetch(_Row, _OF_PAIRS, {**_headlines(), "ids": list(pair_ids)}))


def figures_of_plans(plan_ids: Collection[int]) -> dict[int, MainFigure]:
    """Return the main figure of each plan's latest run that has figures."""
    latest = {row.of: row.run for row in fetch(_Latest, _LATEST_OF_PLANS, {"ids": list(plan_ids)})}
    figures = figures_of_runs(list(latest.values()))
    return {plan: figures[run] for plan, run in latest.items() if run in figures}


def figures_of_hosts(host_ids: Collection[int]) -> dict[int, MainFigure]:
    """Return the main figure of the latest run that each host was the source of, among its first pairs."""
    values = {"ids": list(host_ids), "most": _PAIRS_OF_HOST}
    latest = {row.of: row.run for row in fetch(_Latest, _LATEST_OF_HOSTS, values)}
    figures = figures_of_runs(list(latest.values()))
    return {host: figures[run] for host, run in latest.items() if run in figures}


def figures_of_campaigns(campaign_ids: Collection[int]) -> dict[int, MainFigure]:
    """Return the main figure of each campaign: of its run that moved furthest to its bad side, among its first runs."""
    first_runs = fetch(_Latest, _FIRST_OF_CAMPAIGNS, {"ids": list(campaign_ids), "most": _RUNS_OF_CAMPAIGN})
    figures = figures_of_runs([row.run for row in first_runs])
    of_campaign: dict[int, list[MainFigure]] = {}
    for row in first_runs:
        if row.run in figures:
            of_campaign.setdefault(row.of, []).append(figures[row.run])
    return {campaign: max(of_its, key=_worsened) for campaign, of_its in of_campaign.items()}


def _worsened(figure: MainFigure) -> float:
    """Return how far a figure lies to its bad side of what is usual, in units of the noise."""
    score = figure.change.score if figure.change and figure.change.score is not None else 0.0
    return score if figure.metric.better == "lower" else -score


def _headlines() -> dict[str, list[Any]]:
    kinds = list(catalog().kinds.values())
    return {
        "kinds": [kind.name for kind in kinds],
        "metrics": [kind.headline for kind in kinds],
        "lower": [kind.metrics[kind.headline].better == "lower" for kind in kinds],
    }


def _figures(rows: Sequence[_Row]) -> dict[int, MainFigure]:
    """Prepare figures with what alerts tell of their series; one query."""
    worse_by_series = worsenings({row.series for row in rows}) if rows else {}
    return {row.of: _figure(row, worse_by_series.get(row.series)) for row in rows}


def _figure(row: _Row, worsening: Worsening | None) -> MainFigure:
    kind = catalog().kinds[row.kind]
    return MainFigure(
        kind=kind,
        metric=kind.metrics[row.metric],
        params=kind.stated_defaults | row.identity,
        run=row.run,
        at=row.at,
        n=row.n,
        median=row.median,
        extremes=(row.low, row.high),
        before=(row.latest_before or [])[::-1] if row.medians is None else row.medians[:-1],
        worsening=worsening,
    )
