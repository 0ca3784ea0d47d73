"""Series at a glance: a line of its recent runs, the latest median with its spread, and the change."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from benchweb.catalog import Kind, Metric, catalog
from benchweb.charts.sparkline import with_gaps
from benchweb.common.rows import row_id
from benchweb.regressions.overview import Worsening, lasting, worsenings
from benchweb.results.run_summaries import deviation_of
from benchweb.results.series_summaries import SeriesScope, SeriesSummary, series_summaries
from benchweb.statistics import Deviation

_DISPLAYED = 20
# `series=all`, or what narrows and pages them.
_ASKING = {"series", "kind", "metric", "from"}


@dataclass(frozen=True)
class SeriesRow:
    """One series as a row: who, what, and its latest run beside those before it."""

    row: SeriesSummary
    kind: Kind
    metric: Metric
    # What was measured: the identity, and the parameter that the kind's charts sweep even where it is the default.
    params: Mapping[str, Any]
    # None is a run that is missing by the rhythm of the others.
    values: Sequence[float | None]
    change: Deviation | None
    # What a live alert tells of, where the latest run is as bad as the runs before it.
    lasting: Worsening | None

    @property
    def label(self) -> str:
        """Name the line for those who don't see it."""
        return f"{self.row.source} → {self.row.sink}, {self.metric.label}"

    @property
    def baseline(self) -> float | None:
        """Return the median of the runs before; the first run has none. (In a template None.baseline would be "".)"""
        return self.change.baseline if self.change else None

    @property
    def extremes(self) -> tuple[float, float]:
        """Return the lowest and the highest repetition of the latest run."""
        return self.row.low, self.row.high

    @property
    def history_url(self) -> str:
        """Return the address of the page that shows this series over time."""
        return history_url({"pair": self.row.pair_id}, self.kind, self.metric.key, self.params)


def series_rows(rows: Collection[SeriesSummary]) -> list[SeriesRow]:
    """Prepare rows for a page; what has left the catalog has no name and is left out. One query."""
    now = timezone.now()
    kinds = catalog().kinds
    worse_by_series = worsenings([row.series_id for row in rows]) if rows else {}
    return [
        _series_row(row, kinds[row.kind], now, worse_by_series.get(row.series_id))
        for row in rows
        if row.kind in kinds and row.metric in kinds[row.kind].metrics
    ]


def history_url(of: Mapping[str, int], kind: Kind, metric: str, params: Mapping[str, Any]) -> str:
    """Return the page that shows a metric over time, `of` a pair or an environment, with these parameters alone."""
    return f"{reverse('web:history')}?{urlencode(of)}&{measured_query(kind.name, metric, json.dumps(params))}"


@lru_cache(maxsize=4_096)
def measured_query(kind: str, metric: str, written: str) -> str:
    """Return the query for a metric with parameters, written as JSON; kept, for page after page links to the same."""
    params: Mapping[str, Any] = json.loads(written)
    parameters = {f"p.{name}": value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}
    return urlencode({"kind": kind, "metric": metric, **parameters})


def _series_row(row: SeriesSummary, kind: Kind, now: datetime, worsening: Worsening | None) -> SeriesRow:
    metric = kind.metrics[row.metric]
    change = deviation_of(row.medians, metric)
    return SeriesRow(
        row=row,
        kind=kind,
        metric=metric,
        params=kind.stated_defaults | row.identity,
        values=with_gaps(row.ats, row.medians, now),
        change=change,
        lasting=lasting(worsening, row.at, change),
    )


@dataclass(frozen=True)
class SeriesSection:
    """Series, the worst first, with the filters that chose them and the addresses of the pages around."""

    rows: list[SeriesRow]
    kinds: list[Kind]
    metrics: list[Metric]
    kind: str
    metric: str
    next_url: str
    first_url: str

    @property
    def is_filtered(self) -> bool:
        return bool(self.kind or self.metric or self.first_url)


def series_section(request: HttpRequest, scope: SeriesScope) -> SeriesSection | None:
    """Return the series of a scope where the address asks for them; else a page tells what of them changed."""
    if not _ASKING & request.GET.keys():
        return None
    kinds = catalog().kinds
    kind, metric = request.GET.get("kind", ""), request.GET.get("metric", "")
    kind, metric = kind if kind in kinds else "", metric if metric in catalog().metrics else ""
    first = min(row_id(request.GET.get("from", "")) or 0, 1_000_000)
    summaries = series_summaries(scope=scope, metric=metric, kind=kind, first=first, most=_DISPLAYED + 1)
    return SeriesSection(
        rows=series_rows(summaries[:_DISPLAYED]),
        kinds=list(kinds.values()),
        metrics=_charted_metrics(kind),
        kind=kind,
        metric=metric,
        next_url=_url(request, first + _DISPLAYED) if len(summaries) > _DISPLAYED else "",
        first_url=_url(request, 0) if first else "",
    )


def _charted_metrics(kind: str) -> list[Metric]:
    """Return the metrics to choose from: those that charts show, of one kind or of all."""
    kinds = [catalog().kinds[kind]] if kind else catalog().kinds.values()
    keys = dict.fromkeys(key for kind in kinds for chart in kind.charts for key in chart.metrics)
    return [catalog().metrics[key] for key in keys]


def _url(request: HttpRequest, first: int) -> str:
    query = request.GET.copy()
    query.pop("from", None)
    query["series"] = "all"
    if first:
        query["from"] = str(first)
    return f"?{query.urlencode()}#series"
