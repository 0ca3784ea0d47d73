"""Let everybody who has an account go on as before: there were no roles, and everybody might do everything."""

from typing import Any

from django.conf import settings
from django.db import migrations


def grant_admin(apps: Any, schema_editor: Any) -> None:
    """Make admins of all users."""
    grants = apps.get_model("accounts", "Grant").objects
    users = apps.get_model(*settings.AUTH_USER_MODEL.split(".")).objects
    grants.bulk_create(
        grants.model(user_id=pk, role="admin") for pk in users.order_by("pk").values_list("pk", flat=True)
    )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_roles")]

    operations = [migrations.RunPython(grant_admin, migrations.RunPython.noop)]
