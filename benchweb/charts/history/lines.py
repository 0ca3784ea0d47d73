"""Which lines a look at the history draws: the series of a pair, kind and identity, read by one statement."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

from benchweb.catalog import Kind, Parameter, catalog
from benchweb.charts.history.choices import parameter_value
from benchweb.charts.history.query import HistoryQuery
from benchweb.charts.lines import COLORS, marker_of
from benchweb.common.cache import remember
from benchweb.common.rows import fetch
from benchweb.documents.charts import Dash
from benchweb.documents.references import Label, pair_ref
from benchweb.hosts.models import endpoint_label
from benchweb.hosts.pairs import with_pairs
from benchweb.plans.expansion import expanded
from benchweb.plans.models import PlanVersion
from benchweb.results.ingest import identity_digest
from benchweb.results.models import Series

Keys = frozenset[tuple[str, str]]

# Versions never change, so what was worked out once holds; a plan may have thousands of trials.
_CACHE_SIZE = 500
_cache: dict[int, Keys] = {}


def keys_of_versions(version_ids: Iterable[int]) -> dict[int, Keys]:
    """Return the keys of versions by id; one query when one of them is new to this process."""
    wanted = set(version_ids)
    cached = {pk: keys for pk in wanted if (keys := _cache.get(pk)) is not None}
    missing = wanted - cached.keys()
    return cached | (keys_of(PlanVersion.objects.filter(pk__in=missing)) if missing else {})


def keys_of(versions: Iterable[PlanVersion]) -> dict[int, Keys]:
    """Return the keys of versions by id."""
    return {version.pk: _keys(version) for version in versions}


def _keys(version: PlanVersion) -> Keys:
    keys = _cache.get(version.pk)
    if keys is None:
        kinds = catalog().kinds
        # A kind may have left the catalog since: its trials are in no series that could be drawn.
        steps = [step for step in version.steps if step["kind"] in kinds]
        keys = frozenset(
            (trial.kind, identity_digest(identity))
            for trial in expanded(steps, 1, "interleaved")
            for identity in kinds[trial.kind].identities(trial.params)
        )
        remember(_cache, version.pk, keys, most=_CACHE_SIZE)
    return keys


# More lines than this can't be told apart, whatever their colours.
MOST_LINES = 12
# One more than there are markers: when the colours come again both change, and the same two meet after 160 lines.
DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted", "dashdot", "long")

# The place among all series of the kind and metric binds colours for good, and neighbours differ.
# Those that match are counted and sorted by themselves: thousands with all their columns would take as long again.
_SQL = with_pairs("""
WITH chosen AS (
  SELECT s.id, count(*) OVER () AS total, (recent.at AT TIME ZONE 'UTC' + interval '12 hours')::date AS night
  FROM results_series s
  JOIN hosts_pair pair ON pair.id = s.pair_id
  {pair_ends}
  LEFT JOIN results_recentmedians recent ON recent.series_id = s.id
  WHERE s.kind = %(kind)s AND s.metric = %(main)s {only}
  ORDER BY night DESC NULLS LAST, s.id LIMIT %(most)s
)
SELECT s.id AS series, s.identity, s.identity_digest AS digest, chosen.total, {position} AS position,
  (SELECT jsonb_object_agg(o.metric, o.id) FROM results_series o WHERE o.pair_id = s.pair_id AND o.kind = s.kind
    AND o.identity_digest = s.identity_digest AND o.metric = ANY(%(beside)s)) AS others,
  pair.id AS pair, e.id AS environment_id, e.name AS environment, {source} AS source, {sink} AS sink
