"""Trials made by hand, for charts of exact values."""

from dataclasses import replace
from itertools import count
from typing import Any

from benchweb.charts.run.charts import trial_charts
from benchweb.documents.charts import ChartPoint, ChartSeries, ChartSpec
from benchweb.documents.moments import rfc3339
from benchweb.results.selectors import TrialRow

_indexes = count(1)


def trial(kind: str = "tcp_stream", *, metrics: dict[str, float] | None = None, **fields: Any) -> TrialRow:
    """Make a finished trial with metrics, or one in the given state without; other fields are parameters."""
    index = next(_indexes)
    state = fields.pop("state", "finished" if metrics is not None else "pending")
    return TrialRow(
        id=index,
        index=index,
        kind=kind,
        repetition=1,
        state=state,
        reason=fields.pop("reason", ""),
        reason_data=fields.pop("reason_data", None),
        started_at=None,
        finished_at=None,
        metrics=metrics or {},
        flags=fields.pop("flags", []),
        limits=fields.pop("limits", []),
        has_result=metrics is not None,
        params=fields,
    )


def stream(size: int, *values: float, **params: Any) -> list[TrialRow]:
    """Make a tcp_stream trial for each throughput."""
    return [trial(message_size_bytes=size, metrics={"throughput_bps": value}, **params) for value in values]


def charts(*trials: TrialRow, is_open: bool = False) -> dict[str, ChartSpec]:
    return {spec.id: spec for spec in trial_charts(trials, is_open=is_open)}


def places(series: ChartSeries) -> list[tuple[Any, Any]]:
    return [(point.x, point.y) for point in series.points]


def as_read(chart: ChartSpec) -> ChartSpec:
    """Put what was measured and the gaps together, as the browser does."""
    strip = chart.strip and replace(chart.strip, series=[_as_read(line) for line in chart.strip.series])
    return replace(chart, series=[_as_read(line) for line in chart.series], strip=strip)


def _as_read(line: ChartSeries) -> ChartSeries:
    measured = [
        ChartPoint(rfc3339(at), y, n, low, high, (), "" if run is None else f"/runs/{run}")
        for at, y, n, low, high, run in line.measured
    ]
    return replace(line, points=sorted([*measured, *line.points], key=lambda point: str(point.x)), measured=())
