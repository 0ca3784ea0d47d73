"""The last night for the overview: each environment's verdict, its runs, its figures night by night, size and pair."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple
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
from benchweb.documents.charts import ChartMark, ChartSpec, Detail
from benchweb.documents.moments import rfc3339
from benchweb.regressions.outliers import judged
from benchweb.regressions.overview import (
    AlertsNow,
    EnvironmentAlerts,
    FigureKey,
    ToldChange,
    Worsening,
    lasting,
    worsened_figures,
)
from benchweb.results.ingest import identity_digest
from benchweb.results.latest_deviations import MeshPair, mesh_pairs
from benchweb.results.latest_medians import SeriesTest
from benchweb.results.nightly_summaries import FIGURES, RETAINED, night_of
from benchweb.results.run_summaries import deviation_of
from benchweb.results.series_summaries import FigureNights, environment_figures
from benchweb.runs.outcomes import DAYS_BEFORE, EnvironmentOutcome, outcomes
from benchweb.statistics import Deviation
from benchweb.web.series.section import history_url
from benchweb.web.shared.zones import day_text
from benchweb.web.tags.show import params_text
from benchweb.web.tags.sparklines import figures_text

# "Last night" on the page is this long, up to now: whoever looks at noon or at two in the morning sees a whole one.
NIGHT = timedelta(hours=24)
NIGHTS_DISPLAYED = 30
_ENVIRONMENTS_SHOWN = 20
# So many environments have a card each on a screen; more are rows.
MOST_CARDS = 3
_SILENT_SHOWN = 8


@dataclass(frozen=True)
class NightMedian:
    """One figure of an environment: the median over the pairs that measure it so, night by night."""

    environment_id: int
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
    def chart_id(self) -> str:
        return f"night-{self.environment_id}-{self.metric.key}"

    @property
    def words(self) -> str:
        """Say what its chart shows, for whoever doesn't see it."""
        return figures_text(self.values[self.nights_before :], self.metric.unit, get_language())

    @property
    def filters(self) -> Mapping[str, str]:
        """Return the parameters that tell its test from the others of the environment, as an address has them."""
        known = self.kind.series_parameters
        varied = {name: known[name].default for name in self.row.varied or () if name in known}
        given = {name: value for name, value in (varied | dict(self.params)).items() if name in known}
        return {name: parameter_text(known[name], value) for name, value in given.items()}

    @property
    def history_url(self) -> str:
        """Return the page of the same nights: a line for each pair."""
        url = history_url({"environment": self.environment_id}, self.kind, self.metric.key, self.filters)
        return f"{url}&over={NIGHTS_DISPLAYED}d"

    def chart(self, changes: Sequence[ToldChange], detail: Detail) -> ChartSpec:
        """Draw its nights, with a flag for each change that people were told of."""
        of_figure = (self.kind.name, self.metric.key)
        marks = [
            ChartMark(rfc3339(each.at), _("alert"), "alert", href=f"/alerts/{each.alert}")
            for each in changes
            if (each.kind, each.metric) == of_figure
        ]
        shown = NightsShown(self.last, NIGHTS_DISPLAYED, self.nights_before)
        return night_chart(self.chart_id, self.row, self.metric, shown, change=self.change, marks=marks, detail=detail)


class EnvironmentVerdict(NamedTuple):
    """The worst that is known of an environment, which comes first in a list; `figure` where it decides."""

    rank: int
    code: str
    figure: NightMedian | None = None


