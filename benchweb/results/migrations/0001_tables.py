import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    # Until these are forgotten: a database of before has all of them, and becomes the same.
    replaces = [
        ("results", "0001_initial"),
        ("results", "0002_result_limits"),
        ("results", "0003_recent_medians"),
        ("results", "0004_series_by_metric"),
        ("results", "0005_series_by_identity"),
        ("results", "0006_run_figures"),
        ("results", "0007_night_extremes"),
        ("results", "0008_night_figures"),
        ("results", "0009_intervals"),
        ("results", "0010_no_is_change"),
    ]

    dependencies = [
        ("hosts", "0001_tables"),
        ("runs", "0001_tables"),
    ]

    operations = [
        migrations.CreateModel(
            name="Series",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=60)),
                ("metric", models.CharField(max_length=60)),
                ("identity", models.JSONField()),
                ("identity_digest", models.CharField(max_length=64)),
                (
                    "pair",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="series", to="hosts.pair"
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [
                    models.Index(fields=["kind", "metric", "id"], name="series_by_metric"),
                    models.Index(fields=["kind", "identity_digest"], name="series_by_identity"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("pair", "kind", "metric", "identity_digest"), name="series_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="EnvironmentNights",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=60)),
                ("metric", models.CharField(max_length=60)),
                ("identity", models.JSONField()),
                ("identity_digest", models.CharField(max_length=64)),
                (
                    "nights",
                    django.contrib.postgres.fields.ArrayField(base_field=models.DateField(), default=list, size=None),
                ),
                (
                    "medians",
                    django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), default=list, size=None),
                ),
                (
                    "pairs",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), default=list, size=None
                    ),
                ),
                ("low", models.FloatField(null=True)),
                ("high", models.FloatField(null=True)),
                ("night", models.DateField(null=True)),
                ("most_pairs", models.PositiveIntegerField(default=0)),
                ("typical", models.FloatField(null=True)),
                ("stale_from", models.DateField(null=True)),
                ("made_at", models.DateTimeField(null=True)),
                (
                    "environment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="nights", to="hosts.environment"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("stale_from", None), _negated=True),
                        fields=["made_at"],
                        name="environment_nights_stale",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("environment", "kind", "metric", "identity_digest"), name="environment_nights_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="IntervalPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("intervals", models.JSONField()),
                (
                    "trial",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="interval_parts",
                        to="runs.trial",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("trial", "number"), name="interval_part_once")],
            },
        ),
        migrations.CreateModel(
            name="NightFigure",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "of_id", "night", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("night", models.DateField()),
                ("at", models.DateTimeField()),
                ("runs", models.PositiveIntegerField()),
                ("pairs", models.PositiveIntegerField()),
                ("n", models.PositiveIntegerField()),
                ("median", models.FloatField()),
                ("low", models.FloatField()),
                ("high", models.FloatField()),
                (
                    "of",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="figures",
                        to="results.environmentnights",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RecentMedians",
            fields=[
                (
                    "series",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="recent",
                        serialize=False,
                        to="results.series",
                    ),
                ),
                ("runs", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                ("ats", django.contrib.postgres.fields.ArrayField(base_field=models.DateTimeField(), size=None)),
                ("medians", django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=None)),
                ("at", models.DateTimeField()),
                ("median", models.FloatField()),
                ("n", models.PositiveIntegerField()),
                ("low", models.FloatField()),
                ("high", models.FloatField()),
                ("baseline", models.FloatField(null=True)),
                ("score", models.FloatField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Point",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("value", models.FloatField()),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="runs.run")),
                (
                    "trial",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="runs.trial"),
                ),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="points",
                        to="results.series",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["series", "at"], include=("value", "run", "trial"), name="point_by_series")
                ],
                "constraints": [models.UniqueConstraint(fields=("trial", "series"), name="point_once_per_trial")],
            },
        ),
        migrations.CreateModel(
            name="Result",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("metrics", models.JSONField()),
                ("flags", models.JSONField(default=list)),
                ("limits", models.JSONField(default=list)),
                ("document", models.JSONField()),
                ("interval_count", models.PositiveIntegerField(null=True)),
                ("histogram", models.BinaryField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "sink_facts",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.facts"
                    ),
                ),
                (
                    "source_facts",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="hosts.facts"
                    ),
                ),
                (
                    "trial",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="result", to="runs.trial"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="RunFigure",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "run_id", "series_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("at", models.DateTimeField()),
                ("n", models.PositiveIntegerField()),
                ("median", models.FloatField()),
                ("low", models.FloatField()),
                ("high", models.FloatField()),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="figures",
                        to="runs.run",
                    ),
                ),
                (
                    "series",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="figures",
                        to="results.series",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["series", "at"], include=("run", "n", "median", "low", "high"), name="figure_by_series"
                    )
                ],
            },
        ),
    ]
