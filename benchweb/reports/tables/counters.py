"""What a host's interface counted, second by second, in the columns of `sar -n DEV`; its kB are 1,024 bytes."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from benchweb.documents.document import DocumentTable
from benchweb.documents.references import free_text, joined_label
from benchweb.reports.reported import Combination, ReportedRun
from benchweb.reports.tables.notation import MISSING, count, filled, fixed
from benchweb.toolformats.readings import Figure, Reading

_COLUMNS = ["", "IFACE", "rxpck/s", "txpck/s", "rxkB/s", "txkB/s"]
_NUMERIC = [2, 3, 4, 5]
_METRICS = (
    "nic_rx_packets_per_second",
    "nic_tx_packets_per_second",
    "nic_rx_bytes_per_second",
    "nic_tx_bytes_per_second",
)
_KIBI = 1024
_AVERAGE = "Average:"


def sar_tables(run: ReportedRun) -> list[DocumentTable]:
    """Return sar's rows of an import, or of the engine's UDP tests what the sink's interface counted."""
    if run.imported is not None:
        return filled([_printed(run, reading) for reading in run.readings if reading.tool == "sar"])
    return filled([_counted(run, test) for test in run.combinations("udp_stream")])


def _printed(run: ReportedRun, reading: Reading) -> DocumentTable:
    interface = free_text(str(reading.parameters.get("interface", "")))
    rows = [[interval.at, interface, *_texts(interval.figures)] for interval in reading.intervals]
    if reading.figures:
        rows.append([_AVERAGE, interface, *_texts(reading.figures)])
    return DocumentTable(joined_label(["sar -n DEV", interface, run.label]), list(_COLUMNS), rows, _NUMERIC)


def _texts(figures: Iterable[Figure]) -> list[str]:
    texts = {figure.metric: figure.text for figure in figures}
    return [texts.get(metric, MISSING) for metric in _METRICS]


def _counted(run: ReportedRun, test: Combination) -> DocumentTable:
    rows = []
    for interval in test.trials[0].document.get("intervals") or []:
        counted = (interval.get("interfaces") or {}).get("sink")
        if counted:
            rows.append(
                [f"{interval['end_seconds']:.0f} s", free_text(counted.get("name", "")), *_rates(interval, counted)]
            )
    if rows:
        values = [test.value(metric) for metric in _METRICS]
        factors = (1.0, 1.0, 1 / _KIBI, 1 / _KIBI)
        averages = [fixed(value, factor=factor) for value, factor in zip(values, factors, strict=True)]
        rows.append([_AVERAGE, rows[0][1], *averages])
    size = test.first.params["message_size_bytes"]
    title = _("Sink's interface, UDP {size} B").format(size=count(size))
    return DocumentTable(joined_label(["sar -n DEV", title, run.label]), list(_COLUMNS), rows, _NUMERIC)


def _rates(interval: Mapping[str, Any], counted: Mapping[str, Any]) -> list[str]:
    seconds = interval["end_seconds"] - interval["start_seconds"]
    factors = (1.0, 1.0, 1 / _KIBI, 1 / _KIBI)
    names = ("rx_packets", "tx_packets", "rx_bytes", "tx_bytes")
    return [
        fixed(counted.get(name, 0) / seconds if seconds > 0 else None, factor=factor)
        for name, factor in zip(names, factors, strict=True)
    ]
