"""Make, change and archive reports."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from benchweb.common.names import stored_name, text_fault
from benchweb.common.refusals import RefusedWrite
from benchweb.reports.models import Report, ReportRun
from benchweb.reports.remaining import RemainingFault, remaining_read
from benchweb.reports.templates import TEMPLATES
from benchweb.runs.models import OPEN_STATES, Run

MOST_RUNS, MOST_MODES, MOST_SETTINGS = 40, 12, 40
LONGEST_SETTING = 1_000
LONGEST_TEXT = 20_000


class ReportError(RefusedWrite):
    """A refusal: `field` is the field at fault; the message is for people."""


@dataclass(frozen=True)
class ReportValues:
    """All that a report's author sets; `runs` are ids in order."""

    title: str
    template: str
    runs: Sequence[int]
    statistic: str = Report.Statistic.MEAN
    modes: Sequence[str] = ()
    chosen_settings: Sequence[str] = ()
    remaining: str = ""
    environment: str = ""
    method: str = ""
    conclusion: str = ""


@transaction.atomic
def report_create(values: ReportValues, *, user: User | None) -> Report:
    """Make a report; raise ReportError."""
    report = Report(created_by=user)
    _write(report, values)
    return report


@transaction.atomic
def report_change(report: Report, values: ReportValues) -> None:
    """Replace all that the author set; raise ReportError."""
    report = Report.objects.select_for_update().get(pk=report.pk)
    _write(report, values)


def report_archive(report: Report) -> bool:
    """Take a report off the list; False where it was already."""
    return bool(Report.objects.filter(pk=report.pk, archived_at=None).update(archived_at=Now()))


def report_restore(report: Report) -> bool:
    """Put a report on the list again; False where it was there."""
    return bool(Report.objects.filter(pk=report.pk, archived_at__isnull=False).update(archived_at=None))


def _write(report: Report, values: ReportValues) -> None:
    _check(values)
    for field in ("template", "statistic", "remaining", "environment", "method", "conclusion"):
        setattr(report, field, getattr(values, field))
    report.chosen_settings = list(dict.fromkeys(values.chosen_settings))
    report.title, report.modes = stored_name(values.title), [stored_name(mode) for mode in values.modes]
    report.save()
    ids = list(dict.fromkeys(values.runs))
    report.entries.all().delete()
    ReportRun.objects.bulk_create(
        ReportRun(report=report, run_id=run_id, position=position) for position, run_id in enumerate(ids)
    )


def _check(values: ReportValues) -> None:
    if not values.title.strip() or len(values.title) > 200:
        raise ReportError("title", _("A title has 1 to 200 characters."))
    if fault := text_fault(values.title):
        raise ReportError("title", fault)
    if values.template not in {template.key for template in TEMPLATES}:
        keys = ", ".join(template.key for template in TEMPLATES)
        message = _("There is no template {name}: choose one of {keys}.")
        raise ReportError("template", message.format(name=f"{values.template!r}", keys=keys))
    if values.statistic not in Report.Statistic.values:
        raise ReportError("statistic", _("The statistic is mean or median."))
    if len(values.modes) > MOST_MODES or any(len(mode) > 60 for mode in values.modes):
        raise ReportError("modes", _("At most {most} modes, of up to 60 characters each.").format(most=MOST_MODES))
    if len(values.chosen_settings) > MOST_SETTINGS or any(
        len(setting) > LONGEST_SETTING for setting in values.chosen_settings
    ):
        raise ReportError("chosen_settings", _("At most {most} settings.").format(most=MOST_SETTINGS))
    _check_remaining(values)
    for field in ("environment", "method", "conclusion"):
        if len(getattr(values, field)) > LONGEST_TEXT:
            raise ReportError(field, _("At most {most} characters.").format(most=f"{LONGEST_TEXT:,}"))
    _check_runs(list(dict.fromkeys(values.runs)))


def _check_remaining(values: ReportValues) -> None:
    try:
        read = remaining_read(values.remaining)
    except RemainingFault as fault:
        message = _("{line} is no line such as “12: 400 Mbit/s, by the provider” or “12: under 500 Mbit/s”.")
        raise ReportError("remaining", message.format(line=f"{fault.line[:60]!r}")) from fault
    if strange := [str(run) for run in read if run not in values.runs]:
        raise ReportError("remaining", _("Run {runs} is not in the report.").format(runs=", ".join(strange)))


def _check_runs(ids: Sequence[int]) -> None:
    if not 1 <= len(ids) <= MOST_RUNS:
        raise ReportError("runs", _("Choose 1 to {most} runs.").format(most=MOST_RUNS))
    states = dict(Run.objects.filter(pk__in=ids).values_list("pk", "state"))
    if missing := [run for run in ids if run not in states]:
        raise ReportError("runs", _("There is no run {runs}.").format(runs=", ".join(map(str, missing))))
    if still_open := [run for run in ids if states[run] in OPEN_STATES]:
        raise ReportError("runs", _("Run {runs} is not completed yet.").format(runs=", ".join(map(str, still_open))))
