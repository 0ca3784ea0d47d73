"""The one figure that a list shows of a run or a pair: the headline of its first kind, beside the runs before it."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from benchweb.catalog import Kind, Metric, catalog
from benchweb.catalog.parts import ADDED
from benchweb.catalog.translation import unknown_words
from benchweb.common import formatting
from benchweb.common.rows import fetch
from benchweb.plans.main_setting import main_identity
from benchweb.regressions.overview import Worsening, lasting, worsenings
from benchweb.results.run_summaries import deviation_of
from benchweb.statistics import Deviation

# As many as the recent medians keep.
_MOST_BEFORE = 30

_VERSIONS = """
SELECT DISTINCT version.id AS version, version.steps, plan.main_size_bytes
FROM runs_run run
JOIN plans_planversion version ON version.id = run.plan_version_id
JOIN plans_plan plan ON plan.id = version.plan_id
WHERE run.id = ANY(%(ids)s::bigint[])
"""
# By the pair's series of the headline, which are few: a run has a figure for each of hundreds of series. What results
# add to the parameters of their trials tells no settings apart.
_OF_RUNS = """
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest(%(versions)s::bigint[], %(kinds)s::text[], %(metrics)s::text[], %(identities)s::jsonb[])
        AS w(version, kind, metric, identity)
)
SELECT run.id AS of, main.*,
    ARRAY(SELECT earlier.median FROM results_runfigure earlier
        WHERE earlier.series_id = main.series AND earlier.at < main.at ORDER BY earlier.at DESC LIMIT %(before)s
    ) AS latest_before
FROM runs_run run JOIN wanted ON wanted.version = run.plan_version_id
CROSS JOIN LATERAL (
    SELECT series.id AS series, series.kind, series.metric, series.identity, figure.run_id AS run, figure.at, figure.n,
        figure.median, figure.low, figure.high
    FROM results_series series
    JOIN results_runfigure figure ON figure.run_id = run.id AND figure.series_id = series.id
    WHERE series.pair_id = run.pair_id AND series.kind = wanted.kind AND series.metric = wanted.metric
        -- A size that an imported text doesn't tell is null, which is no size.
        AND (wanted.identity IS NULL OR wanted.identity = CASE WHEN %(size)s::float8 IS NULL
            THEN jsonb_strip_nulls(series.identity - %(added)s::text[]) ELSE series.identity - %(added)s::text[] END)
    ORDER BY series.id LIMIT 1
) main
WHERE run.id = ANY(%(ids)s::bigint[])
"""
# By when it was measured: what was imported since may be of years ago.
_LATEST_OF_PAIRS = """
SELECT pair.id AS of, recent.runs[cardinality(recent.runs)] AS run
FROM unnest(%(ids)s::bigint[]) AS pair(id)
CROSS JOIN LATERAL (
    SELECT known.series_id FROM results_series series
    JOIN results_recentmedians known ON known.series_id = series.id
    WHERE series.pair_id = pair.id ORDER BY known.at DESC, series.id LIMIT 1
) latest
JOIN results_recentmedians recent ON recent.series_id = latest.series_id
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
    # The latest first.
    latest_before: list[float]


def figures_of_runs(run_ids: Collection[int], *, size_bytes: float | None = None) -> dict[int, MainFigure]:
    """Return the main figure of each run that has one: of its plan's first kind, at the plan's main setting.

    Every run of a plan has it at the same setting, whatever was best; or at a size that is asked for. Three queries.
    """
    if not run_ids:
        return {}
    settings = [
        (row.version, setting)
        for row in fetch(_Version, _VERSIONS, {"ids": list(run_ids)})
        if (setting := _main_setting(row, size_bytes)) is not None
    ]
    values = {
        "versions": [version for version, _setting in settings],
        "kinds": [setting.kind.name for _version, setting in settings],
        "metrics": [setting.kind.headline for _version, setting in settings],
        "identities": [setting.written for _version, setting in settings],
        "size": size_bytes,
        "added": list(ADDED),
        "before": _MOST_BEFORE,
        "ids": list(run_ids),
    }
    return _figures(fetch(_Row, _OF_RUNS, values))


@dataclass(frozen=True)
class _Version:
    version: int
    steps: list[dict[str, Any]]
    main_size_bytes: int | None


@dataclass(frozen=True)
class _MainSetting:
    kind: Kind
    # The identity as JSON; None of what another system reported, whose plan tells no parameters.
    written: str | None


def _main_setting(row: _Version, size_bytes: float | None) -> _MainSetting | None:
    """Return the kind and identity that a version's figures have; None where it measures nothing of that size."""
    name, written = _identity_of_version(row.version, size_bytes or row.main_size_bytes, json.dumps(row.steps))
    kind = catalog().kinds.get(name)
    identity = {key: value for key, value in json.loads(written).items() if key not in ADDED}
    if kind is None:
        return None
    size = (kind.stated_defaults | identity).get(kind.swept_size)
    if size_bytes is not None and size != size_bytes:
        return None
    return _MainSetting(kind, json.dumps(identity) if name in catalog().tests else None)


@lru_cache(maxsize=1_024)
def _identity_of_version(_version: int, size_bytes: float | None, steps: str) -> tuple[str, str]:
    """Keep what versions, which never change, come to: list after list shows the same plans."""
    kind, identity = main_identity(json.loads(steps), size_bytes)
    return kind, json.dumps(identity)


def figures_of_pairs(pair_ids: Collection[int]) -> dict[int, MainFigure]:
    """Return the main figure of each pair's latest run that has figures."""
    return _figures_of_latest(_LATEST_OF_PAIRS, {"ids": list(pair_ids)})


def figures_of_plans(plan_ids: Collection[int]) -> dict[int, MainFigure]:
    """Return the main figure of each plan's latest run that has figures."""
    return _figures_of_latest(_LATEST_OF_PLANS, {"ids": list(plan_ids)})


def figures_of_hosts(host_ids: Collection[int]) -> dict[int, MainFigure]:
    """Return the main figure of the latest run that each host was the source of, among its first pairs."""
    return _figures_of_latest(_LATEST_OF_HOSTS, {"ids": list(host_ids), "most": _PAIRS_OF_HOST})


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


def _figures_of_latest(statement: str, values: Mapping[str, Any]) -> dict[int, MainFigure]:
    if not values["ids"]:
        return {}
    latest = {row.of: row.run for row in fetch(_Latest, statement, values)}
    figures = figures_of_runs(list(latest.values()))
    return {of: figures[run] for of, run in latest.items() if run in figures}


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
        before=row.latest_before[::-1],
        worsening=worsening,
    )
