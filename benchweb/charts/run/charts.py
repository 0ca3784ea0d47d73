"""A run's charts, made wholly from the catalog: a new kind needs no code here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _

from benchweb.catalog import Chart, catalog
from benchweb.charts import axes
from benchweb.charts.export import pair_ids
from benchweb.charts.lines import Palette, Sweep, is_sent, point, sweeps, variant
from benchweb.charts.percentiles import percentile_names
from benchweb.charts.table import chart_table
from benchweb.documents.charts import Axis, ChartPoint, ChartSeries, ChartSpec, ReferenceLine
from benchweb.documents.references import Label, joined_label
from benchweb.hosts.models import Pair
from benchweb.results.selectors import TrialRow, trial_rows
from benchweb.runs.models import OPEN_STATES, Run


def run_charts(run: Run) -> list[ChartSpec]:
    """Return the charts of a run, kind by kind; one query where the pair is at hand.

    While it runs, what is to come is shown as pending.
    """
    return with_ids(trial_charts(trial_rows(run.pk), is_open=run.state in OPEN_STATES), run.pair)


def with_ids(charts: Iterable[ChartSpec], pair: Pair) -> list[ChartSpec]:
    """Add the ids of the pair to every line, for exports; a share, which must not name hosts, leaves them out."""
    ids = pair_ids(pair)
    return [replace(chart, series=[replace(line, ids=ids) for line in chart.series]) for chart in charts]


def trial_charts(trials: Iterable[TrialRow], *, is_open: bool, names: Mapping[str, Label] = {}) -> list[ChartSpec]:
    """Return the charts of trials; a chart without a point is left out unless some may still come.

    Of a sweep with charts that have a course, those of one value are left out too: a lone dot says no more than the
    figure beside it. `names` are what their reasons may name, by how they do.
    """
    return [
        spec for sweep in sweeps(trials, catalog().kinds) for spec in _charts_of(sweep, is_open=is_open, names=names)
    ]


def _charts_of(sweep: Sweep, *, is_open: bool, names: Mapping[str, Label]) -> list[ChartSpec]:
    charts = []
    for chart in sweep.kind.charts:
        spec = _FORMS[chart.form](sweep, chart, names)
        if _has_point(spec) or (is_open and _may_come(sweep, chart)):
            charts.append(spec)
    return list(filter(_has_course, charts)) or charts


def _may_come(sweep: Sweep, chart: Chart) -> bool:
    """Tell whether the trials measure what a chart shows at all, as probes under load where there is one."""
    return not chart.needs or any(value not in (None, "none") for value in sweep.values(sweep.trials, chart.needs))


def _sweep_chart(sweep: Sweep, chart: Chart, names: Mapping[str, Label]) -> ChartSpec:
    """Draw metrics over a parameter: a line for each metric and each combination of the other swept ones."""
    name = axes.x_parameter(sweep, chart)
    drawing = _Drawing(sweep, chart, name, axes.x_axis(sweep, chart, name))
    lines = sweep.lines(name)
    # All colours are bound first, metric by metric: no line changes its own when one more metric is measured.
    styles = {(metric, values): drawing.style(metric, values) for metric in chart.metrics for values in lines}
    for values, trials in lines.items():
        trials_at = axes.by_position(sweep, drawing.axis, name, trials)
        for metric in _metrics_of(chart, trials):
            drawing.add(
                styles[metric, values],
                [point(position, there, metric, names=names) for position, there in trials_at.items()],
            )
    return drawing.spec()


def _percentile_chart(sweep: Sweep, chart: Chart, names: Mapping[str, Label]) -> ChartSpec:
    """Draw a line through the percentiles for each combination of the swept parameters."""
    places = percentile_names(chart.metrics)
    axis = Axis(label=_("Percentile"), unit="", scale="category", categories=list(places.values()))
    drawing = _Drawing(sweep, chart, "", axis)
    for values, trials in sweep.lines("").items():
        drawing.add(
            drawing.style("", values), [point(places[metric], trials, metric, names=names) for metric in chart.metrics]
        )
    return drawing.spec()


_FORMS: dict[str, Callable[[Sweep, Chart, Mapping[str, Label]], ChartSpec]] = {
    "sweep": _sweep_chart,
    "percentiles": _percentile_chart,
}


@dataclass
class _Drawing:
    """A chart in the making: `x` is the parameter on the axis, or empty."""

    sweep: Sweep
    chart: Chart
    x: str
    axis: Axis
    palette: Palette = field(default_factory=Palette)
    series: list[ChartSeries] = field(default_factory=list)

    def style(self, metric: str, values: tuple[Any, ...]) -> dict[str, Any]:
        """Return the name and the look of a line."""
        settings = dict(zip(self.sweep.others(self.x), values, strict=True))
        text = ",".join(f"{name}={value}" for name, value in settings.items())
        kind = self.sweep.kind
        # Without the kind: CPU use of the source has one colour in the charts of all kinds, which stand side by side.
        key = f"{variant(metric, self.chart.metrics[0])}/{text}"
        parts: list[str] = [kind.metrics[metric].label] if metric else []
        parts += [axes.setting_words(self.sweep, name, value) for name, value in settings.items()]
        return {
            "id": f"{kind.name}/{metric or self.chart.id}/{text}",
            "label": joined_label(parts) or kind.label,
            "color": self.palette.color(key),
            "marker": self.palette.marker(key),
            "dash": "dashed" if is_sent(metric) else "solid",
            "is_hollow": is_sent(metric),
        }

    def add(self, style: dict[str, Any], points: list[ChartPoint]) -> None:
        self.series.append(ChartSeries(**style, points=points))

    def spec(self) -> ChartSpec:
        y = axes.y_axis(self.sweep.kind, self.chart)
        return ChartSpec(
            id=f"{self.sweep.kind.name}-{self.chart.id}",
            title=self._title(y),
            subtitle=_subtitle(self.sweep),
            form=self.chart.form,
            x=self.axis,
            y=y,
            series=self.series,
            lines=_reference_lines(self.sweep, self.chart),
            table=chart_table(self.axis, y),
        )

    def _title(self, y: Axis) -> str:
        if self.x in {"", self.chart.x}:
            return self.chart.title
        return _("{quantity} by {parameter}").format(quantity=y.label, parameter=self.axis.label.lower())


def _reference_lines(sweep: Sweep, chart: Chart) -> list[ReferenceLine]:
    """Draw the chart's own lines, such as a ceiling; one that differs from trial to trial is no line but a metric."""
    reference_lines = []
    for metric in chart.lines:
        values = {trial.metrics[metric] for trial in sweep.trials if trial.measured and metric in trial.metrics}
        if len(values) == 1:
            reference_lines.append(ReferenceLine(label=sweep.kind.metrics[metric].label, y=values.pop()))
    return reference_lines


def _subtitle(sweep: Sweep) -> str:
    """Say the kind, and what the plan fixed for all its trials."""
    values = sweep.kind.stated_defaults | sweep.trials[0].params
    fixed = [name for name in sweep.kind.parameters if name in values and name not in sweep.swept]
    settings = [axes.setting_words(sweep, name, values[name]) for name in fixed]
    return joined_label([sweep.kind.label, *settings])


def _metrics_of(chart: Chart, trials: list[TrialRow]) -> list[str]:
    """Name the metrics that any trial measured; before there is one, the first stands for all."""
    measured = [
        metric for metric in chart.metrics if any(trial.measured and metric in trial.metrics for trial in trials)
    ]
    return measured or chart.metrics[:1]


def _has_point(spec: ChartSpec) -> bool:
    return any(entry.y is not None for line in spec.series for entry in line.points)


def _has_course(spec: ChartSpec) -> bool:
    """Tell whether a line of it goes from one value on its axis to another, measured or not."""
    return any(len(line.points) > 1 for line in spec.series)
