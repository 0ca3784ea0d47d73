"""The choices of the history's form: hosts, environments, pairs, plans, kinds and metrics, parameters' values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchweb.catalog import Kind, Parameter, catalog, nested_text, storable_json
from benchweb.charts.lines import sort_key
from benchweb.common.rows import fetch
from benchweb.hosts.pairs import PairNames, with_pairs
from benchweb.results.models import Series

# A longer list is no choice: one comes to such a pair from its page, from the matrix, or by its host.
MOST_PAIRS = 200
# In an address: of series whose imported text doesn't tell a parameter.
UNKNOWN = "unknown"

# One query for all, for a page has ten. Of thousands of series the few kinds, metrics and identities are found by
# skipping along an index from each to the next.
_SQL = with_pairs("""
WITH RECURSIVE measured AS (
  (SELECT kind, metric FROM results_series ORDER BY kind, metric LIMIT 1)
  UNION ALL SELECT next.kind, next.metric FROM measured m CROSS JOIN LATERAL (
    SELECT kind, metric FROM results_series WHERE (kind, metric) > (m.kind, m.metric) ORDER BY kind, metric LIMIT 1
  ) next
), chosen AS (
  SELECT coalesce(nullif(%(kind)s, ''), (SELECT kind FROM results_series ORDER BY id LIMIT 1)) AS kind
), identities AS (
  (SELECT kind, identity_digest, identity FROM results_series WHERE kind = (SELECT kind FROM chosen)
    ORDER BY identity_digest LIMIT 1)
  UNION ALL SELECT i.kind, next.identity_digest, next.identity FROM identities i CROSS JOIN LATERAL (
    SELECT identity_digest, identity FROM results_series WHERE kind = i.kind AND identity_digest > i.identity_digest
    ORDER BY identity_digest LIMIT 1
  ) next
)
SELECT (SELECT kind FROM chosen) AS kind,
  (SELECT jsonb_object_agg(id, name) FROM hosts_host WHERE archived_at IS NULL OR id = %(host)s) AS hosts,
  (SELECT jsonb_object_agg(id, name) FROM hosts_environment WHERE archived_at IS NULL OR id = %(environment)s)
    AS environments,
  (SELECT jsonb_object_agg(id, name) FROM plans_plan WHERE (archived_at IS NULL AND NOT is_one_off) OR id = %(plan)s)
    AS plans,
  (SELECT jsonb_object_agg(id, names) FROM (
    SELECT pair.id, {pair_names_as_json} AS names
    FROM hosts_pair pair {pair_ends}
    WHERE (pair.archived_at IS NULL OR pair.id = %(pair)s)
      AND (%(host)s::bigint IS NULL OR %(host)s IN (source_host.id, sink_host.id))
      AND (%(environment)s::bigint IS NULL OR pair.environment_id = %(environment)s)
    ORDER BY pair.id = %(pair)s DESC, pair.id LIMIT %(most)s
  ) named) AS pairs,
  (SELECT jsonb_object_agg(kind, metrics) FROM (
    SELECT kind, jsonb_agg(metric) AS metrics FROM measured GROUP BY kind
  ) of_kind) AS metrics,
  (SELECT jsonb_agg(identity) FROM identities) AS identities
