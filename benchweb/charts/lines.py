"""From the trials of one kind to lines of a chart: what is swept, which line a trial is on, its colour."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext as _

from benchweb.catalog import Kind, Metric, Parameter, nested_words
from benchweb.catalog.parts import TOOL
from benchweb.catalog.reasons import Reason, joined
from benchweb.documents.charts import ChartPoint
from benchweb.documents.references import Label, reason_label
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import OPEN_STATES
from benchweb.statistics import summary

COLORS = 8
MARKERS: tuple[Literal["circle", "rect", "triangle", "rectRot"], ...] = ("circle", "rect", "triangle", "rectRot")
_SENT = "send_"


def marker_of(index: int) -> Literal["circle", "rect", "triangle", "rectRot"]:
    """Return the marker of a place among colours: neighbours, and places of one colour, have different ones."""
    return MARKERS[(index + index // COLORS) % len(MARKERS)]


@dataclass(frozen=True)
class Sweep:
    """The trials of one kind in a run, with the parameters that differ between them."""

    kind: Kind
    trials: list[TrialRow]
    swept: list[str]

    @property
    def stated(self) -> list[str]:
        """Name the parameters that a figure is told with: those swept, and those that no figure is told without."""
        return [name for name in self.kind.parameters if name in self.swept or name in self.kind.stated_defaults]

    def others(self, x: str) -> list[str]:
        """Name the swept parameters that tell lines apart, when `x` is on the axis."""
        return [name for name in self.swept if name != x]

    def values(self, trials: Sequence[TrialRow], name: str) -> list[Any]:
        """Return trials' values of a parameter: their own, else the kind's default."""
        return _values(trials, self.kind.parameters[name])

    def grouped(self, trials: Sequence[TrialRow], names: Sequence[str]) -> dict[tuple[Any, ...], list[TrialRow]]:
        """Group trials by their values of these parameters, in the order of the plan."""
        columns = [self.values(trials, name) for name in names]
        keys = zip(*columns, strict=True) if columns else [()] * len(trials)
        groups: dict[tuple[Any, ...], list[TrialRow]] = {}
        for key, trial in zip(keys, trials, strict=True):
            groups.setdefault(key, []).append(trial)
        return groups

    def lines(self, x: str) -> dict[tuple[Any, ...], list[TrialRow]]:
        """Group the trials by the values that tell lines apart, in their order."""
        grouped = self.grouped(self.trials, self.others(x))
        return dict(sorted(grouped.items(), key=lambda item: [sort_key(value) for value in item[0]]))


def sweeps(trials: Iterable[TrialRow], kinds: dict[str, Kind]) -> list[Sweep]:
    """Sort a run's trials by kind, in the catalog's order; a kind that left the catalog can't be drawn."""
    by_kind: dict[str, list[TrialRow]] = {}
    for trial in trials:
        by_kind.setdefault(trial.kind, []).append(trial)
    return [Sweep(kind, by_kind[name], _swept(kind, by_kind[name])) for name, kind in kinds.items() if name in by_kind]


def ordered(values: Iterable[Any]) -> list[Any]:
    """Return each value once, numbers by size, then words by alphabet."""
    return sorted(set(values), key=sort_key)


def sort_key(value: Any) -> tuple[int, float, str]:
    """Order a parameter's values: numbers by size, then words by alphabet."""
    if isinstance(value, int | float):
        return 0, float(value), ""
    return 1, 0.0, str(value)


def point(
    x: float | str, trials: Sequence[TrialRow], metric: str, href: str = "", names: Mapping[str, Label] = {}
) -> ChartPoint:
    """Combine the repetitions at x to their median; what is missing says why. `href` is where it leads."""
    values = [trial.metrics[metric] for trial in trials if metric in trial.metrics and trial.measured]
    summarized = summary(values)
    if summarized is None and all(trial.state in OPEN_STATES for trial in trials):
        return ChartPoint(x, None, href=href, reason=_("not measured yet"), is_pending=True)
    reason = reason_label(missing_reason(trials, len(values)), names)
    if summarized is None:
        return ChartPoint(x, None, href=href, reason=reason)
    return ChartPoint(x, summarized.median, summarized.n, summarized.low, summarized.high, values, href, reason)


def variant(metric: str, first_metric: str) -> str:
    """Return what sets a metric apart on its chart, sent and received being one: "", or such as reverse_."""
    prefix = metric.removesuffix(first_metric) if metric.endswith(first_metric) else metric
    return prefix.replace(_SENT, "")


def is_sent(metric: str) -> bool:
    """Tell whether a metric is what one end sent, rather than what the other received."""
    return metric.startswith((_SENT, f"reverse_{_SENT}"))


def has_both_ends(metrics: Iterable[Metric]) -> bool:
    """Tell whether there are rates of what was sent and of what was received, which each end measures by itself."""
    return {
        is_sent(metric.key) for metric in metrics if metric.unit == "bit/s" and metric.key.endswith("throughput_bps")
    } == {
        True,
        False,
    }


class Palette:
    """Binds colours to keys: a key's own by its hash; the next free one when an earlier key has it."""

    def __init__(self) -> None:
        self._slots: dict[str, int] = {}

    def color(self, key: str) -> int:
        return self._slot(key) % COLORS

    def marker(self, key: str) -> Literal["circle", "rect", "triangle", "rectRot"]:
        """Return the second cue: neighbours differ in it, and beyond eight keys colours come again with another one."""
        return marker_of(self._slot(key))

    def _slot(self, key: str) -> int:
        if key not in self._slots:
            start = hashlib.sha256(key.encode()).digest()[0] % COLORS
            turn = len(self._slots) // COLORS * COLORS
            taken = set(self._slots.values())
            self._slots[key] = next(
                index for step in range(COLORS) if (index := turn + (start + step) % COLORS) not in taken
            )
        return self._slots[key]


def _swept(kind: Kind, trials: list[TrialRow]) -> list[str]:
    # What no trial sets is the default in all of them.
    given = {name for trial in trials for name in trial.params}
    return [
        name
        for name, parameter in kind.parameters.items()
        if name in given and len(set(_values(trials, parameter))) > 1
    ]


def _values(trials: Sequence[TrialRow], parameter: Parameter) -> list[Any]:
    """Return values that can be compared and grouped: a nested test by its words."""
    name, default = parameter.name, parameter.default
    values = [trial.params.get(name, default) for trial in trials]
    if parameter.unit == "s" and not parameter.identity:
        # A tool prints how long a test took, 60.01 s, and not for how long it was asked.
        values = [
            round(value) if TOOL.name in trial.params else value for trial, value in zip(trials, values, strict=True)
        ]
    return [nested_words(value) for value in values] if parameter.is_test else values


def missing_reason(trials: Sequence[TrialRow], measured: int) -> str:
    """Say why repetitions are missing: "pending", "1 of 3 failed: …"; empty when none is."""
    if measured and measured == len(trials):
        return ""
    missing = [trial for trial in trials if not trial.measured]
    if not missing:
        return "" if measured else Reason("not_measured")
    still_open = [trial for trial in missing if trial.state in OPEN_STATES]
    # What has failed is worth more to a reader than what is yet to come.
    first = next((trial for trial in missing if trial not in still_open), missing[0])
    count = sum(trial.state == first.state for trial in missing)
    state = Reason(f"state_{first.state}")
    is_only_one = len(trials) == count == 1
    what = state if is_only_one else Reason("repetitions_in_state", count=count, total=len(trials), state=state)
    return joined([what, first.why], ": ")
