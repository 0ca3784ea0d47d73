import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("reports", "0001_reports"),
        ("reports", "0002_audit"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("auth", "__first__"),
        ("runs", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="Report",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("title", models.CharField(max_length=200)),
                ("template", models.CharField(max_length=30)),
                (
                    "statistic",
                    models.CharField(
                        choices=[("mean", "mean of the repetitions"), ("median", "median of the repetitions")],
                        default="mean",
                        max_length=6,
                    ),
                ),
                (
                    "modes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), default=list, size=None
                    ),
                ),
                ("environment", models.TextField(blank=True)),
                ("method", models.TextField(blank=True)),
                ("conclusion", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("archived_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="ReportRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.PositiveSmallIntegerField()),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="entries", to="reports.report"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="report_entries", to="runs.run"
                    ),
                ),
            ],
            options={
                "ordering": ["report_id", "position"],
                "constraints": [models.UniqueConstraint(fields=("report", "run"), name="report_run_once")],
            },
        ),
        migrations.AddField(
            model_name="report",
            name="runs",
            field=models.ManyToManyField(related_name="reports", through="reports.ReportRun", to="runs.run"),
        ),
        audited("reports_report", ignored=("updated_at",)),
        audited("reports_reportrun"),
    ]