FROM chosen
JOIN results_series s ON s.id = chosen.id
JOIN hosts_pair pair ON pair.id = s.pair_id
JOIN hosts_environment e ON e.id = pair.environment_id
{pair_ends}
ORDER BY chosen.night DESC NULLS LAST, s.id
""")
_END_SQL = """jsonb_build_object('pk', {end}.id, 'name', {end}.name, 'network_mode', {end}.network_mode,
    'data_address', {end}.data_address, 'control_address', {end}.control_address, 'link_bps', {end}.link_bps,
    'bind_device', {end}.bind_device,
    'host_id', {end}_host.id, 'host_name', {end}_host.name, 'labels', {end}_host.labels)"""
_ENDS_SQL = {end: _END_SQL.format(end=end) for end in ("source", "sink")}
_POSITION_SQL = "(SELECT count(*) FROM results_series o WHERE o.kind = s.kind AND o.metric = s.metric AND o.id < s.id)"
_SEARCHED = """upper(concat_ws(' ', source_host.name, sink_host.name, source.name, sink.name, source.network_mode,
    sink.network_mode, (SELECT name FROM hosts_environment WHERE id = pair.environment_id), s.identity::text))"""
_PATTERN_SIGNS = re.compile(r"[%_\\]")
# Another plan may have measured the same on pairs that this one never ran on.
_OF_PLAN = """EXISTS (SELECT FROM runs_run r JOIN plans_planversion v ON v.id = r.plan_version_id
    WHERE r.pair_id = s.pair_id AND v.plan_id = %(plan)s)"""


class _Row(NamedTuple):
    """A series that matches, those of other metrics beside it by name, and how many match in all."""

    series: int
    identity: dict[str, Any]
    digest: str
    total: int
    position: int
    others: dict[str, int] | None
    pair: int
    environment_id: int
    environment: str
    # Each as LineEnd takes it.
    source: dict[str, Any]
    sink: dict[str, Any]


@dataclass(frozen=True)
class LineEnd:
    """An endpoint, as far as a chart names it."""

    pk: int
    name: str
    network_mode: str
    data_address: str
    control_address: str
    # As entered, for where the kernel tells none.
    link_bps: float | None
    bind_device: str
    host_id: int
    host_name: str
    labels: tuple[str, ...]

    def __str__(self) -> str:
        return endpoint_label(self.host_name, self.name, self.network_mode)

    @property
    def address(self) -> str:
        """Where test traffic goes to, without a port."""
        return self.data_address or self.control_address.rpartition(":")[0].strip("[]")


@dataclass(frozen=True)
class LinePair:
    """A pair, as far as a chart names it."""

    pk: int
    environment_id: int
    environment: str
    source: LineEnd
    sink: LineEnd

    @cached_property
    def words(self) -> Label:
        return pair_ref(self)

    @property
    def is_one_host(self) -> bool:
        return self.source.pk == self.sink.pk

    @property
    def ends(self) -> tuple[LineEnd, LineEnd]:
        return self.source, self.sink


@dataclass(frozen=True)
class HistoryLine:
    """One line: the series of a pair, kind and identity, by metric; its place among all of the metric never changes."""

    pair: LinePair
    identity: dict[str, Any]
    digest: str
    series: dict[str, int]
    index: int

    @property
    def color(self) -> int:
        return self.index % COLORS

    @property
    def marker(self) -> Literal["circle", "rect", "triangle", "rectRot"]:
        return marker_of(self.index)

    @property
    def dash(self) -> Dash:
        return DASHES[self.index // COLORS % len(DASHES)]

    @property
    def pair_words(self) -> Label:
        return self.pair.words


@dataclass(frozen=True)
class Selection:
    """What is drawn of a kind: one metric, or a chart of percentiles, and what goes along with it."""

    kind: Kind
    key: str
    title: str
    # One metric, or percentiles from the lowest to the highest.
    metrics: list[str]
    strip: str
    # Metrics that are no line over time but a ceiling.
    ceilings: list[str]

    @property
    def is_percentiles(self) -> bool:
        return len(self.metrics) > 1

    @property
    def main(self) -> str:
        """Name the metric that is the line: of percentiles the median."""
        return next((metric for metric in self.metrics if "_p50_" in metric), self.metrics[0])

    @property
    def beside(self) -> list[str]:
        return [
            *(metric for metric in self.metrics if metric != self.main),
            *filter(None, [self.strip]),
            *self.ceilings,
        ]


@dataclass(frozen=True)
class Chosen:
    """The lines of a look, and how many there would be."""

    lines: list[HistoryLine]
    total: int


def with_series(query: HistoryQuery) -> HistoryQuery:
    """Take kind and metric from the series that a query names, where it names any; one query then."""
    if not query.series:
        return query
    named = Series.objects.filter(pk__in=query.series).order_by("pk").values_list("kind", "metric").first()
    return replace(query, kind=named[0], metric=named[1]) if named else query


def selection_of(kind: Kind, key: str) -> Selection:
    """Find what a key names: a metric of the kind, or one of its charts of percentiles; else the headline."""
    charts = {chart.id: chart for chart in kind.charts if chart.form == "percentiles"}
    strip = kind.loss
    if key in charts and key not in kind.metrics:
        chart = charts[key]
        return Selection(kind, key, chart.title, list(chart.metrics), strip, [])
    metric = kind.metrics.get(key) or kind.metrics[kind.headline]
    ceilings = [name for chart in kind.charts if metric.key in chart.metrics for name in chart.lines]
    return Selection(kind, metric.key, metric.label, [metric.key], "" if strip == metric.key else strip, ceilings)


def chosen_lines(query: HistoryQuery, selection: Selection, *, most: int = MOST_LINES) -> Chosen:
    """Choose the lines that match, those with a result of the latest night first; one query, one more for a plan."""
    kind, main = selection.kind, selection.main
    values: dict[str, Any] = {"kind": kind.name, "main": main, "beside": selection.beside, "most": most}
    only = conditions(query, kind, values)
    if query.plan is not None:
        only += ["s.identity_digest = ANY(%(digests)s)", _OF_PLAN]
        values |= {"digests": sorted(_plan_digests(query.plan, kind)), "plan": query.plan}
    # What sweeps many series gives its lines other colours, and to count for each of them would take long.
    position = _POSITION_SQL if most <= MOST_LINES else "0"
    statement = _SQL.format(position=position, only="".join(f" AND {condition}" for condition in only), **_ENDS_SQL)
    rows = fetch(_Row, statement, values)
    pairs = {pk: _pair(row) for pk, row in {row.pair: row for row in rows}.items()}
    lines = [
        HistoryLine(pairs[row.pair], row.identity, row.digest, {main: row.series} | (row.others or {}), row.position)
        for row in rows
    ]
    return Chosen(lines, rows[0].total if rows else 0)


def _plan_digests(plan_id: int, kind: Kind) -> set[str]:
    keys = keys_of(PlanVersion.objects.filter(plan=plan_id))
    return {digest for pairs in keys.values() for name, digest in pairs if name == kind.name}


def _pair(row: _Row) -> LinePair:
    return LinePair(row.pair, row.environment_id, row.environment, _end(row.source), _end(row.sink))


def _end(columns: dict[str, Any]) -> LineEnd:
    # JSON writes a speed without decimals as a whole number.
    link_bps = None if columns["link_bps"] is None else float(columns["link_bps"])
    return LineEnd(**columns | {"link_bps": link_bps, "labels": tuple(columns["labels"])})


def conditions(query: HistoryQuery, kind: Kind, values: dict[str, Any]) -> list[str]:
    """Return what the query asks as conditions on a series `s`, its `pair` and their ends; put their values along."""
    filters: dict[str, tuple[str, Any]] = {
        "s.id = ANY(%(series)s)": ("series", list(query.series) or None),
        "pair.id = %(pair)s": ("pair", query.pair),
        "pair.environment_id = %(environment)s": ("environment", query.environment),
        "%(host)s IN (source.host_id, sink.host_id)": ("host", query.host),
    }
    if query.view == "sizes" and query.overlay == "run":
        # Among hundreds of series those of a requested run may be the last.
        filters["s.pair_id = ANY(ARRAY(SELECT pair_id FROM runs_run WHERE id = ANY(%(runs)s)))"] = (
            "runs",
            list(query.runs) or None,
        )
    if query.text:
        words = [_PATTERN_SIGNS.sub(r"\\\g<0>", word.upper()) for word in query.text.split()]
        filters[f"{_SEARCHED} LIKE ALL(%(patterns)s)"] = ("patterns", [f"%{word}%" for word in words])
    given = {condition: named for condition, named in filters.items() if named[1] is not None}
    values.update(dict(given.values()))
    return [*given, *parameter_conditions(query, kind, values)]


def parameter_conditions(query: HistoryQuery, kind: Kind, values: dict[str, Any]) -> list[str]:
    """Return what the query asks of the parameters of a row `s` with an identity, and put their values along."""
    conditions = []
    for number, (name, text) in enumerate(query.parameters.items()):
        if parameter := kind.series_parameters.get(name):
            values |= {f"name_{number}": name, f"value_{number}": _json(parameter, text)}
            is_default = parameter_value(parameter, text) == parameter.default
            # An identity leaves defaults out.
            conditions.append(
                f"NOT s.identity ? %(name_{number})s" if is_default else f"s.identity @> %(value_{number})s::jsonb"
            )
    return conditions


def _json(parameter: Parameter, text: str) -> str:
    return json.dumps({parameter.name: parameter_value(parameter, text)})
