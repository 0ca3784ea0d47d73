"""Runs and reports for tests: published outputs imported, and runs of the ingest."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchweb.hosts.models import Pair
from benchweb.imports.services import import_results, preview
from benchweb.reports.models import Report
from benchweb.reports.services import ReportValues, report_create
from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.models import Run, State
from tests.factories import make_pair, make_run

PUBLISHED = Path(__file__).parents[1] / "toolformats" / "published"
AT = datetime(2019, 9, 20, 10, tzinfo=UTC)


def imported_run(name: str, pair: Pair | None = None) -> Run:
    """Import a published report."""
    read = preview((PUBLISHED / name).read_bytes())
    return import_results(read, pair=pair or make_pair(), at=AT, file_name=name).run


def finished_run(
    pair: Pair, steps: list[dict[str, Any]], *metrics: dict[str, float], repetitions: int = 1, **document: Any
) -> Run:
    """Launch steps and give each trial its metrics, in their order."""
    run = make_run(pair=pair, steps=steps, repetitions=repetitions, order="sequential")
    for trial, measured in zip(run.trials.order_by("index"), metrics, strict=True):
        result = parsed_result(trial.kind, {"kind": trial.kind, "metrics": measured, **document})
        assert ingest(trial=trial, result=result, state=State.FINISHED)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    return run


def make_report(*runs: Run, template: str = "sizes", **values: Any) -> Report:
    """Make a report as its author would."""
    made = {"title": "RISC-V in QEMU", "environment": "openEuler 23.03", "conclusion": "As expected."} | values
    return report_create(ReportValues(template=template, runs=[run.pk for run in runs], **made), user=None)
