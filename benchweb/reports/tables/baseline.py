"""A server's baseline: memory, disk and network, a row for each figure, mean of n beside median."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.catalog import Metric, catalog, equivalents
from benchweb.charts.axes import value_words
from benchweb.documents.document import DocumentTable
from benchweb.documents.references import Label, free_text, joined_label
from benchweb.reports.reported import Combination, ReportedRun
from benchweb.reports.tables.notation import filled

_MEMORY, _DISK, _NETWORK = gettext_noop("Memory"), gettext_noop("Disk"), gettext_noop("Network card")
_PARTS = {
    "own.mbw": _MEMORY,
    "own.stream": _MEMORY,
    "own.sysbench": _MEMORY,
    "memory_bandwidth": _MEMORY,
    "cpu_prime": _MEMORY,
    "own.fio": _DISK,
    "disk_io": _DISK,
}
# What of a test is in such a report, beside its kind's headline.
_REPORTED = ("loss_ratio", "send_throughput_bps", "latency_", "iops", "bytes_per_second", "packets_per_second")
# One core alone is the fastest and the slowest.
_OF_CORES = frozenset({"fastest_core_bytes_per_second", "slowest_core_bytes_per_second"})
_NOT_REPORTED = ("nic_", "latency_p", "latency_within", "cpu_")


def baseline_tables(runs: Sequence[ReportedRun]) -> list[DocumentTable]:
    """Return the three tables; what has no row is left out."""
    rows: dict[str, list[list[str]]] = {_MEMORY: [], _DISK: [], _NETWORK: []}
    for run in runs:
        for test in run.combinations():
            rows[_PARTS.get(test.first.kind, _NETWORK)] += _rows(test)
    columns = [_("Item"), _("Mean"), _("Median"), "n"]
    return filled([DocumentTable(_(part), columns, of_part, [1, 2, 3]) for part, of_part in rows.items()])


def _rows(test: Combination) -> list[list[str]]:
    kind = catalog().kinds.get(test.first.kind)
    if kind is None:
        return []
    if printed := _printed(test):
        return [_row(free_text(label), values) for label, values in printed.items()]
    names = [name for name in kind.metrics if kind.is_own or _is_reported(name, kind.headline)]
    if kind.filled(test.first.given).get("cores") == 1:
        names = [name for name in names if name not in _OF_CORES]
    rows = []
    for metric in (kind.metrics[name] for name in names if test.values(name)):
        unit, factor = _unit(test, metric)
        values = [value * factor for value in test.values(metric.key)]
        part = test.first.given.get("part")
        label = joined_label([_test(test), free_text(part) if part else metric.label], " - ")
        rows.append(_row(label + f" ({unit})" if unit else label, values))
    return rows


def _row(label: str, values: Sequence[float]) -> list[str]:
    return [label, _plain(fmean(values)), _plain(median(values)), str(len(values))]


def _printed(test: Combination) -> dict[str, list[float]]:
    """Return the numbers of a report's table by its own words; none where the figures came without such words."""
    part = test.first.given.get("part", "")
    rows: dict[str, list[float]] = {}
    for trial in test.trials:
        figures: Sequence[Mapping[str, Any]] = trial.document.get("figures") or []
        for figure in figures:
            number = str(figure["text"]).partition(" ")[0]
            if figure.get("label") and _is_number(number) and part in ("", figure["part"]):
                rows.setdefault(figure["label"], []).append(float(number))
    return rows


def _is_reported(name: str, headline: str) -> bool:
    return name == headline or (
        not any(word in name for word in _NOT_REPORTED) and any(word in name for word in _REPORTED)
    )


def _test(test: Combination) -> Label:
    """Name a test as its report does: an import's own name, else kind and settings."""
    params = test.first.given
    if "test" in params:
        return free_text(params["test"])
    kind = catalog().kinds[test.first.kind]
    named = ((kind.parameters[name], value) for name, value in params.items() if name in kind.parameters)
    settings = [
        joined_label([parameter.label.lower(), value_words(parameter, value)], " ")
        for parameter, value in named
        if parameter.identity and not isinstance(value, dict)
    ]
    return joined_label([kind.label, *settings], ", ")


def _unit(test: Combination, metric: Metric) -> tuple[str, float]:
    """Return the unit that the figure was printed in, and what makes it from ours; else the reports' usual one."""
    figures: Sequence[Mapping[str, Any]] = test.trials[0].document.get("figures") or []
    part = test.first.given.get("part", "")
    for figure in figures:
        if figure["metric"] == metric.key and figure.get("part", "") == part:
            number, _space, unit = str(figure["text"]).partition(" ")
            if unit and _is_number(number) and figure["value"]:
                return unit, float(number) / figure["value"]
    written = equivalents(metric)
    return (written[0].unit, written[0].factor) if written else (metric.unit, 1.0)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _plain(value: float) -> str:
    """Write a number as such tables do: two decimals at most, none that say nothing."""
    text = f"{value:.2f}" if abs(value) >= 0.01 or value == 0 else f"{value:.3g}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
