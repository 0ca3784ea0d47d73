"""A run as files that other tools' readers take: netperf's text, iperf3's JSON, a Markdown table."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchweb.catalog import catalog
from benchweb.charts.tools.measurements import measurements
from benchweb.documents.moments import rfc3339
from benchweb.results.selectors import trial_rows
from benchweb.runs.models import Run
from benchweb.toolprints.iperf3_document import run_documents
from benchweb.toolprints.markdown import run_markdown
from benchweb.toolprints.text import run_text


class ToolFile(NamedTuple):
    """One way to write a run: the end of the file's name, its type, and what writes it."""

    suffix: str
    media_type: str
    write: Callable[[Run], Iterator[str]]


def run_netperf(run: Run) -> Iterator[str]:
    """Return a run as netperf, ping and wrk print the same tests, rates with all digits."""
    return run_text(_title(run), measurements(run, trial_rows(run.pk)))


def run_iperf3(run: Run) -> Iterator[str]:
    """Return an array with iperf3's document of each stream test."""
    return run_documents(measurements(run, trial_rows(run.pk), has_intervals=True))


def run_table(run: Run) -> Iterator[str]:
    """Return a run as Markdown, a table for each kind."""
    units = {name: metric.unit for name, metric in catalog().metrics.items()}
    return run_markdown(_title(run), measurements(run, trial_rows(run.pk)), units)


# By the word in the address of the file.
TOOL_FILES = {
    "netperf": ToolFile("txt", "text/plain", run_netperf),
    "iperf3": ToolFile("iperf3.json", "application/json", run_iperf3),
    "markdown": ToolFile("md", "text/markdown", run_table),
}


def _title(run: Run) -> str:
    began = run.started_at or run.created_at
    return f"benchweb run {run.pk}: {run.plan_version}, {run.pair}, {run.pair.environment.name}, {rfc3339(began)}"
