"""Names of what has none of its own in the log: a role by whose it is and where, a membership by team and user."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.models import Grant, Role, Team
from benchweb.hosts.models import Environment

_ROLE, _MEMBER = "accounts_grant", "accounts_membership"
Fields = dict[str, Any]


def object_names(entries: Sequence[AuditEntry]) -> dict[int, str]:
    """Return names by the ids of the entries that they are of; four queries, or none where there is nothing to name."""
    named = [entry for entry in entries if entry.table in (_ROLE, _MEMBER)]
    if not named:
        return {}
    fields = _fields(named)
    users = _names(User.objects.in_bulk(_ids(fields, "user_id")))
    teams = _names(Team.objects.in_bulk(_ids(fields, "team_id")))
    environments = _names(Environment.objects.in_bulk(_ids(fields, "environment_id")))
    names: dict[int, str] = {}
    for entry in named:
        values = fields[entry.pk]
        user, team = users.get(values.get("user_id"), ""), teams.get(values.get("team_id"), "")
        if entry.table == _MEMBER:
            names[entry.pk] = f"{team}: {user}" if team and user else ""
        elif (user or team) and values.get("role") in Role.values:
            names[entry.pk] = f"{user or team}: {_role_words(values, environments)}"
    return names


def _fields(entries: Sequence[AuditEntry]) -> dict[int, Fields]:
    """Return what each entry's row held: as it was removed, else as it became; what didn't change, as it stands."""
    changed = [entry for entry in entries if entry.table == _ROLE and entry.action == AuditEntry.Action.CHANGED]
    ids = {entry.object_id for entry in changed if entry.object_id is not None}
    standing = {row["id"]: row for row in Grant.objects.filter(pk__in=ids).values()} if ids else {}
    which = {entry.pk: 0 if entry.action == AuditEntry.Action.DELETED else 1 for entry in entries}
    return {
        entry.pk: {
            **(standing.get(entry.object_id or 0, {}) if entry.table == _ROLE else {}),
            **{column: values[which[entry.pk]] for column, values in entry.changes.items()},
        }
        for entry in entries
    }


def _ids(fields: dict[int, Fields], column: str) -> set[int]:
    return {each[column] for each in fields.values() if each.get(column) is not None}


def _names(rows: dict[Any, Any]) -> dict[Any, str]:
    return {number: str(row) for number, row in rows.items()}


def _role_words(values: Fields, environments: dict[Any, str]) -> str:
    label, environment_id = Role(values["role"]).label, values.get("environment_id")
    if environment_id is None:
        return _("{role} everywhere").format(role=label)
    return _("{role} in {environment}").format(
        role=label, environment=environments.get(environment_id, str(environment_id))
    )
