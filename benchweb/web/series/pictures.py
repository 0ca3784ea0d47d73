"""Pictures of an environment, host or pair: its figures night by night, its last night by size, and its pairs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from benchweb.catalog import Kind, Metric, catalog
from benchweb.charts.history.choices import parameter_text
from benchweb.charts.matrix.mesh import MOST_PAIRS, VerdictMesh, mesh_of
from benchweb.charts.nights import NightsShown, SizeNight, night_chart, size_chart, size_nights
from benchweb.charts.sparkline import nightly
from benchweb.common.addresses import site_path
from benchweb.documents.charts import ChartMark, ChartSpec, Detail
from benchweb.documents.moments import rfc3339
from benchweb.regressions.outliers import judged
from benchweb.regressions.overview import (
    FigureKey,
    ToldChange,
    Worsening,
    lasting,
    worsened_figures,
    worsened_of_pair,
)
from benchweb.results.ingest import identity_digest
from benchweb.results.latest_deviations import MeshPair, mesh_pairs
from benchweb.results.latest_medians import SeriesTest
from benchweb.results.nightly_summaries import FIGURES, RETAINED, night_of
from benchweb.results.run_summaries import deviation_of
from benchweb.results.scope_figures import scope_figures
from benchweb.results.series_summaries import FigureNights, SeriesScope, environment_figures
from benchweb.statistics import Deviation
from benchweb.web.series.section import history_url
from benchweb.web.shared.zones import day_text
from benchweb.web.tags.show import params_text
from benchweb.web.tags.sparklines import figures_text

# "Last night" on the page is this long, up to now: whoever looks at noon or at two in the morning sees a whole one.
NIGHT = timedelta(hours=24)
NIGHTS_DISPLAYED = 30


@dataclass(frozen=True)
class NightMedian:
    """One figure of an environment, host or pair: the median over the pairs that measure it so, night by night."""

    # What it is of, as an address names it: {"environment": 3}.
    of: Mapping[str, int]
    metric: Metric
    kind: Kind
    params: Mapping[str, Any]
    # None where neither the last night nor the one before it gave a result.
    median: float | None
    # The night it is of, where that ended before today began: what is said of the last 24 hours isn't of it.
    earlier: date | None
    # Over the pairs.
    extremes: tuple[float, float] | None
    pairs: int
    values: Sequence[float | None]
    # The first of them that were before the first night of all.
    nights_before: int
    change: Deviation | None
    row: FigureNights
    # The last of the nights that have a value or could have.
    last: date

    @property
    def earlier_text(self) -> str:
        return day_text(self.earlier) if self.earlier else ""

    @property
    def params_text(self) -> str:
        return params_text(self.kind.name, self.params)

    @property
    def judged(self) -> str:
        """Tell how its latest night is beside those before it: worse, better, same, or learning."""
        return judged(self.change, self.metric)

    @property
    def n(self) -> int:
        """Return what its range is over: the pairs, or of one alone its repetitions where they are known."""
        return self.row.n or self.pairs

    @property
    def of_pairs(self) -> int:
        """Return how many pairs have it; more than were read of a host of many."""
        return max(self.row.of_pairs or 0, self.pairs)

    @property
    def chart_id(self) -> str:
        (number,) = self.of.values()
        return f"night-{number}-{self.metric.key}"

    @property
    def words(self) -> str:
        """Say what its chart shows, for whoever doesn't see it."""
        return figures_text(self.values[self.nights_before :], self.metric.unit, get_language())

    @property
    def filters(self) -> Mapping[str, str]:
        """Return the parameters that tell its test from the others measured there, as an address has them."""
        known = self.kind.series_parameters
        varied = {name: known[name].default for name in self.row.varied or () if name in known}
        given = {name: value for name, value in (varied | dict(self.params)).items() if name in known}
        return {name: parameter_text(known[name], value) for name, value in given.items()}

    @property
    def history_url(self) -> str:
        """Return the page of the same nights: a line for each pair."""
        url = history_url(self.of, self.kind, self.metric.key, self.filters)
        return f"{url}&over={NIGHTS_DISPLAYED}d"

    def chart(self, changes: Sequence[ToldChange], detail: Detail) -> ChartSpec:
        """Draw its nights, with a flag for each change that people were told of."""
        of_figure = (self.kind.name, self.metric.key)
        marks = [
            ChartMark(rfc3339(each.at), _("alert"), "alert", href=site_path(f"/alerts/{each.alert}"))
            for each in changes
            if (each.kind, each.metric) == of_figure
        ]
        shown = NightsShown(self.last, NIGHTS_DISPLAYED, self.nights_before)
        return night_chart(self.chart_id, self.row, self.metric, shown, change=self.change, marks=marks, detail=detail)


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """What charts tell of an environment, host or pair; a figure that nothing measures is None."""

    # As an address names it: {"environment": 3}.
    of: Mapping[str, int]
    figures: list[tuple[Metric, NightMedian | None]]
    changes: Sequence[ToldChange] = ()
    mesh: VerdictMesh | None = None

    @property
    def id(self) -> int:
        (number,) = self.of.values()
        return number

    @property
    def main(self) -> NightMedian | None:
        """Return the first figure that is measured: that of its sizes and pairs."""
        return next((figure for _metric, figure in self.figures if figure), None)

    @cached_property
    def sizes(self) -> list[SizeNight]:
        """Return the last night by size; empty where it gave nothing, or one size alone is measured."""
        main = self.main
        sizes = size_nights(main.row, main.kind, main.metric) if main and main.median is not None else []
        return sizes if len(sizes) > 1 else []

    @property
    def sizes_id(self) -> str:
        return f"sizes-{self.id}"

    @property
    def sizes_url(self) -> str:
        """Return the page of the same night by size."""
        main = self.main
        if main is None:
            return ""
        end = main.row.nights[-1]
        swept = main.kind.sweeps[0].x
        rest = {name: value for name, value in main.filters.items() if name != swept}
        url = history_url(self.of, main.kind, main.metric.key, rest)
        night = {"from": f"{end - timedelta(days=1)}T12:00Z", "to": f"{end}T12:00Z"}
        return f"{url}&view=sizes&{urlencode(night)}"

    @property
    def mesh_url(self) -> str:
        """Return the matrix of the same test, judged by the same runs."""
        main = self.main
        if main is None:
            return ""
        test = SeriesTest(main.kind.name, main.row.digest, main.row.identity)
        query = {**self.of, "test": test.key, "metric": main.metric.key, "with": "usual"}
        return f"{reverse('web:matrix')}?{urlencode(query)}"

    def charts(self, detail: Detail) -> list[ChartSpec]:
        """Draw its nights and its sizes."""
        charts = [figure.chart(self.changes, detail) for _metric, figure in self.figures if figure]
        if self.sizes and (main := self.main):
            charts.append(size_chart(self.sizes_id, main.kind, main.metric, self.sizes, detail=detail))
        return charts


