from collections import defaultdict
from typing import Any

from django.db import migrations

# As accounts.login.names.PersonKey has it.
KEY = """normalize(replace(lower(upper(normalize(username, NFKC))), 'ß', 'ss'), NFKC) COLLATE "C\""""


def refuse_collisions(apps: Any, schema_editor: Any) -> None:
    """Stop before the index does, with the names: whether two accounts are one person's only people know."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(f"SELECT {KEY}, username FROM auth_user ORDER BY id")  # noqa: S608  (a constant)
        names = defaultdict(list)
        for key, name in cursor.fetchall():
            names[key].append(name)
    several = [" and ".join(same) for same in names.values() if len(same) > 1]
    if several:
        raise RuntimeError(
            f"Accounts whose names differ only in case, width or spelling count as one person from now on: "
            f"{'; '.join(several)}. Nothing was changed. Rename the one that isn't used by "
            f"'manage.py rename_user NAME NEW_NAME' and migrate again, or by 'manage.py up --rename NAME NEW_NAME'."
        )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0013_audit_of_use")]

    operations = [
        migrations.RunPython(refuse_collisions, migrations.RunPython.noop),
        # Django's own table: no model of ours can declare it.
        migrations.RunSQL(
            f"CREATE UNIQUE INDEX accounts_one_person ON auth_user (({KEY}))",
            "DROP INDEX accounts_one_person",
        ),
    ]
