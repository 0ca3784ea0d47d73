"""Hosts by the dozen: from a table, and by a command that each host runs itself."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Status
from pydantic import Field

from benchweb.api.authentication import WRITE, caller, caller_token
from benchweb.api.problems import FieldError, invalid_fields
from benchweb.api.schemas import Body, Item
from benchweb.common.addresses import site_path
from benchweb.hosts.enrolment.commands import install_command
from benchweb.hosts.enrolment.programs import engine_programs
from benchweb.hosts.tables.adding import hosts_add
from benchweb.hosts.tables.reading import MAXIMUM_CHARACTERS, LineFault, host_table
from benchweb.hosts.tickets import ticket_issue
from benchweb.site.addresses import public_address

router = Router(tags=["hosts"])


class TableBody(Body):
    text: Annotated[str, Field(max_length=MAXIMUM_CHARACTERS)]


class TableQuery(Item):
    dry_run: bool = False


class TableLineItem(Item):
    line: int
    # Null in a dry run, which keeps nothing.
    host: int | None
    endpoint: int | None
    name: str
    control_address: str
    is_new_host: bool


class TableItem(Item):
    # The first host's; null in a dry run.
    id: int | None
    hosts: int
    lines: list[TableLineItem]


class ProgramItem(Item):
    architecture: str
    url: str
    size_bytes: int
    sha256: str


class TicketItem(Item):
    id: int
    ticket: str
    # One line to run on the host as root.
    command: str
    script_url: str
    script_sha256: str
    # True where others on the way can change the script: compare it with its sum first.
    is_plain_http: bool
    expires_at: datetime
    programs: list[ProgramItem]


@router.post("/hosts/import", response={200: TableItem, 201: TableItem}, auth=WRITE)
def host_import(request: HttpRequest, body: TableBody, query: Query[TableQuery]) -> Status[TableItem]:
    """Add the hosts of a table (CSV with commas, semicolons or tabs), all or none; `dry_run=true` keeps nothing.

    Faults are told by line and column, such as `lines.3.address`.
    """
    outcome = hosts_add(host_table(body.text), keep=not query.dry_run)
    if outcome.faults:
        raise invalid_fields([_field_error(fault) for fault in outcome.faults])
    lines = [
        TableLineItem(
            line=line.number,
            host=None if query.dry_run else line.host.pk,
            endpoint=None if query.dry_run else line.endpoint.pk,
            name=line.host.name,
            control_address=line.endpoint.control_address,
            is_new_host=line.is_new_host,
        )
        for line in outcome.added
    ]
    item = TableItem(id=lines[0].host if lines else None, hosts=outcome.host_count, lines=lines)
    return Status(200 if query.dry_run or not lines else 201, item)


@router.post("/hosts/tickets", response={201: TicketItem}, auth=WRITE)
def host_ticket(request: HttpRequest) -> Status[TicketItem]:
    """Issue a ticket: for an hour it lets one host fetch an engine's token, install the engine and be added."""
    issued = ticket_issue(by=caller(request), token=caller_token(request))
    command = install_command(request, issued)
    programs = [
        ProgramItem(
            architecture=program.architecture,
            url=public_address(site_path(f"/install/engine/{program.architecture}"), request),
            size_bytes=program.size_bytes,
            sha256=program.sha256,
        )
        for program in engine_programs().values()
    ]
    return Status(
        201,
        TicketItem(
            id=issued.pk,
            ticket=command.ticket,
            command=command.text,
            script_url=command.script,
            script_sha256=command.script_sha256,
            is_plain_http=command.is_plain_http,
            expires_at=issued.expires_at,
            programs=programs,
        ),
    )


def _field_error(fault: LineFault) -> FieldError:
    column = f".{fault.column}" if fault.column else ""
    return FieldError(f"lines.{fault.number}{column}" if fault.number else "text", fault.message)
