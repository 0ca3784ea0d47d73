import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("notifications", "0001_initial"),
        ("notifications", "0002_reasons_as_data"),
        ("notifications", "0003_delivery_retention"),
        ("notifications", "0004_audit"),
        ("notifications", "0005_delivery_recipients"),
        ("notifications", "0006_held_zone"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("auth", "__first__"),
        ("hosts", "0001_tables"),
        ("plans", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="Channel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("email", "e-mail"), ("webhook", "webhook"), ("apprise", "messenger")], max_length=10
                    ),
                ),
                ("config", models.JSONField(default=dict)),
                ("secret_encrypted", models.BinaryField(default=b"")),
                ("disabled_at", models.DateTimeField(blank=True, null=True)),
                ("disabled_reason", models.TextField(blank=True)),
                ("disabled_reason_data", models.JSONField(null=True)),
            ],
            options={
                "ordering": ["name", "id"],
            },
        ),
        migrations.CreateModel(
            name="Rule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("host_label", models.CharField(blank=True, max_length=60)),
                (
                    "least_severity",
                    models.CharField(
                        choices=[("info", "info"), ("warning", "warning"), ("critical", "critical")],
                        default="info",
                        max_length=10,
                    ),
                ),
                (
                    "alert_kinds",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), blank=True, default=list, size=None
                    ),
                ),
                (
                    "transitions",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), blank=True, default=list, size=None
                    ),
                ),
                ("time_zone", models.CharField(default="UTC", max_length=60)),
                ("digest_at", models.TimeField(blank=True, null=True)),
                ("quiet_from", models.TimeField(blank=True, null=True)),
                ("quiet_until", models.TimeField(blank=True, null=True)),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="rules", to="notifications.channel"
                    ),
                ),
                (
                    "environment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="hosts.environment",
                    ),
                ),
                (
                    "plan",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="plans.plan",
                    ),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("quiet_from", None), ("quiet_until", None)),
                            models.Q(
                                ("quiet_from__isnull", False),
                                ("quiet_until__isnull", False),
                                models.Q(("quiet_from", models.F("quiet_until")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="rule_quiet_hours_have_two_ends",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("event_id", models.CharField(max_length=100)),
                ("message_id", models.CharField(max_length=40, unique=True)),
                ("payload", models.JSONField()),
                ("recipients", models.JSONField(db_default={}, default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("held", "held"),
                            ("sent", "sent"),
                            ("partial", "partly sent"),
                            ("failed", "failed, will be tried again"),
                            ("given_up", "given up"),
                            ("muted", "muted"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("reason_data", models.JSONField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("next_attempt_at", models.DateTimeField(null=True)),
                ("claimed_until", models.DateTimeField(null=True)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("finished_at", models.DateTimeField(null=True)),
                ("held_zone", models.CharField(blank=True, db_default="", default="", max_length=60)),
                ("held_offset_seconds", models.IntegerField(null=True)),
                ("digest_due_at", models.DateTimeField(null=True)),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deliveries",
                        to="notifications.channel",
                    ),
                ),
                (
                    "digest",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="parts",
                        to="notifications.delivery",
                    ),
                ),
                (
                    "rule",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="notifications.rule",
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("next_attempt_at__isnull", False)),
                        fields=["next_attempt_at"],
                        name="delivery_due",
                    ),
                    models.Index(
                        condition=models.Q(("digest", None), ("digest_due_at__isnull", False)),
                        fields=["digest_due_at"],
                        name="delivery_digest",
                    ),
                    models.Index(
                        condition=models.Q(("finished_at__isnull", False)), fields=["finished_at"], name="delivery_over"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("event_id", "channel"), name="delivery_once_per_channel")
                ],
            },
        ),
        migrations.CreateModel(
            name="DeliveryAttempt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("begun_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                ("status", models.IntegerField(null=True)),
                ("answer", models.TextField(blank=True)),
                ("error", models.TextField(blank=True)),
                ("error_data", models.JSONField(null=True)),
                (
                    "delivery",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="log", to="notifications.delivery"
                    ),
                ),
            ],
            options={
                "ordering": ["delivery_id", "number"],
                "constraints": [models.UniqueConstraint(fields=("delivery", "number"), name="attempt_number_once")],
            },
        ),
        migrations.CreateModel(
            name="MaintenanceWindow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("host_label", models.CharField(blank=True, max_length=60)),
                ("begins_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
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
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="hosts.environment",
                    ),
                ),
                (
                    "host",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="hosts.host",
                    ),
                ),
            ],
            options={
                "ordering": ["-begins_at", "-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("ends_at__gt", models.F("begins_at"))),
                        name="maintenance_ends_after_its_beginning",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("environment", None), ("host__isnull", False), ("host_label", "")),
                            models.Q(
                                ("environment", None), ("host", None), models.Q(("host_label", ""), _negated=True)
                            ),
                            models.Q(("environment__isnull", False), ("host", None), ("host_label", "")),
                            _connector="OR",
                        ),
                        name="maintenance_of_one_thing",
                    ),
                ],
            },
        ),
        audited("notifications_channel", hidden=("secret_encrypted", "config")),
        audited("notifications_rule"),
        audited("notifications_maintenancewindow"),
    ]
