"""Make a report's document: its author's words, and tables and charts of its runs."""

from collections.abc import Sequence

from django.utils import timezone
from django.utils.translation import gettext as _

from benchweb.charts.comparison.charts import DrawnRun, comparison_charts
from benchweb.charts.run.charts import trial_charts
from benchweb.documents.charts import ChartSpec
from benchweb.documents.document import Document, DocumentSection
from benchweb.documents.references import free_text, joined_label, run_ref
from benchweb.reports.models import Report
from benchweb.reports.reported import ReportedRun, reported_runs
from benchweb.reports.selectors import runs_of
from benchweb.reports.tables.about import host_tables, run_tables
from benchweb.reports.templates import template_named


def report_document(report: Report) -> Document:
    """Return the document as its runs are now; five queries."""
    template = template_named(report.template)
    runs = reported_runs(runs_of(report), report.statistic)
    tables = template.tables(runs, report.modes)
    sections = [
        DocumentSection("environment", _("Test environment"), report.environment, host_tables(runs)),
        DocumentSection("method", _("Test method"), report.method, run_tables(runs)),
        DocumentSection("results", _("Results"), "", tables, _charts(runs) if template.has_charts else []),
        DocumentSection("conclusion", _("Conclusion"), report.conclusion),
    ]
    return Document(
        title=free_text(report.title),
        lines=[joined_label([_(template.title), report.get_statistic_display()])],
        made_at=timezone.now(),
        sections=[section for section in sections if not section.is_empty],
        is_synthetic=any(run.run.pair.source.host.is_synthetic for run in runs),
    )


def _charts(runs: Sequence[ReportedRun]) -> list[ChartSpec]:
    """Return a single run's charts, or those of several over each other; how busy the hosts were is left out."""
    if len(runs) == 1:
        charts = trial_charts(runs[0].rows, is_open=False)
    else:
        charts = comparison_charts(
            [DrawnRun(run.run.pk, joined_label([run_ref(run.run.pk), run.label]), "", run.rows, {}) for run in runs]
        )
    return [chart for chart in charts if not chart.id.endswith("-cpu")]
