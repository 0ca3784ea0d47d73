import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from benchweb.accounts.audit.triggers import audited


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("imports", "0001_initial"),
        ("imports", "0002_pushed_results"),
        ("imports", "0003_audit"),
        ("imports", "0004_own_definitions"),
    ]

    dependencies = [
        ("accounts", "0001_tables"),
        ("auth", "__first__"),
        ("hosts", "0001_tables"),
        ("runs", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="OwnKind",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                ("name", models.CharField(max_length=60, unique=True)),
                ("label", models.CharField(max_length=100)),
                (
                    "metrics",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), size=None),
                ),
                ("parameters", models.JSONField()),
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
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="OwnMetric",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                ("key", models.CharField(db_column="name", max_length=60, unique=True)),
                ("label", models.CharField(max_length=100)),
                ("unit", models.CharField(blank=True, max_length=20)),
                ("better", models.CharField(max_length=7)),
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
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Import",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "tools",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), size=None),
                ),
                ("file_name", models.CharField(blank=True, max_length=200)),
                ("digest", models.CharField(max_length=64)),
                ("text", models.TextField()),
                ("key", models.CharField(blank=True, db_default="", default="", max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.pair"),
                ),
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="imported", to="runs.run"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.UniqueConstraint(fields=("pair", "digest"), name="import_once_per_pair"),
                    models.UniqueConstraint(
                        condition=models.Q(("key", ""), _negated=True),
                        fields=("created_by", "key"),
                        name="import_once_per_key",
                    ),
                ],
            },
        ),
        audited("imports_import", hidden=("text",)),
        audited("imports_ownmetric"),
        audited("imports_ownkind"),
    ]
