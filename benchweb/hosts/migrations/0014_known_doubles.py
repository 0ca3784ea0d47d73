"""Insist for the hosts that share a certificate already: they were meant to."""

from typing import Any

from django.db import migrations
from django.db.models import Count


def allow_doubles(apps: Any, schema_editor: Any) -> None:
    """Insist for every endpoint whose certificate another host has."""
    endpoints = apps.get_model("hosts", "Endpoint").objects.exclude(fingerprint="")
    shared = endpoints.values("fingerprint").annotate(hosts=Count("host", distinct=True)).filter(hosts__gt=1)
    for fingerprint in list(shared.values_list("fingerprint", flat=True)):
        same = endpoints.filter(fingerprint=fingerprint)
        same.update(same_machine=True)
        first, *others = sorted(set(same.values_list("host", flat=True)))
        apps.get_model("hosts", "Host").objects.filter(pk__in=others).update(machine=first)


class Migration(migrations.Migration):
    dependencies = [("hosts", "0013_machines")]

    operations = [migrations.RunPython(allow_doubles, migrations.RunPython.noop)]
