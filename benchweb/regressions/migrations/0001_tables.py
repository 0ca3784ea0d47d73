import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.comparison
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("regressions", "0001_initial"),
        ("regressions", "0002_notes_moved"),
        ("regressions", "0003_alerts"),
        ("regressions", "0004_alert_rank"),
        ("regressions", "0005_merged_and_snoozed"),
        ("regressions", "0006_thresholds"),
        ("regressions", "0007_sensitivities"),
        ("regressions", "0008_threshold_of_a_test"),
        ("regressions", "0009_thresholds_restored_baselines_unpinned"),
        ("regressions", "0010_sensitivity_archived"),
        ("regressions", "0011_audit"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("auth", "__first__"),
        ("hosts", "0001_tables"),
        ("plans", "0001_tables"),
        ("results", "0001_tables"),
        ("runs", "0001_tables"),
        ("schedules", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="SeriesNoise",
            fields=[
                (
                    "series",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="noise",
                        serialize=False,
                        to="results.series",
                    ),
                ),
                ("floor_ratio", models.FloatField()),
                ("taught_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("change", "change"), ("absence", "missing results"), ("threshold", "threshold")],
                        max_length=20,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("suspect", "suspect"),
                            ("confirming", "confirming"),
                            ("open", "open"),
                            ("acknowledged", "acknowledged"),
                            ("expected", "expected"),
                            ("invalid", "noise"),
                            ("fixed", "fixed"),
                            ("recovered", "recovered"),
                            ("merged", "merged"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "severity",
                    models.CharField(
                        choices=[("info", "info"), ("warning", "warning"), ("critical", "critical")],
                        default="warning",
                        max_length=20,
                    ),
                ),
                ("code", models.CharField(max_length=40)),
                ("params", models.JSONField(default=dict)),
                ("size_ratio", models.FloatField(null=True)),
                (
                    "rank",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.db.models.expressions.CombinedExpression(
                            models.Case(
                                models.When(severity="critical", then=models.Value(20.0)),
                                models.When(severity="warning", then=models.Value(10.0)),
                                default=models.Value(0.0),
                                output_field=models.FloatField(),
                            ),
                            "+",
                            django.db.models.functions.comparison.Least(
                                django.db.models.functions.comparison.Coalesce(
                                    models.F("size_ratio"), models.Value(1.0)
                                ),
                                models.Value(9.0),
                                output_field=models.FloatField(),
                            ),
                        ),
                        output_field=models.FloatField(),
                    ),
                ),
                ("begun_at", models.DateTimeField()),
                ("night", models.DateField()),
                ("segment_key", models.CharField(max_length=200, unique=True)),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[("host", "the host"), ("pair", "the pair"), ("gone", "gone when measured again")],
                        max_length=10,
                    ),
                ),
                ("unconfirmed_code", models.CharField(blank=True, max_length=40)),
                ("created_at", models.DateTimeField()),
                ("opened_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("snoozed_until", models.DateTimeField(null=True)),
                ("snoozed_rank", models.FloatField(null=True)),
                ("ticket_url", models.CharField(blank=True, max_length=500)),
                (
                    "assignee",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="assigned_alerts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "confirmation",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="runs.campaign"
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.endpoint"
                    ),
                ),
                (
                    "environment",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.environment"
                    ),
                ),
                (
                    "host",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.host"
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="merged",
                        to="regressions.alert",
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.pair"
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="plans.plan"
                    ),
                ),
                (
                    "schedule",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="schedules.schedule",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at", None)), fields=["environment", "begun_at"], name="alert_live"
                    ),
                    models.Index(fields=["state", "-id"], name="alert_by_state"),
                    models.Index(fields=["night"], name="alert_by_night"),
                    models.Index(fields=["-rank", "-id"], name="alert_by_rank"),
                    models.Index(
                        condition=models.Q(("state", "confirming")), fields=["confirmation"], name="alert_confirming"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("ended_at", None), ("state__in", ("suspect", "confirming", "open", "acknowledged"))
                            ),
                            models.Q(
                                ("ended_at__isnull", False),
                                ("state__in", ("expected", "invalid", "fixed", "recovered", "merged")),
                            ),
                            _connector="OR",
                        ),
                        name="alert_has_ended_as_its_state_says",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertTransition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "action",
                    models.CharField(
                        choices=[
                            ("found", "found"),
                            ("moved", "moved"),
                            ("commented", "commented"),
                            ("assigned", "assigned"),
                            ("snoozed", "snoozed"),
                            ("woken", "snooze ended"),
                            ("merged", "merged"),
                            ("split", "split"),
                        ],
                        default="moved",
                        max_length=20,
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "from_state",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("suspect", "suspect"),
                            ("confirming", "confirming"),
                            ("open", "open"),
                            ("acknowledged", "acknowledged"),
                            ("expected", "expected"),
                            ("invalid", "noise"),
                            ("fixed", "fixed"),
                            ("recovered", "recovered"),
                            ("merged", "merged"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "to_state",
                    models.CharField(
                        choices=[
                            ("suspect", "suspect"),
                            ("confirming", "confirming"),
                            ("open", "open"),
                            ("acknowledged", "acknowledged"),
                            ("expected", "expected"),
                            ("invalid", "noise"),
                            ("fixed", "fixed"),
                            ("recovered", "recovered"),
                            ("merged", "merged"),
                        ],
                        max_length=20,
                    ),
                ),
                ("comment", models.TextField(blank=True)),
                ("params", models.JSONField(default=dict)),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="transitions", to="regressions.alert"
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Baseline",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("pinned_at", models.DateTimeField()),
                ("archived_at", models.DateTimeField(null=True)),
                (
                    "environment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.environment"
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.pair"),
                ),
                (
                    "pinned_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="plans.plan"),
                ),
                (
                    "run",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.run"),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("archived_at", None)),
                        fields=["pair", "plan", "-id"],
                        name="baseline_in_force",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RunJudgement",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="judgement",
                        serialize=False,
                        to="runs.run",
                    ),
                ),
                ("queued_at", models.DateTimeField()),
                ("judged_at", models.DateTimeField(null=True)),
                ("tries", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("judged_at", None)), fields=["queued_at"], name="judgement_waiting"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Sensitivity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(blank=True, max_length=40)),
                ("metric", models.CharField(blank=True, max_length=60)),
                ("floor_ratio", models.FloatField(null=True)),
                ("noise_times", models.FloatField(null=True)),
                ("archived_at", models.DateTimeField(null=True)),
                (
                    "environment",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="hosts.environment"
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="plans.plan"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("archived_at", None)),
                        fields=("plan", "environment", "kind", "metric"),
                        name="sensitivity_once_in_use",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Threshold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("kind", models.CharField(max_length=40)),
                ("metric", models.CharField(max_length=60)),
                (
                    "relation",
                    models.CharField(
                        choices=[
                            ("above", "above"),
                            ("below", "below"),
                            ("baseline", "worse than the pinned baseline by"),
                        ],
                        max_length=10,
                    ),
                ),
                ("limit", models.FloatField()),
                ("severity", models.CharField(max_length=20)),
                ("identity_digest", models.CharField(blank=True, db_default="", default="", max_length=64)),
                ("in_force_since", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "environment",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.environment"
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.pair"
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="plans.plan"
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("archived_at", None)), fields=["kind", "metric"], name="threshold_in_force"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertSeries",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("segment_key", models.CharField(max_length=80, unique=True)),
                ("before", models.FloatField()),
                ("after", models.FloatField()),
                ("difference_ratio", models.FloatField(null=True)),
                ("interval_low_ratio", models.FloatField(null=True)),
                ("interval_high_ratio", models.FloatField(null=True)),
                ("mode_share_before", models.FloatField(null=True)),
                ("mode_share_after", models.FloatField(null=True)),
                ("p", models.FloatField(null=True)),
                (
                    "alert",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="series", to="regressions.alert"
                    ),
                ),
                (
                    "first_bad_run",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.run"),
                ),
                (
                    "last_good_run",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.run"
                    ),
                ),
                (
                    "recovered_run",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="runs.run"
                    ),
                ),
                (
                    "rerun",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="runs.run"
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="alert_parts", to="results.series"
                    ),
                ),
                (
                    "threshold",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="parts",
                        to="regressions.threshold",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["series", "-id"], name="alert_series_latest")],
            },
        ),
        audited("regressions_threshold"),
        audited("regressions_alerttransition", events="INSERT", condition="NEW.by_id IS NOT NULL"),
        audited("regressions_baseline"),
        audited("regressions_sensitivity"),
    ]
