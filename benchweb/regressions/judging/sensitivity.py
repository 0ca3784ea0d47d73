"""Say how small a change is told of a series, by its taught noise and what is said of its plan or environment."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from benchweb.common.rows import fetch
from benchweb.regressions.deciding import ALERT_FLOOR_RATIO
from benchweb.statistics.deciding import LEAST_SUSPECT_RATIO, NOISE_TIMES

# Beside `series` and its `pair`. A plan goes before an environment, that before a metric, and that before a kind.
JOINS_SQL = """
LEFT JOIN regressions_seriesnoise noise ON noise.series_id = series.id
CROSS JOIN LATERAL (
  SELECT
    (array_agg(floor_ratio ORDER BY plan_id, environment_id, metric DESC, kind DESC)
      FILTER (WHERE floor_ratio IS NOT NULL))[1] AS floor_ratio,
    (array_agg(noise_times ORDER BY plan_id, environment_id, metric DESC, kind DESC)
      FILTER (WHERE noise_times IS NOT NULL))[1] AS noise_times
  FROM regressions_sensitivity
  WHERE archived_at IS NULL AND (environment_id IS NULL OR environment_id = pair.environment_id)
    AND kind IN ('', series.kind) AND metric IN ('', series.metric)
    AND (plan_id IS NULL OR plan_id = (
      SELECT version.plan_id
      FROM results_runfigure latest
      JOIN runs_run run ON run.id = latest.run_id
      JOIN plans_planversion version ON version.id = run.plan_version_id
      WHERE latest.series_id = series.id ORDER BY latest.at DESC, latest.run_id DESC LIMIT 1
    ))
) own
"""
COLUMNS_SQL = "noise.floor_ratio AS taught_ratio, own.floor_ratio, own.noise_times"
_SQL = f"""
SELECT series.id AS series_id, {COLUMNS_SQL}
FROM results_series series JOIN hosts_pair pair ON pair.id = series.pair_id {JOINS_SQL}
WHERE series.id = ANY(%(series)s)
"""  # noqa: S608  (statements of our own)


class SeriesSensitivity(NamedTuple):
    """The bounds from which on a change of a series is told: shares of the level, and times of its noise."""

    floor_ratio: float = ALERT_FLOOR_RATIO
    # One run alone must stand out by more.
    suspect_floor_ratio: float = LEAST_SUSPECT_RATIO
    noise_times: float = NOISE_TIMES


class _Row(NamedTuple):
    series_id: int
    taught_ratio: float | None
    floor_ratio: float | None
    noise_times: float | None


def sensitivity_of(
    taught_ratio: float | None, floor_ratio: float | None, noise_times: float | None
) -> SeriesSensitivity:
    """Return what holds of a series; what was taught of its noise is never undercut."""
    least = taught_ratio or 0.0
    usual = SeriesSensitivity()
    return SeriesSensitivity(
        max(least, usual.floor_ratio if floor_ratio is None else floor_ratio),
        max(least, usual.suspect_floor_ratio if floor_ratio is None else floor_ratio),
        usual.noise_times if noise_times is None else noise_times,
    )


def sensitivities(series_ids: Collection[int]) -> Mapping[int, SeriesSensitivity]:
    """Return what holds of each series; one query."""
    rows = fetch(_Row, _SQL, {"series": sorted(series_ids)}) if series_ids else []
    return {row.series_id: sensitivity_of(*row[1:]) for row in rows}
