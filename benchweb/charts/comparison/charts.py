"""Curves of several runs over each other: a chart for each of a kind's charts, a line for each run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from django.utils.translation import gettext as _

from benchweb.catalog import Chart, catalog
from benchweb.charts import axes
from benchweb.charts.lines import COLORS, MARKERS, Sweep, point, sweeps
from benchweb.charts.percentiles import percentile_names
from benchweb.charts.table import chart_table
from benchweb.documents.charts import Axis, ChartPoint, ChartSeries, ChartSpec, Dash
from benchweb.documents.references import joined_label
from benchweb.results.selectors import TrialRow

# Without colours runs are told apart by their dashes, as combinations of parameters are by their markers.
_DASHES: tuple[Dash, ...] = get_args(Dash)


@dataclass(frozen=True)
class DrawnRun:
    """A run to draw: its name in the legend, where its points lead, and its trials."""

    id: int
    label: str
    href: str
    trials: Sequence[TrialRow]
    ids: Mapping[str, int | None]


def comparison_charts(runs: Sequence[DrawnRun]) -> list[ChartSpec]:
    """Overlay the curves of runs; a chart with a single position on its axis is left out: the table says as much."""
    joined_sweeps = map(_by_identity, sweeps([trial for run in runs for trial in run.trials], catalog().kinds))
    drawn = [
        (sweep, chart) for sweep in joined_sweeps for chart in sweep.kind.charts if _may_have_positions(sweep, chart)
    ]
    specs = [_FORMS[chart.form](sweep, chart, runs) for sweep, chart in drawn]
    return [spec for spec in specs if len({entry.x for line in spec.series for entry in line.points}) > 1]


def _may_have_positions(sweep: Sweep, chart: Chart) -> bool:
    """Tell whether a chart can have more than one position on its axis: most have not, and to make them takes time."""
    if chart.form != "sweep":
        return True
    x = axes.x_parameter(sweep, chart)
    return x != "" and len(set(sweep.values(sweep.trials, x))) > 1


def _by_identity(sweep: Sweep) -> Sweep:
    """Tell lines apart by what makes another measure: a run that took longer is no other curve."""
    return Sweep(sweep.kind, sweep.trials, [name for name in sweep.swept if sweep.kind.parameters[name].identity])


def _sweep_chart(sweep: Sweep, chart: Chart, runs: Sequence[DrawnRun]) -> ChartSpec:
    """Draw the chart's first metric over its parameter."""
    x, metric = axes.x_parameter(sweep, chart), sweep.kind.metrics[chart.metrics[0]]
    axis = axes.x_axis(sweep, chart, x)

    def points(trials: list[TrialRow], href: str) -> list[ChartPoint]:
        trials_at = axes.by_position(sweep, axis, x, trials)
        return [point(index, there, metric.key, href) for index, there in trials_at.items()]

    title = (
        chart.title
        if x in ("", chart.x)
        else _("{quantity} by {parameter}").format(quantity=metric.label, parameter=axis.label.lower())
    )
    return _spec(sweep, chart, axis=axis, title=title, drawn=metric.label, series=_lines(sweep, x, runs, points))


def _percentile_chart(sweep: Sweep, chart: Chart, runs: Sequence[DrawnRun]) -> ChartSpec:
    """Draw a line through the percentiles."""
    names = percentile_names(chart.metrics)
    axis = Axis(label=_("Percentile"), unit="", scale="category", categories=list(names.values()))

    def points(trials: list[TrialRow], href: str) -> list[ChartPoint]:
        return [point(names[metric], trials, metric, href) for metric in chart.metrics]

    return _spec(sweep, chart, axis=axis, title=chart.title, drawn="", series=_lines(sweep, "", runs, points))


_FORMS: dict[str, Callable[[Sweep, Chart, Sequence[DrawnRun]], ChartSpec]] = {
    "sweep": _sweep_chart,
    "percentiles": _percentile_chart,
}


def _lines(
    sweep: Sweep, x: str, runs: Sequence[DrawnRun], points: Callable[[list[TrialRow], str], list[ChartPoint]]
) -> list[ChartSeries]:
    """Return a line for each combination of the other parameters and each run that measured it, in that order."""
    series = []
    # By their ids: a run keeps its colour in all charts, whichever is the baseline, and no two have the same.
    colors = {run: index % COLORS for index, run in enumerate(sorted(run.id for run in runs))}
    trials = {run.id: Sweep(sweep.kind, _of_kind(sweep, run), sweep.swept).lines(x) for run in runs}
    for index, values in enumerate(sweep.lines(x)):
        settings = dict(zip(sweep.others(x), values, strict=True))
        for order, run in enumerate(runs):
            drawn = points(trials[run.id].get(values, []), run.href)
            if any(entry.y is not None for entry in drawn):
                line = ChartSeries(
                    id=f"run-{run.id}/" + ",".join(f"{name}={value}" for name, value in settings.items()),
                    label=joined_label(
                        [run.label, *(axes.setting_words(sweep, *setting) for setting in settings.items())]
                    ),
                    color=colors[run.id],
                    dash=_DASHES[order % len(_DASHES)],
                    marker=MARKERS[index % len(MARKERS)],
                    points=drawn,
                    ids=run.ids,
                )
                series.append(line)
    return series


def _of_kind(sweep: Sweep, run: DrawnRun) -> list[TrialRow]:
    return [trial for trial in run.trials if trial.kind == sweep.kind.name]


def _spec(sweep: Sweep, chart: Chart, *, axis: Axis, title: str, drawn: str, series: list[ChartSeries]) -> ChartSpec:
    """Make the chart; its subtitle says the kind, and which of the chart's metrics is drawn."""
    y = axes.y_axis(sweep.kind, chart)
    return ChartSpec(
        id=f"{sweep.kind.name}-{chart.id}",
        title=title,
        subtitle=" · ".join(part for part in (sweep.kind.label, drawn) if part),
        form=chart.form,
        x=axis,
        y=y,
        series=series,
        table=chart_table(axis, y),
    )
