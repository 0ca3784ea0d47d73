"""Store plans' names as new ones are."""

from typing import Any

from django.db import migrations

from benchweb.common.names import stored_name


def store_names(apps: Any, schema_editor: Any) -> None:
    """Rewrite what differs."""
    plans = apps.get_model("plans", "Plan").objects
    for pk, name in plans.values_list("pk", "name"):
        if stored_name(name) != name:
            plans.filter(pk=pk).update(name=stored_name(name))


class Migration(migrations.Migration):
    dependencies = [("plans", "0004_order_words")]

    operations = [migrations.RunPython(store_names, migrations.RunPython.noop)]
