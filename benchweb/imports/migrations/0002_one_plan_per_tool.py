"""Imported runs had a plan named by each file: there is one for each tool, and the file's name is a fact of the run."""

from django.db import migrations

# Versions of plans that were made for imports, with the name of the plan that they go to: by their tools.
_MOVED = """
SELECT DISTINCT ON (version.id) version.id, version.plan_id,
  left('imported ' || array_to_string(imported.tools, ', '), 100) AS name
FROM imports_import imported
JOIN runs_run run ON run.id = imported.run_id
JOIN plans_planversion version ON version.id = run.plan_version_id
JOIN plans_plan plan ON plan.id = version.plan_id
WHERE plan.is_one_off AND plan.archived_at IS NULL
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
# Alerts, thresholds and whatever else means a plan: all but its versions.
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
        cursor.execute(_MOVED)
        moved_to = {}
        for version, old, name in cursor.fetchall():
            cursor.execute(_PLAN, [name])
            found = cursor.fetchone()
            if found is None:
                cursor.execute(_NEW_PLAN, [name])
                found = cursor.fetchone()
            if found[0] != old:
                cursor.execute(_MOVE, [found[0], found[0], version])
                moved_to[old] = found[0]
        cursor.execute(_REFERENCES)
        references = cursor.fetchall()
        for old, new in moved_to.items():
            cursor.execute(_IS_EMPTY, [old])
            if cursor.fetchone()[0]:
                for table, column in references:
                    cursor.execute(f"UPDATE {table} SET {column} = %s WHERE {column} = %s", [new, old])  # noqa: S608
                cursor.execute("DELETE FROM plans_plan WHERE id = %s", [old])


class Migration(migrations.Migration):
    dependencies = [("imports", "0001_tables"), ("plans", "0002_plan_main_size_bytes")]

    operations = [migrations.RunPython(put_together, migrations.RunPython.noop)]
