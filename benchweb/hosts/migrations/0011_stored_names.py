"""Store names as new ones are, and give a number to each that is in use twice; the first keeps its name."""

from typing import Any

from django.db import migrations

from benchweb.hosts.naming import numbered
from benchweb.common.names import name_key, stored_name


def store_names(apps: Any, schema_editor: Any) -> None:
    """Rewrite what differs; the database keeps former names by itself."""
    for model in ("Environment", "Host"):
        _name_once(apps.get_model("hosts", model))
    for host in apps.get_model("hosts", "Host").objects.only("labels", "uplink"):
        labels, uplink = list(dict.fromkeys(map(stored_name, host.labels))), stored_name(host.uplink)
        if (labels, uplink) != (host.labels, host.uplink):
            type(host).objects.filter(pk=host.pk).update(labels=labels, uplink=uplink)
    for endpoint in apps.get_model("hosts", "Endpoint").objects.only("name", "network_mode"):
        name, mode = stored_name(endpoint.name), stored_name(endpoint.network_mode)
        if (name, mode) != (endpoint.name, endpoint.network_mode):
            type(endpoint).objects.filter(pk=endpoint.pk).update(name=name, network_mode=mode)


def _name_once(model: Any) -> None:
    rows = list(model.objects.order_by("pk").values_list("pk", "name", "archived_at"))
    in_use = {name_key(name) for _pk, name, archived_at in rows if archived_at is None}
    taken: set[str] = set()
    for pk, was, archived_at in rows:
        name = stored_name(was) or "?"
        if archived_at is None:
            if name_key(name) in taken:
                name = next(each for each in numbered(name) if name_key(each) not in in_use | taken)
            taken.add(name_key(name))
        model.objects.filter(pk=pk).update(name=name, name_key=name_key(name))


class Migration(migrations.Migration):
    dependencies = [("hosts", "0010_name_keys")]

    operations = [migrations.RunPython(store_names, migrations.RunPython.noop, elidable=False)]
