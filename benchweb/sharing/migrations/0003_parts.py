"""Exports of shares are stored in pieces, so that none is ever held whole."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.functions import Substr

_PIECE = 1_000_000


def divide(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Copy each export, piece by piece."""
    shares, parts = apps.get_model("sharing", "Share").objects, apps.get_model("sharing", "SharePart").objects
    for pk in list(shares.order_by("pk").values_list("pk", flat=True)):
        for column, export in (("csv", "csv"), ("document", "json")):
            for number, text in enumerate(_pieces(shares.filter(pk=pk), column)):
                parts.create(share_id=pk, export=export, number=number, text=text)


def _pieces(share, column):
    start = 1
    while text := share.annotate(piece=Substr(column, start, _PIECE)).values_list("piece", flat=True).get():
        yield text
        start += _PIECE


class Migration(migrations.Migration):
    dependencies = [("sharing", "0002_page_in_languages")]

    operations = [
        migrations.CreateModel(
            name="SharePart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("export", models.CharField(choices=[("csv", "CSV"), ("json", "JSON")], max_length=4)),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField()),
                (
                    "share",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="parts",
                        to="sharing.share",
                    ),
                ),
            ],
            options={
                "ordering": ["share_id", "export", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("share", "export", "number"), name="share_part_once"),
                ],
            },
        ),
        migrations.RunPython(divide, migrations.RunPython.noop),
        migrations.RemoveField(model_name="share", name="csv"),
        migrations.RemoveField(model_name="share", name="document"),
    ]
