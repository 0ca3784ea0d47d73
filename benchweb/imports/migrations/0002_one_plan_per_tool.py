"""Imported runs had a plan named by each file: there is one for each tool, and the file's name is a fact of the run.

A plan that somebody has bound a threshold, a rule, a baseline or the like to stays: what was said of one file is not
said of all. What other systems push has a plan by its own label, as before.
"""

from django.db import migrations

# Versions of plans that were made for imports, with the name of the plan that they go to: by their tools.
_MOVED = """
SELECT DISTINCT ON (version.id) version.id, version.plan_id,
  left('imported ' || array_to_string(imported.tools, ', '), 100) AS name
FROM imports_import imported
JOIN runs_run run ON run.id = imported.run_id
JOIN plans_planversion version ON version.id = run.plan_version_id
JOIN plans_plan plan ON plan.id = version.plan_id
WHERE plan.is_one_off AND plan.archived_at IS NULL AND imported.key = ''
ORDER BY version.id, imported.id
"""
_PLAN = "SELECT id FROM plans_plan WHERE is_one_off AND archived_at IS NULL AND name = %s ORDER BY id LIMIT 1"
_NEW_PLAN = """
INSERT INTO plans_plan (name, labels, created_at, is_one_off, is_synthetic) VALUES (%s, '{}', now(), true, false)
RETURNING id
"""
_MOVE = """
UPDATE plans_planversion SET plan_id = %s,
  number = (SELECT coalesce(max(number), 0) + 1 FROM plans_planversion WHERE plan_id = %s)
WHERE id = %s
"""
# What means a plan, but for its versions: alerts go with it, all else keeps it.
_ALERTS = "regressions_alert"
_REFERENCES = """
SELECT referring.conrelid::regclass::text, attribute.attname
FROM pg_constraint referring
JOIN pg_attribute attribute ON attribute.attrelid = referring.conrelid AND attribute.attnum = referring.conkey[1]
WHERE referring.contype = 'f' AND referring.confrelid = 'plans_plan'::regclass
  AND referring.conrelid <> 'plans_planversion'::regclass
"""
_IS_EMPTY = "SELECT NOT EXISTS (SELECT FROM plans_planversion WHERE plan_id = %s)"


def put_together(apps, schema_editor):
    """Move the versions, then what means their old plans, and delete those that have no version left."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(_REFERENCES)
        references = cursor.fetchall()
        cursor.execute(_MOVED)
        moved_to = {}
        for version, old, name in cursor.fetchall():
            if any(_is_bound(cursor, table, column, old) for table, column in references if table != _ALERTS):
                continue
            cursor.execute(_PLAN, [name])
            found = cursor.fetchone()
            if found is None:
                cursor.execute(_NEW_PLAN, [name])
                found = cursor.fetchone()
            if found[0] != old:
                cursor.execute(_MOVE, [found[0], found[0], version])
                moved_to[old] = found[0]
        for old, new in moved_to.items():
            cursor.execute(_IS_EMPTY, [old])
            if cursor.fetchone()[0]:
                cursor.execute(f"UPDATE {_ALERTS} SET plan_id = %s WHERE plan_id = %s", [new, old])  # noqa: S608
                cursor.execute("DELETE FROM plans_plan WHERE id = %s", [old])


def _is_bound(cursor, table, column, plan):
    cursor.execute(f"SELECT EXISTS (SELECT FROM {table} WHERE {column} = %s)", [plan])  # noqa: S608
    return cursor.fetchone()[0]


class Migration(migrations.Migration):
    dependencies = [("imports", "0001_tables"), ("plans", "0002_plan_main_size_bytes")]

    operations = [migrations.RunPython(put_together, migrations.RunPython.noop)]
