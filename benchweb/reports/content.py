"""Make a report's document: its author's words, and tables and charts of its runs."""

import re
from collections.abc import Iterator, Sequence

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.charts.comparison.charts import DrawnRun, comparison_charts
from benchweb.charts.run.charts import trial_charts
from benchweb.charts.run.removed import removed_words
from benchweb.documents.charts import ChartSpec
from benchweb.documents.document import Document, DocumentSection
from benchweb.documents.references import Label, environment_ref, free_text, joined_label, run_ref, worded
from benchweb.reports.models import Report
from benchweb.reports.reported import ReportedRun, reported_runs
from benchweb.reports.selectors import runs_of
from benchweb.reports.tables.about import host_tables, run_tables
from benchweb.reports.tables.modes import zones_of
from benchweb.reports.templates import ReportTemplate, template_named

_HEADING = re.compile(r"^(?P<marks>#{1,6})[ \t]+(?P<title>.*)$")


def report_document(report: Report) -> Document:
    """Return the document as its runs are now; five queries."""
    template = template_named(report.template)
    runs = reported_runs(runs_of(report), report.statistic)
    sections = list(_zoned(report, template, runs) if template.zone_tables else _plain(report, template, runs))
    return Document(
        title=free_text(report.title),
        lines=[joined_label([_(template.title), report.get_statistic_display()]), *_removed_lines(runs)],
        made_at=timezone.now(),
        sections=[section for section in sections if not section.is_empty],
        is_synthetic=any(run.run.pair.source.host.is_synthetic for run in runs),
    )


def _removed_lines(runs: Sequence[ReportedRun]) -> Iterator[Label]:
    """Say of which runs tables by second are empty: in a report, runs keep what they have, but not what went before."""
    for run in runs:
        for words in removed_words(run.run):
            yield worded(_("Run {run}: {reason}"), run=run_ref(run.run.pk), reason=words)


def _plain(report: Report, template: ReportTemplate, runs: Sequence[ReportedRun]) -> Iterator[DocumentSection]:
    """Return the sections of a report that isn't told by environment."""
    yield DocumentSection("environment", _("Test environment"), report.environment, host_tables(runs))
    yield DocumentSection("method", _("Test method"), report.method, run_tables(runs))
    tables = template.tables(runs, report) if template.tables else []
    yield DocumentSection("results", _("Results"), "", tables, _charts(runs) if template.has_charts else [])
    yield DocumentSection("conclusion", _("Conclusion"), report.conclusion)


def _zoned(report: Report, template: ReportTemplate, runs: Sequence[ReportedRun]) -> Iterator[DocumentSection]:
    """Return the sections with those of each environment: its own hosts, results and conclusion."""
    zones = zones_of(runs)
    environment, conclusion = words_by_zone(report.environment, zones), words_by_zone(report.conclusion, zones)
    yield DocumentSection("environment", _("Test environment"), environment[""])
    yield DocumentSection("method", _("Test method"), report.method, run_tables(runs))
    for number, zone in enumerate(zones, 1):
        of_zone = [run for run in runs if run.run.pair.environment.name == zone]
        tables = template.zone_tables(runs, report, zone) if template.zone_tables else []
        title = worded(_("Results: {environment}"), environment=environment_ref(zone))
        yield DocumentSection(f"results-{number}", title, environment.get(zone, ""), [*host_tables(of_zone), *tables])
        title = worded(_("Conclusion: {environment}"), environment=environment_ref(zone))
        yield DocumentSection(f"conclusion-{number}", title, conclusion.get(zone, ""))
    yield DocumentSection("conclusion", _("Conclusion"), conclusion[""])


def words_by_zone(text: str, zones: Sequence[str]) -> dict[str, str]:
    """Return an author's words by the zone that a heading above them names; of no zone by an empty name."""
    parts: dict[str, list[str]] = {"": []}
    zone, level = "", 0
    for line in text.splitlines():
        heading = _HEADING.match(line)
        titles = [heading["title"].strip(), heading["title"].rstrip("# \t")] if heading else []
        title = next((title for title in titles if title in zones), "")
        if heading and title:
            zone, level = title, len(heading["marks"])
        else:
            # The next heading of its own rank is of no zone again.
            if heading and len(heading["marks"]) <= level:
                zone = ""
            parts.setdefault(zone, []).append(line)
    return {zone: "\n".join(lines).strip("\n") for zone, lines in parts.items()}


def _charts(runs: Sequence[ReportedRun]) -> list[ChartSpec]:
    """Return a single run's charts, or those of several over each other; how busy the hosts were is left out."""
    if len(runs) == 1:
        charts = trial_charts(runs[0].rows, is_open=False)
    else:
        charts = comparison_charts(
            [DrawnRun(run.run.pk, joined_label([run_ref(run.run.pk), run.label]), "", run.rows, {}) for run in runs]
        )
    return [chart for chart in charts if not chart.id.endswith("-cpu")]
