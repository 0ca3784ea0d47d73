"""Axes from the catalog's parameters and metrics, and from the values that a run has."""

from collections.abc import Sequence
from math import ceil, floor, log2
from typing import Any, Literal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from benchweb.catalog import Chart, Kind, Metric, Parameter, nested_words, value_text
from benchweb.catalog.translation import unknown_words
from benchweb.charts.lines import Sweep, ordered, sort_key
from benchweb.common.formatting import setting
from benchweb.documents.charts import Axis
from benchweb.documents.nameless import is_chosen_freely
from benchweb.documents.references import Label, value_ref
from benchweb.results.selectors import TrialRow

# More labels than this overlap on a phone.
MAXIMUM_TICKS = 10
# Values that lie so far apart crowd at the left of a linear axis.
_LOG_FROM_RATIO = 8
Scale = Literal["linear", "log2", "log", "category", "time"]


def x_parameter(sweep: Sweep, chart: Chart) -> str:
    """Choose the parameter on the axis: the chart's own, unless only another one is swept."""
    if chart.x in sweep.swept or (chart.x in sweep.kind.parameters and not sweep.swept):
        return chart.x
    numbers = [name for name in sweep.swept if sweep.kind.parameters[name].is_number]
    return next(iter([*numbers, *sweep.swept]), "")


def x_axis(sweep: Sweep, chart: Chart, name: str) -> Axis:
    """Return the axis of a parameter: numbers on a scale that fits them, words as categories."""
    if not name:
        return Axis(label="", unit="", scale="category", categories=[sweep.kind.label])
    parameter = sweep.kind.parameters[name]
    values = ordered(sweep.values(sweep.trials, name))
    if not parameter.is_number or None in values:
        categories = [_category_label(parameter, value) for value in values]
        return Axis(label=parameter.label, unit=parameter.unit, scale="category", categories=categories)
    scale = _scale(parameter, chart, values)
    return Axis(label=parameter.label, unit=parameter.unit, scale=scale, ticks=_ticks(values, scale))


def y_axis(kind: Kind, chart: Chart) -> Axis:
    """Return the axis of the chart's quantity, in the catalog's unit; percentiles reach over decades."""
    metric = kind.metrics[chart.metrics[0]]
    if chart.form == "percentiles":
        return Axis(label=_capitalised(metric), unit=metric.unit, scale="log")
    return Axis(label=_capitalised(metric), unit=metric.unit, from_zero=chart.y_from_zero)


def category(value: Any) -> str:
    """Write a parameter's value as a word on an axis or in a legend."""
    if value is None:
        return unknown_words()
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        return nested_words(value)
    return f"{value:,}" if isinstance(value, int) else value_text(str(value)) or _("default")


def setting_words(sweep: Sweep, name: str, value: Any) -> Label:
    """Write a parameter with its value, as a line's name or a subtitle has it."""
    parameter = sweep.kind.parameters[name]
    return Label(parameter.label, " ", value_words(parameter, value))


def value_words(parameter: Parameter, value: Any) -> str:
    """Write a parameter's value, for charts and pages."""
    words = nested_words(value) if parameter.is_test else with_unit(value, parameter.unit)
    return value_ref(words) if is_chosen_freely(parameter, value) else words


def _category_label(parameter: Parameter, value: Any) -> str:
    return value_ref(category(value)) if is_chosen_freely(parameter, value) else category(value)


def with_unit(value: Any, unit: str) -> str:
    """Write a value with its unit: numbers exactly, 64 KiB, 1,400 B, 10 Gbit/s."""
    if value is None:
        return unknown_words()
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # Of every rate that a test may be held to, 0 is none: as fast as it can.
    if is_number and value == 0 and unit == "bit/s":
        return pgettext("a rate limit", "none")
    return setting(value, unit) if is_number else f"{category(value)} {unit}".rstrip()


def by_position(sweep: Sweep, axis: Axis, name: str, trials: Sequence[TrialRow]) -> dict[float | str, list[TrialRow]]:
    """Group trials by where they stand on the axis of a parameter, in its order."""
    if not name:
        return {sweep.kind.label: list(trials)}
    parameter = sweep.kind.parameters[name]
    trials_at = dict[float | str, list[TrialRow]]()
    valued = zip(sweep.values(trials, name), trials, strict=True)
    for value, trial in sorted(valued, key=lambda pair: sort_key(pair[0])):
        position = _category_label(parameter, value) if axis.scale == "category" else float(value)
        trials_at.setdefault(position, []).append(trial)
    return trials_at


def _capitalised(metric: Metric) -> str:
    return metric.quantity[:1].upper() + metric.quantity[1:]


def _scale(parameter: Parameter, chart: Chart, values: Sequence[float]) -> Scale:
    # Zero has no logarithm: a rate limit of 0, which is none, stands beside its figures on a linear axis.
    if values[0] <= 0:
        return "linear"
    if parameter.name == chart.x:
        return chart.x_scale
    return "log2" if values[-1] / values[0] >= _LOG_FROM_RATIO else "linear"


def _ticks(values: Sequence[float], scale: Scale) -> list[float]:
    """Label the run's own values while they fit; else powers of two, evenly left out."""
    if len(values) <= MAXIMUM_TICKS:
        return [float(value) for value in values]
    if scale != "log2":
        return []
    first, last = floor(log2(values[0])), ceil(log2(values[-1]))
    step = ceil((last - first + 1) / MAXIMUM_TICKS)
    return [float(2**exponent) for exponent in range(first, last + 1, step)]