_P = TypeVar("_P", bound=Pictures)


def first_night() -> date:
    """Return the first of the nights that are shown."""
    return _first_night(timezone.now())


def environment_pictures(environment_id: int, changes: Sequence[ToldChange]) -> Pictures:
    """Return the pictures of one environment for its own page; up to three queries."""
    now = timezone.now()
    rows = environment_figures(_first_night(now), [environment_id])
    figures = figures_of(rows, now, told_figures(rows, {environment_id})).get(environment_id, {})
    pictures = Pictures(of={"environment": environment_id}, figures=in_order(figures), changes=changes)
    (whole,) = with_meshes([pictures], now - NIGHT)
    return whole


def scope_pictures(of: Mapping[str, int], scope: SeriesScope, changes: Sequence[ToldChange]) -> Pictures:
    """Return the pictures of a pair, or of a host whose endpoints the scope has; one query, of a pair two."""
    now = timezone.now()
    rows = scope_figures(scope, since=_first_night(now), until=night_of(now))
    told = worsened_of_pair(scope.pair) if scope.pair is not None and rows else {}
    figures = figures_of(rows, now, told, of=of).get(0, {})
    return Pictures(of=of, figures=in_order(figures), changes=changes)


def told_figures(rows: Sequence[FigureNights], worse: Collection[int]) -> Mapping[FigureKey, Worsening]:
    """Return what alerts tell of figures that are one pair's, in these environments; one query where there are any."""
    of_one = {row.environment_id for row in rows if row.environment_id in worse and row.pairs and row.pairs[-1] == 1}
    return worsened_figures(of_one) if of_one else {}


