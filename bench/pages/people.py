"""Fill a database as a team leaves it behind: users, and an audit log of many changes."""

from bench.rig.rig import Rig

USERS = 200
AUDIT_ROWS = 1_000_000
_USERS = """
    INSERT INTO auth_user (username, password, first_name, last_name, email, is_staff, is_superuser, is_active,
                           date_joined)
    SELECT 'user' || number, '!', '', '', '', false, false, true, now() FROM generate_series(1, %s) AS number
    ON CONFLICT DO NOTHING RETURNING id
"""
_ENTRIES = """
    WITH entries AS (
        INSERT INTO accounts_auditentry
            (at, action, via, user_id, user_name, address, "table", object_id, object_name, changes)
        SELECT now() - number * interval '1 minute', 'changed', 'page', number %% 200, 'user' || number %% 200,
               '192.0.2.' || number %% 250, 'hosts_host', number %% 500, 'host ' || number %% 500,
               jsonb_build_object('description', jsonb_build_array('before', 'after ' || number))
        FROM generate_series(1, %s) AS number RETURNING 1)
    SELECT count(*) FROM entries
"""


def fill_people(rig: Rig) -> None:
    """Add users and entries of the audit log, once for each database."""
    rig.rows(_USERS, [USERS])
    if rig.rows("SELECT count(*) FROM accounts_auditentry")[0][0] < AUDIT_ROWS:
        rig.rows(_ENTRIES, [AUDIT_ROWS])
