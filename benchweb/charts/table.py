"""The table behind a chart: its columns; the rows are made of the points by frontend/src/charts/table.ts."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from benchweb.charts.spec import Axis, ChartSeries, ChartTable


def chart_table(x: Axis, y: Axis, *, nested: Sequence[ChartSeries] = (), strip: Axis | None = None) -> ChartTable:
    """Give the columns of a table of points; a missing value has its reason beside it.

    Each band of the lines in `nested` has two, named by its label; the strip's figure of the same time has one.
    """
    columns = [
        {"key": "series", "label": _("Series"), "unit": ""},
        {"key": "x", "label": x.label, "unit": x.unit},
        {"key": "n", "label": "n", "unit": ""},
        {"key": "median", "label": _("Median"), "unit": y.unit},
        {"key": "low", "label": _("Lowest"), "unit": y.unit},
        {"key": "high", "label": _("Highest"), "unit": y.unit},
        {"key": "spread", "label": _("± half range"), "unit": "ratio"},
    ]
    for label in dict.fromkeys(band.label for line in nested for band in line.bands):
        columns.append({"key": f"{label} low", "label": _("{line}, lowest").format(line=label), "unit": y.unit})
        columns.append({"key": f"{label} high", "label": _("{line}, highest").format(line=label), "unit": y.unit})
    if strip is not None:
        columns.append({"key": "strip", "label": strip.label, "unit": strip.unit})
    columns.append({"key": "reason", "label": _("Missing"), "unit": ""})
    return ChartTable(columns)
