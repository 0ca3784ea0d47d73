"""The audit log: a list that filters in the URL, and the same as CSV."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_GET

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.audit.selectors import audit_entries, audit_parts
from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.downloads import download
from benchweb.documents.csv_file import csv_parts
from benchweb.web.audit.page import FILTERS, audit_rows, object_choices, read_filter
from benchweb.web.shared.lists import Column, list_page, listing
from benchweb.web.shared.zones import reader_zone

COLUMNS = [
    Column(gettext_noop("When")),
    Column(gettext_noop("Who")),
    Column(gettext_noop("What")),
    Column(gettext_noop("Before and after")),
]
_EXPORTED = ("id", "at", "action", "via", "user_name", "user_id", "token_id", "address")
_EXPORTED_OBJECT = ("table", "object_id", "object_name")
_MOST_COUNTED = 1_000


@needs(Permission.ADMIN)
@require_GET
def audit_log(request: HttpRequest) -> HttpResponse:
    """List who did what, the newest first."""
    wanted = read_filter(request.GET, reader_zone(request))
    page = listing(
        request, audit_entries(wanted), columns=COLUMNS, sort="-pk", filters=FILTERS, most_counted=_MOST_COUNTED
    )
    context = {
        "page": page,
        "rows": audit_rows(page.rows),
        "actions": AuditEntry.Action.choices,
        "vias": AuditEntry.Via.choices,
        "objects": object_choices(),
        "query": request.GET.urlencode(),
    }
    return list_page(request, "audit/audit.html", context)


@needs(Permission.ADMIN)
@require_GET
def audit_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Send all entries that match, the oldest first."""
    parts = audit_parts(audit_entries(read_filter(request.GET, reader_zone(request))))
    columns = [*_EXPORTED, *_EXPORTED_OBJECT, "changes"]
    lines = csv_parts(columns, (map(_values, entries) for entries in parts))
    return download(request, lines, media_type="text/csv", file_name="audit.csv")


def _values(entry: AuditEntry) -> list[Any]:
    values = [getattr(entry, name) for name in (*_EXPORTED, *_EXPORTED_OBJECT)]
    return [*values, json.dumps(entry.changes, ensure_ascii=False)]
