"""The table behind a chart: its columns; the rows are made of the points by frontend/src/charts/table.ts."""

from django.utils.translation import gettext as _

from benchweb.charts.spec import Axis, ChartTable


def chart_table(x: Axis, y: Axis) -> ChartTable:
    """Give the columns of a table of points; a missing value has its reason beside it."""
    columns = [
        {"key": "series", "label": _("Series"), "unit": ""},
        {"key": "x", "label": x.label, "unit": x.unit},
        {"key": "n", "label": "n", "unit": ""},
        {"key": "median", "label": _("Median"), "unit": y.unit},
        {"key": "low", "label": _("Lowest"), "unit": y.unit},
        {"key": "high", "label": _("Highest"), "unit": y.unit},
        {"key": "spread", "label": _("± half range"), "unit": "ratio"},
        {"key": "reason", "label": _("Missing"), "unit": ""},
    ]
    return ChartTable(columns)
