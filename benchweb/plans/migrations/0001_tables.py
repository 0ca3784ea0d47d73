import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("plans", "0001_initial"),
        ("plans", "0002_confidence"),
        ("plans", "0003_synthetic"),
        ("plans", "0004_order_words"),
        ("plans", "0005_stored_names"),
        ("plans", "0006_order_examples"),
        ("plans", "0007_one_off"),
        ("plans", "0008_audit"),
        ("plans", "0009_plan_labels"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="Plan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "labels",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60), db_default=[], default=list, size=None
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("is_one_off", models.BooleanField(db_default=False, default=False, editable=False)),
                ("is_synthetic", models.BooleanField(db_default=False, default=False, editable=False)),
            ],
            options={
                "ordering": ["name", "id"],
            },
        ),
        migrations.CreateModel(
            name="PlanVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("repetitions", models.PositiveIntegerField()),
                (
                    "order",
                    models.CharField(
                        choices=[
                            ("interleaved", "interleaved (A B C, A B C, …)"),
                            ("sequential", "sequential (A A, B B, C C, …)"),
                            ("shuffled", "shuffled (random order)"),
                        ],
                        max_length=20,
                    ),
                ),
                ("pause_seconds", models.FloatField(default=0)),
                ("steps", models.JSONField()),
                ("confidence", models.JSONField(blank=True, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "plan",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="plans.plan"
                    ),
                ),
            ],
            options={
                "ordering": ["plan_id", "-number"],
                "constraints": [models.UniqueConstraint(fields=("plan", "number"), name="plan_version_number_once")],
            },
        ),
        audited("plans_plan"),
        audited("plans_planversion"),
    ]
