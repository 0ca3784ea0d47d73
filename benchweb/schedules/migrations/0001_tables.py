import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("schedules", "0001_initial"),
        ("schedules", "0002_overlap"),
        ("schedules", "0003_canonical_zones"),
        ("schedules", "0004_break_offs"),
        ("schedules", "0005_slot_break_offs"),
        ("schedules", "0006_stored_names"),
        ("schedules", "0007_reasons_as_data"),
        ("schedules", "0008_rerun_percent"),
        ("schedules", "0009_audit"),
        ("schedules", "0010_arrangement"),
        ("schedules", "0011_planned_by_zone"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("auth", "__first__"),
        ("plans", "0001_tables"),
        ("runs", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="Schedule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("target", models.JSONField()),
                ("cron", models.CharField(blank=True, max_length=200)),
                ("every", models.CharField(blank=True, max_length=60)),
                ("timezone", models.CharField(default="UTC", max_length=60)),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField(blank=True, null=True)),
                ("max_runs", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "missed",
                    models.CharField(
                        choices=[
                            ("skip", "skip: a missed time is recorded, and nothing runs"),
                            ("run_once", "run once: however many were missed, one run makes up for them"),
                            ("run_all", "run all: every missed time is run, one after the other"),
                        ],
                        default="skip",
                        max_length=20,
                    ),
                ),
                (
                    "overlap",
                    models.CharField(
                        choices=[
                            ("skip", "skip: the slot is recorded, and nothing runs"),
                            ("queue_one", "queue one: one slot waits until it has ended, further ones are skipped"),
                        ],
                        db_default="queue_one",
                        default="queue_one",
                        max_length=20,
                    ),
                ),
                (
                    "arrangement",
                    models.CharField(
                        choices=[("runs", "run after run"), ("rounds", "round after round"), ("together", "together")],
                        db_default="runs",
                        default="runs",
                        max_length=10,
                    ),
                ),
                ("window_from", models.TimeField(blank=True, null=True)),
                ("window_until", models.TimeField(blank=True, null=True)),
                ("blackouts", models.JSONField(blank=True, default=list)),
                ("deadline_seconds", models.PositiveIntegerField(blank=True, null=True)),
                ("slip_seconds", models.PositiveIntegerField(default=0)),
                ("retries", models.PositiveSmallIntegerField(default=2)),
                ("retry_pause_seconds", models.PositiveIntegerField(default=60)),
                ("rerun_percent", models.PositiveSmallIntegerField(db_default=5, default=5)),
                ("confirmed_runs", models.PositiveIntegerField(blank=True, null=True)),
                ("paused_at", models.DateTimeField(blank=True, null=True)),
                ("next_at", models.DateTimeField(null=True)),
                ("counted_from", models.DateTimeField(null=True)),
                ("counted_offset_seconds", models.IntegerField(null=True)),
                ("next_offset_seconds", models.IntegerField(null=True)),
                ("break_offs", models.PositiveSmallIntegerField(db_default=0, default=0)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="schedules", to="plans.plan"
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("archived_at", None), ("paused_at", None)),
                        fields=["next_at"],
                        name="schedule_due",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("cron", ""), models.Q(("every", ""), _negated=True)),
                            models.Q(models.Q(("cron", ""), _negated=True), ("every", "")),
                            _connector="OR",
                        ),
                        name="schedule_by_cron_or_interval",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Slot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
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
                            ("skipped", "skipped"),
                        ],
                        default="pending",
                        max_length=20,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("reason_data", models.JSONField(null=True)),
                ("is_extra", models.BooleanField(default=False)),
                ("claimed_at", models.DateTimeField()),
                ("break_offs", models.PositiveSmallIntegerField(db_default=0, default=0)),
                (
                    "campaign",
                    models.OneToOneField(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="slot", to="runs.campaign"
                    ),
                ),
                (
                    "schedule",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="slots", to="schedules.schedule"
                    ),
                ),
            ],
            options={
                "ordering": ["schedule_id", "-at"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ("pending", "running"))),
                        fields=["state", "id"],
                        name="slot_open",
                    ),
                    models.Index(fields=["at"], name="slot_by_time"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("schedule", "at"), name="slot_once_per_schedule_and_time")
                ],
            },
        ),
        audited(
            "schedules_schedule",
            ignored=("next_at", "break_offs", "counted_from", "counted_offset_seconds", "next_offset_seconds"),
        ),
    ]
