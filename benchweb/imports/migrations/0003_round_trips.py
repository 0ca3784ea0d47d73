"""Round trips of imported tools, such as sockperf's, had no direction: lower is better, as of the engine's."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def give_direction(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Let half round trips be better when lower."""
    metrics = apps.get_model("imports", "OwnMetric").objects
    metrics.filter(key__startswith="half_round_trip_", better="neutral").update(better="lower")


class Migration(migrations.Migration):
    """The direction alone: figures stay as they are."""

    dependencies = [("imports", "0002_one_plan_per_tool")]
    operations = [migrations.RunPython(give_direction, migrations.RunPython.noop, elidable=True)]
