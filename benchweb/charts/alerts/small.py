"""An alert as a small chart: the series that it is named by, with its level before and since. No query."""

from benchweb.catalog import catalog
from benchweb.documents.charts import (
    Axis,
    ChartBand,
    ChartLevel,
    ChartRing,
    ChartSeries,
    ChartSpec,
    ChartTable,
    ReferenceLine,
)
from benchweb.documents.moments import rfc3339
from benchweb.regressions.overview import AlertFigures


def alert_picture(chart_id: str, title: str, figures: AlertFigures) -> ChartSpec | None:
    """Draw the recent runs of an alert; None where its kind or metric has left the catalog, or nothing is kept."""
    kind = catalog().kinds.get(figures.kind)
    metric = kind.metrics.get(figures.metric) if kind else None
    if metric is None or not figures.runs:
        return None
    runs = figures.runs
    first_bad = next((place for place, run in enumerate(runs) if run.run == figures.first_bad_run), None)
    # Where the change is older than the runs that are drawn, all of them are of the level since.
    before, after = runs[: first_bad or 0], runs[first_bad or 0 :]
    parts = [] if figures.is_limit else [(before, figures.before), (after, figures.after)]
    levels = [ChartLevel(chart_id, rfc3339(its[0].at), rfc3339(its[-1].at), y) for its, y in parts if its]
    rings = [] if first_bad is None else [ChartRing(rfc3339(after[0].at), after[0].median, "", "change")]
    # A limit is no level of the series; nor is a level of which no run is drawn.
    lines = [] if before and levels else [ReferenceLine("", figures.before)]
    label = metric.quantity[:1].upper() + metric.quantity[1:]
    return ChartSpec(
        id=chart_id,
        title=title,
        form="time",
        x=Axis(label="", unit="", scale="time"),
        y=Axis(label=label, unit=metric.unit, from_zero=figures.is_limit),
        series=[ChartSeries(chart_id, metric.label, 0, measured=runs, bands=[ChartBand("")])],
        table=ChartTable([]),
        levels=levels,
        lines=lines,
        rings=rings,
        x_from=rfc3339(runs[0].at),
        x_to=rfc3339(runs[-1].at),
        scale_group=chart_id,
        detail="small",
    )
