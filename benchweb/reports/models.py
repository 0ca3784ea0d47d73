"""A report: its author's words, the runs that its tables are made of, and how they are to be made."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from benchweb.runs.models import Run


class Report(models.Model):
    """A document from a template; its tables and charts are made of its runs whenever it is opened."""

    class Statistic(models.TextChoices):
        MEAN = "mean", _("mean of the repetitions")
        MEDIAN = "median", _("median of the repetitions")

    title = models.CharField(max_length=200)
    # A key of benchweb.reports.templates.
    template = models.CharField(max_length=30)
    statistic = models.CharField(max_length=6, choices=Statistic.choices, default=Statistic.MEAN)
    # Network modes in the order in which tables have them; others follow as they come.
    modes = ArrayField(models.CharField(max_length=60), default=list)
    # Of several settings of a test those that tables show, as benchweb.reports.tables.settings names them.
    chosen_settings = ArrayField(models.TextField(), default=list, db_default=[])
    # Lines "RUN: 400 Mbit/s, whose figure" or "RUN: under 500 Mbit/s": what remains of a path's bandwidth.
    remaining = models.TextField(blank=True, default="", db_default="")
    environment = models.TextField(blank=True)
    method = models.TextField(blank=True)
    conclusion = models.TextField(blank=True)
    runs = models.ManyToManyField(Run, through="ReportRun", related_name="reports")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    archived_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.title


class ReportRun(models.Model):
    """A run in a report, in the author's order."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="entries")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="report_entries")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["report_id", "position"]
        constraints = [models.UniqueConstraint(fields=["report", "run"], name="report_run_once")]

    def __str__(self) -> str:
        return f"run {self.run_id} in report {self.report_id}"
