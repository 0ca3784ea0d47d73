"""The notes were the regressions' until alerts came there: the rows stay where they are, under the table's old name."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("hosts", "0003_probe_turns"),
        ("regressions", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Annotation",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("text", models.CharField(max_length=500)),
                        ("at", models.DateTimeField()),
                        ("until", models.DateTimeField(blank=True, null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("archived_at", models.DateTimeField(blank=True, null=True)),
                        (
                            "author",
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
                        (
                            "pair",
                            models.ForeignKey(
                                blank=True,
                                null=True,
                                on_delete=django.db.models.deletion.PROTECT,
                                related_name="+",
                                to="hosts.pair",
                            ),
                        ),
                    ],
                    options={
                        "db_table": "regressions_annotation",
                        "ordering": ["at", "id"],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("archived_at", None)), fields=["at"], name="annotation_shown"
                            )
                        ],
                        "constraints": [
                            models.CheckConstraint(
                                condition=models.Q(("until", None), ("until__gte", models.F("at")), _connector="OR"),
                                name="annotation_ends_after_its_beginning",
                            )
                        ],
                    },
                ),
            ],
        ),
    ]
