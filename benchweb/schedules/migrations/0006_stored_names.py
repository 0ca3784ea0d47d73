"""Store schedules' names, and the labels and modes that they choose by, as new ones are."""

from typing import Any

from django.db import migrations

from benchweb.common.names import stored_name


def store_names(apps: Any, schema_editor: Any) -> None:
    """Rewrite what differs."""
    schedules = apps.get_model("schedules", "Schedule").objects
    for pk, name, target in schedules.values_list("pk", "name", "target"):
        stored = {"name": stored_name(name), "target": _stored(target)}
        if stored != {"name": name, "target": target}:
            schedules.filter(pk=pk).update(**stored)


def _stored(value: Any) -> Any:
    match value:
        case str():
            return stored_name(value)
        case list():
            return [_stored(each) for each in value]
        case dict():
            return {key: _stored(each) for key, each in value.items()}
        case _:
            return value


class Migration(migrations.Migration):
    dependencies = [("schedules", "0005_slot_break_offs")]

    operations = [migrations.RunPython(store_names, migrations.RunPython.noop)]
