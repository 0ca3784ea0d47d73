"""Store the names of tokens and saved views as new ones are."""

from typing import Any

from django.db import migrations

from benchweb.common.names import stored_name


def store_names(apps: Any, schema_editor: Any) -> None:
    """Rewrite what differs."""
    for model in ("ApiToken", "SavedView"):
        rows = apps.get_model("accounts", model).objects
        for pk, name in rows.values_list("pk", "name"):
            if stored_name(name) != name:
                rows.filter(pk=pk).update(name=stored_name(name))


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_saved_views")]

    operations = [migrations.RunPython(store_names, migrations.RunPython.noop)]
