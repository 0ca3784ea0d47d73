"""Call the resources of uplinks as hosts call them now; one that is there already keeps its own row."""

from typing import Any

from django.db import migrations

from benchweb.common.names import stored_name


def store_names(apps: Any, schema_editor: Any) -> None:
    """Rewrite what differs."""
    resources = apps.get_model("runs", "Resource").objects
    for pk, uplink in resources.exclude(uplink=None).values_list("pk", "uplink"):
        stored = stored_name(uplink)
        if stored != uplink and not resources.filter(uplink=stored).exists():
            resources.filter(pk=pk).update(uplink=stored)


class Migration(migrations.Migration):
    dependencies = [("runs", "0011_break_offs"), ("hosts", "0011_stored_names")]

    operations = [migrations.RunPython(store_names, migrations.RunPython.noop)]