def figures_of(
    rows: Sequence[FigureNights],
    now: datetime,
    told: Mapping[FigureKey, Worsening] = {},
    of: Mapping[str, int] | None = None,
) -> dict[int, dict[str, NightMedian]]:
    """Prepare figures by environment and metric as alerts tell them; what has left the catalog is left out.

    `of` is what they are of where that is no environment.
    """
    figures: dict[int, dict[str, NightMedian]] = {}
    tonight = night_of(now)
    # The night under way is no gap before it has given something: any figure of the environment.
    begun = {row.environment_id for row in rows if row.nights and row.nights[-1] == tonight}
    for row in rows:
        kind = catalog().kinds.get(row.kind)
        if kind and row.metric in kind.metrics and row.nights:
            last = tonight if row.environment_id in begun else tonight - timedelta(days=1)
            key = (row.environment_id, row.kind, row.metric, identity_digest(row.identity))
            worsening = told.get(key) if row.pairs[-1] == 1 else None
            figure = _figure(row, kind, of or {"environment": row.environment_id}, now=now, last=last)
            figures.setdefault(row.environment_id, {})[row.metric] = _as_told(figure, worsening, now)
    return figures


def _as_told(figure: NightMedian, worsening: Worsening | None, now: datetime) -> NightMedian:
    """Return one pair's figure with the change that its alert tells, so that a page never says two of one fall."""
    told = lasting(worsening, now, figure.change) if figure.change and figure.change.is_significant else None
    if told is None or told.ratio is None or figure.change is None:
        return figure
    return replace(figure, change=replace(figure.change, ratio=told.ratio))


def _figure(row: FigureNights, kind: Kind, of: Mapping[str, int], *, now: datetime, last: date) -> NightMedian:
    metric = kind.metrics[row.metric]
    today = now.astimezone(UTC).date()
    is_fresh = row.nights[-1] >= night_of(now) - timedelta(days=1)
    values = nightly(row.nights, row.medians, last=last, count=NIGHTS_DISPLAYED)
    is_known_before = row.has_earlier or row.nights[0] <= last - timedelta(days=NIGHTS_DISPLAYED)
    known = next((index for index, value in enumerate(values) if value is not None), len(values))
    return NightMedian(
        of=of,
        metric=metric,
        kind=kind,
        params=kind.stated_defaults | row.identity,
        median=row.medians[-1] if is_fresh else None,
        earlier=row.nights[-1] if is_fresh and row.nights[-1] < today else None,
        extremes=(row.low, row.high) if row.low is not None and row.high is not None else None,
        pairs=row.pairs[-1],
        values=values,
        # As many as are kept begin with any night; of fewer the first is the first of all.
        nights_before=0 if is_known_before or len(row.nights) >= RETAINED else known,
        change=deviation_of(row.medians, metric) if is_fresh else None,
        row=row,
        last=last,
    )


def with_meshes(rows: Sequence[_P], since: datetime) -> list[_P]:
    """Add each environment's pairs, in the test of its first figure; one query."""
    tests = [(row.id, main.kind.name, main.metric.key, main.row.digest) for row in rows if (main := row.main)]
    pairs: dict[int, list[MeshPair]] = {}
    for pair in mesh_pairs(tests, most=MOST_PAIRS):
        pairs.setdefault(pair.environment, []).append(pair)
    return [replace(row, mesh=_mesh(row, pairs[row.id], since)) if row.id in pairs else row for row in rows]


def _mesh(row: Pictures, pairs: Sequence[MeshPair], since: datetime) -> VerdictMesh | None:
    main = row.main
    return mesh_of(pairs, main.metric, since=since, night=main.row.nights[-1]) if main else None


def in_order(figures: Mapping[str, NightMedian]) -> list[tuple[Metric, NightMedian | None]]:
    return [(catalog().metrics[key], figures.get(key)) for key in FIGURES]


def _first_night(now: datetime) -> date:
    return night_of(now) - timedelta(days=NIGHTS_DISPLAYED)
