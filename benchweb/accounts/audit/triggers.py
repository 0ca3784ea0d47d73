"""The triggers of the audit log, for migrations.

A trigger sees bulk updates, raw statements and changes by hand too, and writes in the same transaction: there is no
change without its entry. Who makes it stands in the connection's setting `benchweb.actor`, see `actors`.
"""

from collections.abc import Sequence

from django.db import migrations

FUNCTION = """
CREATE FUNCTION audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    ignored text[] := TG_ARGV[0];
    hidden text[] := TG_ARGV[1];
    actor jsonb := coalesce(nullif(current_setting('benchweb.actor', true), ''), '{}');
    was jsonb := CASE WHEN TG_OP = 'INSERT' THEN '{}' ELSE to_jsonb(OLD) - ignored END;
    becomes jsonb := CASE WHEN TG_OP = 'DELETE' THEN '{}' ELSE to_jsonb(NEW) - ignored END;
    whole jsonb := CASE WHEN TG_OP = 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
    differences jsonb;
BEGIN
    SELECT jsonb_object_agg(name, CASE WHEN name = ANY (hidden)
               THEN jsonb_build_array(CASE WHEN b.value IS NOT NULL THEN '…' END,
                                      CASE WHEN a.value IS NOT NULL THEN '…' END)
               ELSE jsonb_build_array(b.value, a.value) END)
    INTO differences
    FROM jsonb_each(was) AS b (name, value) FULL JOIN jsonb_each(becomes) AS a (name, value) USING (name)
    WHERE b.value IS DISTINCT FROM a.value AND name <> 'id';
    IF differences IS NULL AND TG_OP = 'UPDATE' THEN
        RETURN NULL;
    END IF;
    INSERT INTO accounts_auditentry
        (at, action, via, user_id, user_name, token_id, address, "table", object_id, object_name, changes)
    VALUES (
        statement_timestamp(),
        CASE TG_OP WHEN 'INSERT' THEN 'created' WHEN 'DELETE' THEN 'deleted' ELSE 'changed' END,
        coalesce(actor ->> 'via', 'system'), (actor ->> 'user_id')::bigint, coalesce(actor ->> 'user_name', ''),
        (actor ->> 'token_id')::bigint, coalesce(actor ->> 'address', ''),
        TG_TABLE_NAME, (whole ->> 'id')::bigint,
        coalesce(whole ->> 'name', whole ->> 'title', whole ->> 'username', ''), coalesce(differences, '{}')
    );
    RETURN NULL;
END $$
"""
# An entry stays as it was written. Old ones go by the setting of the days that entries are kept, never before a month.
GUARD = """
CREATE FUNCTION audit_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < now() - interval '30 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'an entry of the audit log is neither changed nor deleted' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_guard BEFORE UPDATE OR DELETE ON accounts_auditentry FOR EACH ROW EXECUTE FUNCTION audit_guard();
CREATE TRIGGER audit_guard_all BEFORE TRUNCATE ON accounts_auditentry EXECUTE FUNCTION audit_guard()
"""
UNDO_GUARD = """
DROP TRIGGER audit_guard ON accounts_auditentry;
DROP TRIGGER audit_guard_all ON accounts_auditentry;
DROP FUNCTION audit_guard()
"""


def audited(
    table: str,
    *,
    ignored: Sequence[str] = (),
    hidden: Sequence[str] = (),
    only: Sequence[str] = (),
    events: str = "INSERT OR UPDATE OR DELETE",
    condition: str = "",
) -> migrations.RunSQL:
    """Return the operation that audits a table.

    A change of `ignored` columns alone is none, such as what a probe writes; of `hidden` ones it is kept only that they
    changed. With `only`, updates of these columns alone are kept. `events` and `condition` are SQL's.
    """
    columns = ", ".join(only)
    if only:
        events = f"UPDATE OF {columns}"
        condition = f"({', '.join(f'OLD.{name}' for name in only)}) IS DISTINCT FROM "
        condition += f"({', '.join(f'NEW.{name}' for name in only)})"
    words = f"'{_array(ignored)}', '{_array(hidden)}'"
    create = (
        f"CREATE TRIGGER audit AFTER {events} ON {table} FOR EACH ROW "
        f"{f'WHEN ({condition}) ' if condition else ''}EXECUTE FUNCTION audit_change({words})"
    )
    return migrations.RunSQL(create, f"DROP TRIGGER audit ON {table}")


def _array(columns: Sequence[str]) -> str:
    return "{" + ",".join(columns) + "}"
