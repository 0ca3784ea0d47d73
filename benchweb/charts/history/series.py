"""Which series a look at the history draws, and how they are named."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog import Kind, Parameter
from benchweb.charts.axes import value_words
from benchweb.charts.history.lines import MOST_LINES, Chosen, HistoryLine, keys_of, lines_of
from benchweb.charts.history.query import HistoryQuery
from benchweb.documents.references import Label, environment_ref, joined_label, numbered_ref, worded
from benchweb.plans.models import PlanVersion
from benchweb.results.models import Series

# Of each line its pair, its environment and its parameters in words, by name.
Parts = list[dict[str, Label]]


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
    """Choose the lines that match, the oldest first; one query, and one more for a plan."""
    digests = _plan_digests(query.plan, selection.kind) if query.plan is not None else None
    return lines_of(query, selection.kind, selection.main, selection.beside, most=most, digests=digests)


def line_names(parts: Parts) -> list[Label]:
    """Name each line by what sets it apart from the others; a single one by its pair."""
    differing = [name for name in parts[0] if len({part[name] for part in parts}) > 1] if parts else []
    return [joined_label(part[name] for name in differing or ["pair"]) for part in parts]


def common_words(parts: Parts, kind: Kind) -> Label:
    """Say what all lines have in common: the kind, the pair, the environment, parameters."""
    same = [name for name in parts[0] if len({part[name] for part in parts}) == 1] if parts else []
    return joined_label([kind.label, *(parts[0][name] for name in same)])


def setting_words(parameter: Parameter, value: Any) -> Label:
    """Say a parameter's value with its label and unit."""
    return Label(parameter.label, " ", value_words(parameter, value))


def line_parts(lines: Sequence[HistoryLine], kind: Kind) -> Parts:
    """Return every line's parts by name, the same names for all."""
    pairs = _pair_names(lines)
    ends_of_lines = [
        {"pair": pairs[line.pair.pk], "environment": environment_ref(line.pair.environment)} for line in lines
    ]
    return [
        line_ends | settings
        for line_ends, settings in zip(
            ends_of_lines, setting_parts([line.identity for line in lines], kind), strict=True
        )
    ]


def _pair_names(lines: Sequence[HistoryLine]) -> dict[int, Label]:
    """Name the pairs, with their numbers where two read alike: an archived host's name is free again."""
    names = {line.pair.pk: line.pair_words for line in lines}
    times = Counter(names.values())
    return {
        pk: name
        if times[name] == 1
        else Label(name, " (", worded(_("pair {pair}"), pair=numbered_ref("pair", pk)), ")")
        for pk, name in names.items()
    }


def setting_parts(identities: Sequence[Mapping[str, Any]], kind: Kind) -> Parts:
    """Say every identity's settings by name, the same names for all: an identity leaves out what is a default."""
    measured_names = set().union(*identities)
    parameters = (
        [parameter for name, parameter in kind.series_parameters.items() if name in measured_names]
        if measured_names
        else []
    )
    return [
        {
            parameter.name: setting_words(parameter, identity.get(parameter.name, parameter.default))
            for parameter in parameters
        }
        for identity in identities
    ]


def _plan_digests(plan_id: int, kind: Kind) -> set[str]:
    keys = keys_of(PlanVersion.objects.filter(plan=plan_id))
    return {digest for pairs in keys.values() for name, digest in pairs if name == kind.name}
