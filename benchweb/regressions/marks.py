"""Read what alerts, targets and pinned baselines say of one test's pairs, in one statement: for the matrix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from benchweb.common.rows import fetch, literals
from benchweb.regressions.models import Alert, Threshold

_SHOWN_STATES = (Alert.State.OPEN, Alert.State.ACKNOWLEDGED, Alert.State.CONFIRMING)
_MOST_BASELINES = 50
_RELATIONS = (Threshold.Relation.ABOVE, Threshold.Relation.BELOW)

_MARKS = f"""
SELECT
  (SELECT jsonb_object_agg(pair_id, alert_id) FROM (
    SELECT DISTINCT ON (series.pair_id) series.pair_id, alert.id AS alert_id
    FROM results_series series
    JOIN regressions_alertseries part ON part.series_id = series.id AND part.recovered_run_id IS NULL
    JOIN regressions_alert alert ON alert.id = part.alert_id AND alert.state IN ({literals(_SHOWN_STATES)})
    WHERE series.pair_id = ANY(%(pairs)s::bigint[]) AND series.kind = %(kind)s AND series.metric = %(metric)s
      AND series.identity_digest = %(digest)s
    ORDER BY series.pair_id, alert.rank DESC, alert.id DESC
  ) worst) AS alerts,
  (SELECT jsonb_agg(jsonb_build_object('id', id, 'name', name, 'relation', relation, 'limit', "limit",
      'environment', environment_id, 'pair', pair_id) ORDER BY id)
    FROM regressions_threshold WHERE archived_at IS NULL AND kind = %(kind)s AND metric = %(metric)s
      AND plan_id IS NULL AND relation IN ({literals(_RELATIONS)})
      AND (identity_digest = '' OR identity_digest = %(digest)s)) AS targets,
  (SELECT jsonb_agg(name ORDER BY latest DESC) FROM (
    SELECT name, max(id) AS latest FROM regressions_baseline GROUP BY name ORDER BY max(id) DESC LIMIT %(most)s
  ) named) AS baselines,
  (SELECT jsonb_object_agg(pair_id, finished_at) FROM (
    SELECT DISTINCT ON (baseline.pair_id) baseline.pair_id, run.finished_at
    FROM regressions_baseline baseline JOIN runs_run run ON run.id = baseline.run_id
    WHERE baseline.name = %(baseline)s AND baseline.pair_id = ANY(%(pairs)s::bigint[]) AND run.finished_at IS NOT NULL
    ORDER BY baseline.pair_id, baseline.id DESC
  ) pinned) AS pinned
"""  # noqa: S608  (states of our own)


class Target(NamedTuple):
    """A limit in the metric's unit, of an environment, a pair or everywhere."""

    id: int
    name: str
    relation: str
    limit: float
    environment: int | None
    pair: int | None

    @property
    def is_least(self) -> bool:
        """Tell whether values must not be below it."""
        return self.relation == Threshold.Relation.BELOW

    def is_missed(self, value: float) -> bool:
        return value < self.limit if self.is_least else value > self.limit


class _Row(NamedTuple):
    alerts: dict[str, int] | None
    targets: list[dict[str, Any]] | None
    baselines: list[str] | None
    pinned: dict[str, str] | None


@dataclass(frozen=True)
class PairMarks:
    """The worst live alert of each pair, the targets that hold, the names of baselines; and of one name when its runs
    ended, by pair."""

    alerts: Mapping[int, int]
    targets: Sequence[Target]
    baselines: Sequence[str]
    pinned: Mapping[int, datetime]

    def target_of(self, pair: int, environment: int) -> Target | None:
        """Return the target of a pair: its own, else its environment's, else one of everywhere; the latest of each."""
        fit = [
            target
            for target in self.targets
            if target.pair in (None, pair) and target.environment in (None, environment)
        ]
        return max(
            fit, key=lambda target: (target.pair is not None, target.environment is not None, target.id), default=None
        )


def marks_of(pairs: Sequence[int], *, kind: str, metric: str, digest: str, baseline: str = "") -> PairMarks:
    """Return what is known of a test's pairs beside its results; one query."""
    values = {"pairs": list(pairs), "kind": kind, "metric": metric, "digest": digest, "baseline": baseline}
    (row,) = fetch(_Row, _MARKS, values | {"most": _MOST_BASELINES})
    return PairMarks(
        alerts={int(pair): alert for pair, alert in (row.alerts or {}).items()},
        targets=[Target(**target) for target in row.targets or ()],
        baselines=row.baselines or [],
        pinned={int(pair): datetime.fromisoformat(at) for pair, at in (row.pinned or {}).items()},
    )
