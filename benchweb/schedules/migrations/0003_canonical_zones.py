"""Write the time zones of schedules by the names that mean the same on every machine."""

import os
import re
from pathlib import Path

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def write_plainly(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Replace right/Europe/Berlin by Europe/Berlin, and localtime by what this machine is set to."""
    schedules = apps.get_model("schedules", "Schedule")
    for schedule in schedules.objects.filter(timezone__regex="^(right|posix)/"):
        schedules.objects.filter(pk=schedule.pk).update(timezone=re.sub("^(right|posix)/", "", schedule.timezone))
    schedules.objects.filter(timezone__in=("localtime", "posixrules", "Factory")).update(timezone=_machine_zone())


def _machine_zone() -> str:
    _, found, name = os.fspath(Path("/etc/localtime").resolve()).partition("/zoneinfo/")
    return name if found else "UTC"


class Migration(migrations.Migration):
    dependencies = [("schedules", "0002_overlap")]
    operations = [migrations.RunPython(write_plainly, migrations.RunPython.noop)]
