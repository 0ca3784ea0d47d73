"""The table behind a chart: its columns; the rows are made of the points by frontend/src/charts/table.ts."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from benchweb.documents.charts import Axis, ChartSeries, ChartTable


def chart_table(
    x: Axis,
    y: Axis,
    *,
    nested: Sequence[ChartSeries] = (),
    strip: Axis | None = None,
    has_levels: bool = False,
    has_rings: bool = False,
) -> ChartTable:
    """Return the columns of a table of points; a missing value has its reason beside it.

    Each band of the lines in `nested` has two, called by its key; the strip's figure of the same time has one. So have
    the level that a point is of, and what a point is told apart for.
    """
    words = _words(get_language())
    columns = [
        {"key": "series", "label": words.series, "unit": ""},
        {"key": "x", "label": x.label, "unit": x.unit},
        {"key": "n", "label": "n", "unit": ""},
        {"key": "median", "label": words.median, "unit": y.unit},
        {"key": "low", "label": words.low, "unit": y.unit},
        {"key": "high", "label": words.high, "unit": y.unit},
        {"key": "spread", "label": words.spread, "unit": "ratio"},
    ]
    for key, label in {band.key: band.label for line in nested for band in line.bands}.items():
        columns.append({"key": f"{key} low", "label": _("{line}, lowest").format(line=label), "unit": y.unit})
        columns.append({"key": f"{key} high", "label": _("{line}, highest").format(line=label), "unit": y.unit})
    if has_levels:
        columns.append({"key": "level", "label": _("Level"), "unit": y.unit})
    if has_rings:
        columns.append({"key": "mark", "label": _("Marked as"), "unit": ""})
    if strip is not None:
        columns.append({"key": "strip", "label": strip.label, "unit": strip.unit})
    columns.append({"key": "reason", "label": words.missing, "unit": ""})
    return ChartTable(columns)


class _Words(NamedTuple):
    """What heads the columns that every table has."""

    series: str
    median: str
    low: str
    high: str
    spread: str
    missing: str


@cache
def _words(_language: str | None) -> _Words:
    """Keep the words of a language: a comparison has a table for each of dozens of charts."""
    return _Words(_("Series"), _("Median"), _("Lowest"), _("Highest"), _("± farthest from the median"), _("Missing"))
