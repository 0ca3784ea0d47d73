"""The section of a page that shows many series at a glance, narrowed by the query string."""

from dataclasses import dataclass

from django.http import HttpRequest

from benchweb.catalog import Kind, Metric, catalog
from benchweb.results.glances import Scope, series_at_a_glance
from benchweb.web.row_ids import row_id
from benchweb.web.series_glance import SeriesGlance, series_glances

_SHOWN = 20


@dataclass(frozen=True)
class GlanceSection:
    """Series, the worst first, with the filters that chose them and the addresses of the pages around."""

    glances: list[SeriesGlance]
    kinds: list[Kind]
    metrics: list[Metric]
    kind: str
    metric: str
    next_url: str
    first_url: str

    @property
    def is_filtered(self) -> bool:
        return bool(self.kind or self.metric or self.first_url)


def glance_section(request: HttpRequest, scope: Scope) -> GlanceSection:
    """Return the series of a scope."""
    kinds = catalog().kinds
    kind, metric = request.GET.get("kind", ""), request.GET.get("metric", "")
    kind, metric = kind if kind in kinds else "", metric if metric in catalog().metrics else ""
    first = min(row_id(request.GET.get("from", "")) or 0, 1_000_000)
    found = series_at_a_glance(scope=scope, metric=metric, kind=kind, first=first, most=_SHOWN + 1)
    return GlanceSection(
        glances=series_glances(found[:_SHOWN]),
        kinds=list(kinds.values()),
        metrics=_charted(kind),
        kind=kind,
        metric=metric,
        next_url=_url(request, first + _SHOWN) if len(found) > _SHOWN else "",
        first_url=_url(request, 0) if first else "",
    )


def _charted(kind: str) -> list[Metric]:
    """Give the metrics to choose from: those that charts show, of one kind or of all."""
    kinds = [catalog().kinds[kind]] if kind else catalog().kinds.values()
    keys = dict.fromkeys(key for each in kinds for chart in each.charts for key in chart.metrics)
    return [catalog().metrics[key] for key in keys]


def _url(request: HttpRequest, first: int) -> str:
    query = request.GET.copy()
    query.pop("from", None)
    if first:
        query["from"] = str(first)
    return f"?{query.urlencode()}#series"
