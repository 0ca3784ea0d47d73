import uuid

import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
from django.conf import settings
from django.contrib.postgres.operations import BtreeGistExtension
from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("runs", "0001_initial"),
        ("runs", "0002_queue"),
        ("runs", "0003_held"),
        ("runs", "0004_run_by_end"),
        ("runs", "0005_occupied"),
        ("runs", "0006_summed_up"),
        ("runs", "0007_figures"),
        ("runs", "0008_faulty_runs"),
        ("runs", "0009_launch_days"),
        ("runs", "0010_addresses"),
        ("runs", "0011_break_offs"),
        ("runs", "0012_stored_uplinks"),
        ("runs", "0013_reasons_as_data"),
        ("runs", "0014_run_labels"),
        ("runs", "0015_audit"),
        ("runs", "0016_arrangement"),
        ("runs", "0017_together"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("auth", "__first__"),
        ("hosts", "0001_tables"),
        ("plans", "0001_tables"),
    ]

    operations = [
        # Of the constraints that keep exclusive runs apart.
        BtreeGistExtension(),
        migrations.CreateModel(
            name="Campaign",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("start_before", models.DateTimeField(null=True)),
                ("retries", models.PositiveSmallIntegerField(default=0)),
                ("retry_pause_seconds", models.FloatField(default=60)),
                ("planned_seconds", models.FloatField(null=True)),
                ("lower_bound_seconds", models.FloatField(null=True)),
                (
                    "arrangement",
                    models.CharField(
                        choices=[("runs", "run after run"), ("rounds", "round after round"), ("together", "together")],
                        db_default="runs",
                        default="runs",
                        max_length=10,
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "plan_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="campaigns", to="plans.planversion"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
            },
        ),
        migrations.CreateModel(
            name="Resource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uplink", models.CharField(max_length=60, null=True, unique=True)),
                (
                    "host",
                    models.OneToOneField(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="resource", to="hosts.host"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("host__isnull", False), ("uplink", None)),
                            models.Q(("host", None), ("uplink__isnull", False)),
                            _connector="OR",
                        ),
                        name="resource_is_host_or_uplink",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "labels",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), db_default=[], default=list, size=None
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("running", "running"),
                            ("finished", "finished"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                            ("missed", "missed"),
                            ("nonstart", "nonstart"),
                        ],
                        default="pending",
                        max_length=20,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("reason_data", models.JSONField(null=True)),
                ("waiting_for", models.TextField(blank=True)),
                ("waiting_for_data", models.JSONField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("planned_at", models.DateTimeField(null=True)),
                ("not_before", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("break_offs", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ("cancel_requested_at", models.DateTimeField(null=True)),
                ("addresses", models.JSONField(null=True)),
                ("lease_owner", models.CharField(blank=True, max_length=100)),
                ("lease_until", models.DateTimeField(null=True)),
                ("has_figures", models.BooleanField(db_default=False, default=False)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="runs.campaign"
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="hosts.pair"
                    ),
                ),
                (
                    "plan_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="plans.planversion"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["pair", "-id"], name="run_by_pair"),
                    django.contrib.postgres.indexes.GinIndex(
                        condition=models.Q(("labels", []), _negated=True), fields=["labels"], name="run_labelled"
                    ),
                    models.Index(fields=["created_at", "id"], name="run_by_launch"),
                    models.Index(
                        condition=models.Q(("state__in", ("pending", "running"))),
                        fields=["state", "id"],
                        name="run_open",
                    ),
                    models.Index(
                        condition=models.Q(("lease_owner", ""), _negated=True), fields=["id"], name="run_held"
                    ),
                    models.Index(
                        condition=models.Q(("planned_at", None), ("state", "pending")),
                        fields=["id"],
                        name="run_without_queue",
                    ),
                    models.Index(fields=["finished_at"], include=("state", "pair", "started_at"), name="run_by_end"),
                    models.Index(
                        condition=models.Q(
                            ("has_figures", False), models.Q(("state__in", ("pending", "running")), _negated=True)
                        ),
                        fields=["-id"],
                        name="run_without_figures",
                    ),
                    models.Index(condition=models.Q(("has_figures", False)), fields=["pair"], name="run_of_points"),
                    models.Index(
                        condition=models.Q(("state__in", ("failed", "nonstart", "missed", "cancelled"))),
                        fields=["pair", "created_at"],
                        name="run_faulty",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("campaign", "pair"), name="run_once_per_campaign_and_pair")
                ],
            },
        ),
        migrations.CreateModel(
            name="Reservation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("exclusive", models.SmallIntegerField()),
                ("during", django.contrib.postgres.fields.ranges.DateTimeRangeField(null=True)),
                ("planned_at", models.DateTimeField(null=True)),
                (
                    "resource",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="reservations", to="runs.resource"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reservations", to="runs.run"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("during", None)),
                        fields=["resource", "planned_at", "run"],
                        name="reservation_waiting",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("run", "resource"), name="reservation_once_per_run"),
                    models.CheckConstraint(
                        condition=models.Q(("exclusive__in", (0, 1))), name="reservation_exclusive_is_0_or_1"
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        condition=models.Q(("during__isnull", False), ("exclusive", 1)),
                        expressions=[("resource", "="), ("during", "&&")],
                        name="exclusive_excludes_exclusive",
                    ),
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        condition=models.Q(("during__isnull", False)),
                        expressions=[("resource", "="), ("during", "&&"), ("exclusive", "<>")],
                        name="exclusive_excludes_normal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RunEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("text", models.TextField()),
                ("text_data", models.JSONField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="events", to="runs.run"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="Trial",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("index", models.PositiveIntegerField()),
                ("kind", models.CharField(max_length=60)),
                ("params", models.JSONField()),
                ("repetition", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("running", "running"),
                            ("finished", "finished"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                            ("missed", "missed"),
                            ("nonstart", "nonstart"),
                        ],
                        default="pending",
                        max_length=20,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("reason_data", models.JSONField(null=True)),
                ("session", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("cookie", models.CharField(max_length=64)),
                ("break_offs", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="trials", to="runs.run"
                    ),
                ),
            ],
            options={
                "ordering": ["run_id", "index"],
                "constraints": [models.UniqueConstraint(fields=("run", "index"), name="trial_index_once")],
            },
        ),
        audited("runs_campaign", events="INSERT"),
        audited("runs_run", only=("cancel_requested_at", "labels")),
    ]