""")


class _ChoiceRow(NamedTuple):
    """What there is to choose from: names by id, metrics by kind, and the identities of the chosen kind."""

    kind: str | None
    hosts: dict[str, str] | None
    environments: dict[str, str] | None
    plans: dict[str, str] | None
    # Each as PairNames takes it.
    pairs: dict[str, dict[str, Any]] | None
    metrics: dict[str, list[str]] | None
    identities: list[dict[str, Any] | None] | None


@dataclass(frozen=True)
class Facet:
    """An identity parameter of which there is more than one value: each as written in the address, and itself."""

    parameter: Parameter
    values: list[tuple[str, Any]]


@dataclass(frozen=True)
class MetricChoice:
    """A metric, or a kind's chart of percentiles by the chart's id."""

    key: str
    label: str


@dataclass(frozen=True)
class Choices:
    """Everything to choose from; `kind` is the requested one, else the first measured; none before the first result."""

    kind: Kind | None
    kinds: list[Kind]
    metrics: list[MetricChoice]
    hosts: list[tuple[str, str]]
    environments: list[tuple[str, str]]
    pairs: list[tuple[str, str]]
    plans: list[tuple[str, str]]
    facets: list[Facet]


def history_choices(
    *, kind: str, host: int | None, environment: int | None, pair: int | None, plan: int | None
) -> Choices:
    """Read the choices, what is chosen among them also where it is archived; one query."""
    values: dict[str, Any] = {"host": host, "environment": environment, "pair": pair, "plan": plan}
    # An unknown kind counts as none.
    values |= {"kind": kind if kind in catalog().kinds else "", "most": MOST_PAIRS + 1}
    (row,) = fetch(_ChoiceRow, _SQL, values)
    metrics = row.metrics or {}
    known = catalog().kinds
    chosen = known.get(row.kind or "") if metrics else None
    pairs = _by_name({key: PairNames(**names).pair for key, names in (row.pairs or {}).items()})
    return Choices(
        kind=chosen,
        kinds=[kind for name, kind in known.items() if name in metrics or kind is chosen],
        metrics=_metrics(chosen, set(metrics.get(chosen.name, ()))) if chosen else [],
        hosts=_by_name(row.hosts),
        environments=_by_name(row.environments),
        pairs=pairs if len(pairs) <= MOST_PAIRS else [choice for choice in pairs if choice[0] == str(pair)],
        plans=_by_name(row.plans),
        facets=facets_of(chosen, [identity or {} for identity in row.identities or ()]) if chosen else [],
    )


def first_kind() -> Kind | None:
    """Return the kind that was measured first, which is the one to begin with; one query."""
    kind = Series.objects.order_by("pk").values_list("kind", flat=True).first()
    return catalog().kinds.get(kind or "")


def parameter_text(parameter: Parameter, value: Any) -> str:
    """Write a parameter's value for an address."""
    if parameter.is_test:
        return nested_text(value)
    if value is None:
        return UNKNOWN
    return json.dumps(value) if isinstance(value, bool | int | float) else str(value)


def parameter_value(parameter: Parameter, text: str) -> Any:
    """Read what parameter_text wrote; a text that can't be one is given as it is."""
    if text == UNKNOWN and not parameter.is_test:
        return None
    if not (parameter.is_test or parameter.is_number or parameter.schema["type"] == "boolean"):
        return text
    try:
        return storable_json(text)
    except ValueError:
        return text


def _by_name(names: Mapping[str, str] | None) -> list[tuple[str, str]]:
    return sorted((names or {}).items(), key=lambda entry: (entry[1], int(entry[0])))


def _metrics(kind: Kind, measured: set[str]) -> list[MetricChoice]:
    """Return the headline first, then charts of percentiles, then every metric in the catalog's order."""
    charts = [
        MetricChoice(chart.id, chart.title)
        for chart in kind.charts
        if chart.form == "percentiles" and measured.intersection(chart.metrics)
    ]
    metrics = [MetricChoice(key, metric.label) for key, metric in kind.metrics.items() if key in measured]
    return sorted([*charts, *metrics], key=lambda metric: metric.key != kind.headline)


def facets_of(kind: Kind, identities: Sequence[Mapping[str, Any]]) -> list[Facet]:
    """Return the parameters that have more than one value among these identities, which leave out defaults."""
    varied = set().union(*identities)
    facets = []
    for name, parameter in kind.series_parameters.items():
        if not parameter.identity or name not in varied:
            continue
        given = [identity.get(name, parameter.default) for identity in identities]
        values = {parameter_text(parameter, value): value for value in given}
        if len(values) > 1:
            facets.append(Facet(parameter, sorted(values.items(), key=_by_size)))
    return facets


def _by_size(entry: tuple[str, Any]) -> tuple[int, float, str]:
    text, value = entry
    return sort_key(value if isinstance(value, int | float) else text)
