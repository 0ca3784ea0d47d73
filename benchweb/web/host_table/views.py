"""Add hosts from a table that is pasted or a file: a preview by line, then all of them at once."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.hosts.tables.adding import AddedLine, TableOutcome, hosts_add
from benchweb.hosts.tables.reading import COLUMNS, MAXIMUM_CHARACTERS, LineFault, host_table
from benchweb.web.access.once import once
from benchweb.web.hosts.entered_tokens import note_all_entered

_EXAMPLE = "name, address, labels\nalder, 192.0.2.10, rack-7\nbirch, 192.0.2.11, rack-7"


@dataclass(frozen=True)
class TableRow:
    """A line of the preview: what it makes, or what is wrong with it."""

    number: int
    added: AddedLine | None = None
    faults: tuple[LineFault, ...] = ()


@dataclass(frozen=True)
class TablePreview:
    """The hosts that a text would add."""

    rows: list[TableRow]
    # Of the text as a whole.
    faults: list[LineFault]
    host_count: int
    endpoint_count: int

    @property
    def fault_count(self) -> int:
        return sum(bool(row.faults) for row in self.rows) + len(self.faults)

    @property
    def is_possible(self) -> bool:
        return bool(self.rows) and not self.fault_count


@needs(Permission.WRITE)
@never_cache
@once
@require_http_methods(["GET", "POST"])
def host_import(request: HttpRequest) -> HttpResponse:
    """Show the form, the preview of what was sent, or add it."""
    text = _text(request)
    outcome = hosts_add(host_table(text), keep=request.POST.get("action") == "save") if text.strip() else None
    if outcome and not outcome.faults and request.POST.get("action") == "save":
        note_all_entered(request, [line.endpoint for line in outcome.added])
        added = ngettext("{count} host added.", "{count} hosts added.", outcome.host_count)
        more = _("The page of each has the command that starts its engine.")
        messages.success(request, f"{added.format(count=f'{outcome.host_count:,}')} {more}")
        return redirect("web:hosts")
    preview = _preview(outcome) if outcome else None
    context = {"text": text, "preview": preview, "columns": COLUMNS, "example": _EXAMPLE}
    return render(request, "host_table/import.html", context)


@needs(Permission.WRITE)
@never_cache
@require_POST
def host_import_preview(request: HttpRequest) -> HttpResponse:
    """Return the preview of a text; nothing is kept."""
    text = _text(request)
    preview = _preview(hosts_add(host_table(text), keep=False)) if text.strip() else None
    return render(request, "host_table/preview.html", {"preview": preview})


def _text(request: HttpRequest) -> str:
    """Return the file that was sent, else what was typed; without a file's last part where it is too long."""
    file = request.FILES.get("file")
    if file is None:
        return request.POST.get("text", "")
    # One character more than is taken, so that the table's own bound refuses it.
    content: bytes = file.read(MAXIMUM_CHARACTERS * 4 + 4)
    return content.decode("utf-8-sig", errors="replace")[: MAXIMUM_CHARACTERS + 1]


def _preview(outcome: TableOutcome) -> TablePreview:
    faults: dict[int, list[LineFault]] = {}
    for fault in outcome.faults:
        faults.setdefault(fault.number, []).append(fault)
    whole = faults.pop(0, [])
    added = {line.number: line for line in outcome.added}
    rows = [TableRow(number, added.get(number), tuple(faults.get(number, ()))) for number in sorted({*added, *faults})]
    return TablePreview(rows, whole, outcome.host_count, len(outcome.added))
