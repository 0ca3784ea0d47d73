"""Show an entry of the audit log."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.audit.selectors import AuditFilter
from benchweb.common.rows import row_id
from benchweb.web.audit.naming import object_names
from benchweb.web.shared.zones import requested_day

_DAY = timedelta(days=1)
FILTERS = ("user", "action", "via", "table", "object", "from", "to")
# What the tables that are audited hold, and the page of one of them where there is one.
_OBJECTS = {
    "auth_user": (gettext_noop("User"), "web:user"),
    "accounts_team": (gettext_noop("Team"), "web:team"),
    "accounts_membership": (gettext_noop("Member of a team"), ""),
    "accounts_grant": (gettext_noop("Role"), ""),
    "accounts_invitation": (gettext_noop("Invitation"), ""),
    "mfa_authenticator": (gettext_noop("Second factor"), ""),
    "socialaccount_socialaccount": (gettext_noop("Identity at a provider"), ""),
    "accounts_usersession": (gettext_noop("Session"), ""),
    "accounts_apitoken": (gettext_noop("API token"), ""),
    "accounts_savedview": (gettext_noop("Saved view"), ""),
    "hosts_environment": (gettext_noop("Environment"), "web:environment"),
    "hosts_host": (gettext_noop("Host"), "web:host"),
    "hosts_endpoint": (gettext_noop("Endpoint"), ""),
    "hosts_enrolment": (gettext_noop("Ticket of a host"), ""),
    "hosts_pair": (gettext_noop("Pair"), "web:pair"),
    "plans_plan": (gettext_noop("Plan"), "web:plan"),
    "plans_planversion": (gettext_noop("Version of a plan"), ""),
    "runs_campaign": (gettext_noop("Campaign"), "web:campaign"),
    "runs_run": (gettext_noop("Run"), "web:run"),
    "schedules_schedule": (gettext_noop("Schedule"), "web:schedule"),
    "regressions_annotation": (gettext_noop("Note"), ""),
    "regressions_threshold": (gettext_noop("Threshold"), ""),
    "regressions_alerttransition": (gettext_noop("Step of an alert"), ""),
    "regressions_baseline": (gettext_noop("Baseline"), ""),
    "regressions_sensitivity": (gettext_noop("Sensitivity"), ""),
    "notifications_channel": (gettext_noop("Channel"), ""),
    "notifications_rule": (gettext_noop("Rule"), ""),
    "notifications_maintenancewindow": (gettext_noop("Maintenance window"), ""),
    "imports_import": (gettext_noop("Import"), ""),
    "imports_ownmetric": (gettext_noop("Metric of your own"), ""),
    "imports_ownkind": (gettext_noop("Test kind of your own"), ""),
    "sharing_share": (gettext_noop("Share"), ""),
    "site_sitesetting": (gettext_noop("Site setting"), ""),
    "site_sitesecret": (gettext_noop("Secret site setting"), ""),
    "reports_report": (gettext_noop("Report"), "web:report"),
    "reports_reportrun": (gettext_noop("Run of a report"), ""),
    "dashboards_dashboard": (gettext_noop("Dashboard"), "web:dashboard"),
    "dashboards_tile": (gettext_noop("Tile of a dashboard"), ""),
}


@dataclass(frozen=True)
class ColumnChange:
    """A column with its value before and after, as text; empty for none."""

    column: str
    before: str
    after: str


@dataclass(frozen=True)
class AuditRow:
    """An entry with the name of its object and the address of its page, where there is one."""

    entry: AuditEntry
    what: str
    url: str
    changes: list[ColumnChange]


def audit_rows(entries: Sequence[AuditEntry]) -> list[AuditRow]:
    """Return entries as shown."""
    names = object_names(entries)
    return [_row(entry, names.get(entry.pk, "")) for entry in entries]


def _row(entry: AuditEntry, found_name: str) -> AuditRow:
    label, page_name = _OBJECTS.get(entry.table, (entry.table, ""))
    name = found_name or entry.object_name or (str(entry.object_id) if entry.object_id else "")
    is_gone = entry.action == AuditEntry.Action.DELETED
    url = reverse(page_name, args=[entry.object_id]) if page_name and entry.object_id and not is_gone else ""
    changes = [ColumnChange(column, _text(before), _text(after)) for column, (before, after) in entry.changes.items()]
    return AuditRow(entry, f"{_(label)} {name}".strip() if label else name, url, changes)


def object_choices() -> list[tuple[str, str]]:
    """Return the tables that can be filtered by, by their labels."""
    return sorted(((table, _(label)) for table, (label, _page) in _OBJECTS.items()), key=lambda choice: choice[1])


def read_filter(query: QueryDict, zone: ZoneInfo) -> AuditFilter:
    """Read the filters of a query string; a wrong one is left out."""
    values: Mapping[str, str] = {name: query.get(name, "").strip() for name in FILTERS}
    last = requested_day(values["to"], zone)
    return AuditFilter(
        user=values["user"],
        action=values["action"],
        via=values["via"],
        table=values["table"],
        object_id=row_id(values["object"]),
        first=requested_day(values["from"], zone),
        last=last + _DAY if last else None,
    )


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
