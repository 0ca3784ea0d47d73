"""What the history opens on when nobody has said what to look at: a headline of one pair at one setting."""

from typing import Any, NamedTuple

from benchweb.catalog import catalog
from benchweb.charts.history.choices import parameter_text
from benchweb.common.rows import fetch
from benchweb.results.models import Series
from benchweb.runs.models import OPEN_STATES

# A night of a mesh has more; what its last runs measured the others did too.
_RUNS = 60

# The tests of the latest runs by their headlines, each with how many pairs have it, and which of them the most runs.
_TESTS = """
WITH latest AS (
  SELECT id, pair_id FROM runs_run WHERE has_figures AND state <> ALL(%(open)s) ORDER BY id DESC LIMIT %(runs)s
)
SELECT series.kind, series.identity, count(DISTINCT series.pair_id) AS pairs,
  mode() WITHIN GROUP (ORDER BY series.pair_id) AS most_measured
FROM latest JOIN results_runfigure figure ON figure.run_id = latest.id
JOIN results_series series ON series.id = figure.series_id
WHERE series.metric = ANY(%(metrics)s) AND series.kind || '.' || series.metric = ANY(%(headlines)s)
GROUP BY series.kind, series.identity, series.identity_digest
"""


class _Test(NamedTuple):
    kind: str
    identity: dict[str, Any]
    pairs: int
    most_measured: int


def opening_query() -> dict[str, str]:
    """Return the address's values of a view worth opening on; empty before anything was measured. One query.

    Of the first kind in the catalog that most pairs measured lately, at the setting that most of them have: at its
    defaults where several have as many. Of these pairs the one with the most runs.
    """
    kinds = catalog().kinds
    values = {
        "open": [state.value for state in OPEN_STATES],
        "runs": _RUNS,
        "metrics": [kind.headline for kind in kinds.values()],
        "headlines": [f"{kind.name}.{kind.headline}" for kind in kinds.values()],
    }
    tests = [test for test in fetch(_Test, _TESTS, values) if test.kind in kinds]
    if not tests:
        return _latest_series()
    order = list(kinds)
    usual = min(tests, key=lambda test: (-test.pairs, order.index(test.kind), len(test.identity), str(test.identity)))
    kind = kinds[usual.kind]
    varied = set[str]().union(*(test.identity for test in tests if test.kind == usual.kind))
    settings = {
        f"p.{name}": parameter_text(parameter, usual.identity.get(name, parameter.default))
        for name, parameter in kind.parameters.items()
        if name in varied
    }
    return {"kind": kind.name, **settings, "pair": str(usual.most_measured)}


def _latest_series() -> dict[str, str]:
    """Return the kind and the pair of the latest series: a run's figures are there two minutes after it."""
    latest = Series.objects.order_by("-pk").values("kind", "pair_id").first()
    return {"kind": latest["kind"], "pair": str(latest["pair_id"])} if latest else {}
