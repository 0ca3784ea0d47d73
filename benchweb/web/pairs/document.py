"""A pair as a document."""

from collections.abc import Sequence
from dataclasses import replace

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.catalog import catalog
from benchweb.common.formatting import signed_percent
from benchweb.documents.charts import ChartSpec
from benchweb.documents.document import Badge, Document, DocumentSection, DocumentTable, MeasuredValue, Moment
from benchweb.documents.references import Label, environment_ref, joined_label, pair_ref
from benchweb.hosts.models import Pair
from benchweb.results.run_summaries import deviation_of
from benchweb.results.series_summaries import SeriesScope, SeriesSummary, series_summaries
from benchweb.web.series.pictures import scope_pictures
from benchweb.web.tags.show import kind_label, params_text

_MOST_SERIES = 100


def pair_document(pair: Pair) -> Document:
    """Return a pair's pictures and latest results; it comes with its names. The first result is its badge.

    Two queries.
    """
    kinds = catalog().kinds
    order = list(kinds)
    summaries = sorted(
        series_summaries(scope=SeriesScope(pair=pair.pk), most=_MOST_SERIES),
        key=lambda summary: (order.index(summary.kind), -summary.median),
    )
    columns = [_("Test"), _("Latest"), _("Against the runs before"), _("Measured")]
    table = DocumentTable("", columns, list(map(_row, summaries)), [1, 2])
    return Document(
        title=joined_label([pair_ref(pair), environment_ref(pair.environment.name)]),
        lines=[],
        sections=[
            *([DocumentSection("pictures", _("Last 30 nights"), charts=charts)] if (charts := _charts(pair)) else []),
            DocumentSection("results", _("Latest results"), tables=[table]),
        ],
        made_at=timezone.now(),
        is_synthetic=pair.source.host.is_synthetic or pair.sink.host.is_synthetic,
        badge=_badge(pair, summaries[0]) if summaries else None,
    )


def _charts(pair: Pair) -> list[ChartSpec]:
    """Draw the pictures that the pair's page begins with, in full; their ids are no row's."""
    pictures = scope_pictures({"pair": pair.pk}, SeriesScope(pair=pair.pk), ())
    charts = pictures.charts("full")
    # The same whatever else is measured: tiles of dashboards know charts by them.
    names = [metric.key for metric, figure in pictures.figures if figure]
    names += ["sizes"] * (len(charts) - len(names))
    return [replace(chart, id=f"picture-{name}", scale_group="") for name, chart in zip(names, charts, strict=True)]


def _row(summary: SeriesSummary) -> Sequence[str | MeasuredValue | Moment]:
    metric = catalog().kinds[summary.kind].metrics[summary.metric]
    ratio = _changed_ratio(summary)
    return [
        joined_label([kind_label(summary.kind), metric.label, params_text(summary.kind, summary.identity)]),
        MeasuredValue(summary.median, metric.unit, summary.n, summary.low, summary.high),
        signed_percent(ratio) if ratio is not None else _("no significant change"),
        Moment(summary.at),
    ]


def _badge(pair: Pair, summary: SeriesSummary) -> Badge:
    metric = catalog().kinds[summary.kind].metrics[summary.metric]
    value, ratio = MeasuredValue(summary.median, metric.unit), _changed_ratio(summary)
    return Badge(
        Label(pair_ref(pair), f" {metric.label.lower()}"),
        f"{value} {signed_percent(ratio)}" if ratio is not None else str(value),
        is_bad=ratio is not None and (ratio > 0) == (metric.better == "lower"),
    )


def _changed_ratio(summary: SeriesSummary) -> float | None:
    """Return by how much the newest result differs from the runs before; None where that is not significant."""
    change = deviation_of(summary.medians, catalog().kinds[summary.kind].metrics[summary.metric])
    return change.ratio if change and change.is_significant else None
