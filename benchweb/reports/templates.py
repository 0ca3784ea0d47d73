"""The shapes of reports, after five published ones: which tables and charts each has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from benchweb.documents.document import DocumentTable
from benchweb.reports.models import Report
from benchweb.reports.reported import ReportedRun
from benchweb.reports.tables.baseline import baseline_tables
from benchweb.reports.tables.counters import sar_tables
from benchweb.reports.tables.indicators import indicator_tables
from benchweb.reports.tables.iperf3 import iperf3_tables
from benchweb.reports.tables.modes import zone_tables
from benchweb.reports.tables.netperf import netperf_tables, udp_table
from benchweb.reports.tables.notation import filled
from benchweb.reports.tables.wrk import wrk_tables

Builder = Callable[[Sequence[ReportedRun], Report], list[DocumentTable]]


@dataclass(frozen=True)
class ReportTemplate:
    """A shape; `title` and `summary` are marked by gettext_noop. `tables` takes the runs and what the author chose.

    `zone_tables` are those of one environment of several, by its name: each has a section of its own.
    """

    key: str
    title: str
    summary: str
    tables: Builder | None = None
    has_charts: bool = True
    zone_tables: Callable[[Sequence[ReportedRun], Report, str], list[DocumentTable]] | None = None


def _of_each(*builders: Callable[[ReportedRun], list[DocumentTable]]) -> Builder:
    """Build tables run by run."""
    return lambda runs, _report: [table for run in runs for build in builders for table in build(run)]


def _of_all(build: Callable[[Sequence[ReportedRun]], list[DocumentTable]]) -> Builder:
    """Build tables of all runs together."""
    return lambda runs, _report: build(runs)


def _udp(run: ReportedRun) -> list[DocumentTable]:
    return filled([udp_table(run)])


TEMPLATES = (
    ReportTemplate(
        "sizes",
        gettext_noop("Message sizes"),
        gettext_noop("netperf's tables: throughput by message size, UDP sent and received, transactions"),
        _of_each(netperf_tables),
    ),
    ReportTemplate(
        "methods",
        gettext_noop("Test methods"),
        gettext_noop("iperf3's intervals, netperf's UDP lines, sar's rows per second, wrk's threads"),
        _of_each(iperf3_tables, _udp, sar_tables, wrk_tables),
        has_charts=False,
    ),
    ReportTemplate(
        "modes",
        gettext_noop("Network modes × modes"),
        gettext_noop("Throughput, packet and transaction rate and latency between network modes, for each zone"),
        has_charts=False,
        zone_tables=zone_tables,
    ),
    ReportTemplate(
        "baseline",
        gettext_noop("Server baseline"),
        gettext_noop("Memory, disk and network card, mean of the repetitions beside median"),
        _of_all(baseline_tables),
        has_charts=False,
    ),
    ReportTemplate(
        "wan",
        gettext_noop("WAN, five indicators"),
        gettext_noop("Availability, response time, utilisation, throughput, capacity and remaining bandwidth of paths"),
        indicator_tables,
    ),
)


def template_named(key: str) -> ReportTemplate:
    """Return a template by its key; of one that has gone the first."""
    return next((template for template in TEMPLATES if template.key == key), TEMPLATES[0])
