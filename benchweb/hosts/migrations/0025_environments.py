"""A host is in environments: to begin with, in those of its pairs in use."""

import django.contrib.postgres.fields
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def enter(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Have each host in the environments of its pairs in use."""
    found: dict[int, set[int]] = {}
    pairs = apps.get_model("hosts", "Pair").objects.filter(archived_at=None).order_by()
    for end in ("source__host", "sink__host"):
        for host, environment in pairs.values_list(end, "environment").distinct():
            found.setdefault(host, set()).add(environment)
    hosts = apps.get_model("hosts", "Host").objects
    for host, environments in found.items():
        hosts.filter(pk=host).update(environment_ids=sorted(environments))


class Migration(migrations.Migration):
    dependencies = [
        ("hosts", "0024_tickets"),
    ]

    operations = [
        migrations.AddField(
            model_name="host",
            name="environment_ids",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(), db_default=[], default=list, size=None
            ),
        ),
        migrations.RunPython(enter, migrations.RunPython.noop),
    ]