@dataclass(frozen=True)
class EnvironmentRow:
    """An environment in the overview; a figure that nothing measures is None."""

    id: int
    name: str
    outcome: EnvironmentOutcome | None
    alerts: EnvironmentAlerts | None
    figures: list[tuple[Metric, NightMedian | None]]
    changes: Sequence[ToldChange] = ()
    mesh: VerdictMesh | None = None

    @property
    def is_synthetic(self) -> bool:
        """Tell whether it is a sample, which nobody measured."""
        return self.outcome is not None and self.outcome.is_sample

    @property
    def url(self) -> str:
        return _environment_url(self.id)

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
        url = history_url({"environment": self.id}, main.kind, main.metric.key, rest)
        night = {"from": f"{end - timedelta(days=1)}T12:00Z", "to": f"{end}T12:00Z"}
        return f"{url}&view=sizes&{urlencode(night)}"

    @property
    def mesh_url(self) -> str:
        """Return the matrix of the same test, judged by the same runs."""
        main = self.main
        if main is None:
            return ""
        test = SeriesTest(main.kind.name, main.row.digest, main.row.identity)
        query = {"environment": self.id, "test": test.key, "metric": main.metric.key, "with": "usual"}
        return f"{reverse('web:matrix')}?{urlencode(query)}"

    def charts(self, detail: Detail) -> list[ChartSpec]:
        """Draw its nights and its sizes."""
        charts = [figure.chart(self.changes, detail) for _metric, figure in self.figures if figure]
        if self.sizes and (main := self.main):
            charts.append(size_chart(self.sizes_id, main.kind, main.metric, self.sizes, detail=detail))
        return charts

    @cached_property
    def verdict(self) -> EnvironmentVerdict:
        """Tell how it is, in a code that the page has words for."""
        return _verdict(self.alerts, self.outcome, [figure for _metric, figure in self.figures if figure])


@dataclass(frozen=True)
class LastNight:
    """The last night as the overview tells it."""

    since: datetime
    environments: list[EnvironmentRow]
    environments_hidden: int
    # Where neither a run ended lately nor a night has a figure, by name, and in how many days none did.
    silent: list[tuple[str, str]]
    silent_hidden: int
    silent_days: int
    metrics: list[Metric]
    # That ended in the night, and those of them without a whole result; of archived environments, too, of no sample.
    runs: int
    faulty_runs: int

    @property
    def are_cards(self) -> bool:
        return len(self.environments) <= MOST_CARDS

    @property
    def charts(self) -> list[ChartSpec]:
        """Draw every environment that is shown."""
        detail: Detail = "small" if self.are_cards else "row"
        return [chart for row in self.environments for chart in row.charts(detail)]


def first_night() -> date:
    """Return the first of the nights that are shown."""
    return _first_night(timezone.now())


def last_night(since: datetime, alerts: AlertsNow) -> LastNight:
    """Return the last night beside those before it; four queries: figures, runs, pairs, alerts."""
    now = timezone.now()
    nights = environment_figures(_first_night(now))
    ended = {each.environment_id: each for each in outcomes(since)}
    names = {row.environment_id: row.environment for row in nights}
    in_use = {key: outcome for key, outcome in ended.items() if not outcome.is_archived}
    silent = [each for each in in_use.values() if each.is_silent and each.environment_id not in names]
    names |= {key: outcome.environment for key, outcome in in_use.items() if not outcome.is_silent}
    told = _told(nights, {key for key, each in alerts.by_environment.items() if each.worse})
    rows = _rows(names, ended, alerts, figures_of(nights, now, told))
    return LastNight(
        since=since,
        environments=_with_meshes(rows[:_ENVIRONMENTS_SHOWN], since),
        environments_hidden=max(0, len(rows) - _ENVIRONMENTS_SHOWN),
        silent=[(each.environment, _environment_url(each.environment_id)) for each in silent[:_SILENT_SHOWN]],
        silent_hidden=max(0, len(silent) - _SILENT_SHOWN),
        silent_days=DAYS_BEFORE + NIGHT.days,
        metrics=[catalog().metrics[key] for key in FIGURES],
        runs=sum(each.runs for each in ended.values() if not each.is_sample),
        faulty_runs=sum(each.without for each in ended.values() if not each.is_sample),
    )


def environment_night(environment_id: int) -> list[tuple[Metric, NightMedian | None]]:
    """Return one environment's figures for its own page."""
    now = timezone.now()
    rows = environment_figures(_first_night(now), [environment_id])
    return _in_order(figures_of(rows, now, _told(rows, {environment_id})).get(environment_id, {}))


def _told(rows: Sequence[FigureNights], worse: Collection[int]) -> Mapping[FigureKey, Worsening]:
    """Return what alerts tell of figures that are one pair's, in these environments; one query where there are any."""
    of_one = {row.environment_id for row in rows if row.environment_id in worse and row.pairs and row.pairs[-1] == 1}
    return worsened_figures(of_one) if of_one else {}


def figures_of(
    rows: Sequence[FigureNights], now: datetime, told: Mapping[FigureKey, Worsening] = {}
) -> dict[int, dict[str, NightMedian]]:
    """Prepare figures by environment and metric as alerts tell them; what has left the catalog is left out."""
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
            figure = _figure(row, kind, now=now, last=last)
            figures.setdefault(row.environment_id, {})[row.metric] = _as_told(figure, worsening, now)
    return figures


def _as_told(figure: NightMedian, worsening: Worsening | None, now: datetime) -> NightMedian:
    """Return one pair's figure with the change that its alert tells, so that a page never says two of one fall."""
    told = lasting(worsening, now, figure.change) if figure.change and figure.change.is_significant else None
    if told is None or told.ratio is None or figure.change is None:
        return figure
    return replace(figure, change=replace(figure.change, ratio=told.ratio))


def _figure(row: FigureNights, kind: Kind, *, now: datetime, last: date) -> NightMedian:
    metric = kind.metrics[row.metric]
    today = now.astimezone(UTC).date()
    is_fresh = row.nights[-1] >= night_of(now) - timedelta(days=1)
    values = nightly(row.nights, row.medians, last=last, count=NIGHTS_DISPLAYED)
    known = next((index for index, value in enumerate(values) if value is not None), len(values))
    return NightMedian(
        environment_id=row.environment_id,
        metric=metric,
        kind=kind,
        params=kind.stated_defaults | row.identity,
        median=row.medians[-1] if is_fresh else None,
        earlier=row.nights[-1] if is_fresh and row.nights[-1] < today else None,
        extremes=(row.low, row.high) if row.low is not None and row.high is not None else None,
        pairs=row.pairs[-1],
        values=values,
        # As many as are kept begin with any night; of fewer the first is the first of all.
        nights_before=known if len(row.nights) < RETAINED else 0,
        change=deviation_of(row.medians, metric) if is_fresh else None,
        row=row,
        last=last,
    )


def _with_meshes(rows: Sequence[EnvironmentRow], since: datetime) -> list[EnvironmentRow]:
    """Add each environment's pairs, in the test of its first figure; one query."""
    tests = [(row.id, main.kind.name, main.metric.key, main.row.digest) for row in rows if (main := row.main)]
    pairs: dict[int, list[MeshPair]] = {}
    for pair in mesh_pairs(tests, most=MOST_PAIRS):
        pairs.setdefault(pair.environment, []).append(pair)
    return [replace(row, mesh=_mesh(row, pairs[row.id], since)) if row.id in pairs else row for row in rows]


def _mesh(row: EnvironmentRow, pairs: Sequence[MeshPair], since: datetime) -> VerdictMesh | None:
    main = row.main
    return mesh_of(pairs, main.metric, since=since, night=main.row.nights[-1]) if main else None


def _rows(
    names: Mapping[int, str],
    ended: Mapping[int, EnvironmentOutcome],
    alerts: AlertsNow,
    figures: Mapping[int, Mapping[str, NightMedian]],
) -> list[EnvironmentRow]:
    rows = [
        EnvironmentRow(
            id=environment_id,
            name=name,
            outcome=ended.get(environment_id),
            alerts=alerts.by_environment.get(environment_id),
            figures=_in_order(figures.get(environment_id, {})),
            changes=alerts.changes.get(environment_id, ()),
        )
        for environment_id, name in names.items()
    ]
    return sorted(rows, key=lambda row: (row.verdict.rank, row.name, row.id))


def _verdict(
    alerts: EnvironmentAlerts | None, outcome: EnvironmentOutcome | None, figures: Sequence[NightMedian]
) -> EnvironmentVerdict:
    """Return the worst that is known; what is better comes last in a list."""
    if alerts is not None:
        return EnvironmentVerdict(0 if alerts.new else 1, "alerts")
    if outcome is None or not outcome.runs:
        return EnvironmentVerdict(2, "no runs")
    judged = [(figure.judged, figure) for figure in figures]
    for rank, code in ((3, "worse"), (5, "better"), (4, "same"), (4, "learning")):
        if figure := next((figure for judgement, figure in judged if judgement == code), None):
            return EnvironmentVerdict(rank, code, figure)
    return EnvironmentVerdict(4, "not measured")


def _in_order(figures: Mapping[str, NightMedian]) -> list[tuple[Metric, NightMedian | None]]:
    return [(catalog().metrics[key], figures.get(key)) for key in FIGURES]


def _environment_url(environment_id: int) -> str:
    return reverse("web:environment", args=[environment_id])


def _first_night(now: datetime) -> date:
    return night_of(now) - timedelta(days=NIGHTS_DISPLAYED)
