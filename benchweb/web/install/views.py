"""Set up an engine on a host: the script, the program, and what the script asks for with its ticket.

Script and program hold no secret and are anybody's. All answers are plain text, for a shell to show.
"""

from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from benchweb.accounts.addresses import client_address
from benchweb.accounts.audit.actors import act_as
from benchweb.accounts.roles.needs import open_to_all
from benchweb.common.downloads import download
from benchweb.hosts.enrolment.claims import StartedEngine, acting_ticket, host_enrol, token_claim
from benchweb.hosts.enrolment.commands import script_text
from benchweb.hosts.enrolment.programs import engine_programs
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Enrolment
from benchweb.hosts.tickets import ticket_read
from benchweb.site.addresses import public_address
from benchweb.site.secrets import SecretUnreadable

_PLAIN = "text/plain; charset=utf-8"
_LARGEST_PORT = 65_535
_PART_BYTES = 256 * 1024


@open_to_all("the programs are no secret: a new host fetches them")
@require_GET
def install_script(request: HttpRequest) -> HttpResponse:
    """Return the script that installs and uninstalls an engine; shown as text where a browser opens it."""
    return HttpResponse(script_text(request), content_type=_PLAIN)


@open_to_all("the programs are no secret: a new host fetches them")
@require_GET
def install_program(request: HttpRequest, architecture: str) -> HttpResponseBase:
    """Return the static engine for an architecture."""
    program = engine_programs().get(architecture)
    if program is None:
        return _refusal(
            _("This dashboard has no engine for {architecture}: build it with cargo (docs/engine.md).").format(
                architecture=architecture[:40]
            ),
            HTTPStatus.NOT_FOUND,
        )
    response = download(
        request, _parts(program.path), media_type="application/octet-stream", file_name="benchweb-engine"
    )
    response["Content-Length"] = program.size_bytes
    return response


@open_to_all("a new host proves itself by the ticket of its command")
@csrf_exempt
@require_POST
def install_claim(request: HttpRequest) -> HttpResponse:
    """Return the engine's token for a ticket, to one machine."""

    def token() -> HttpResponse:
        ticket = _ticket(request)
        machine, host_name = request.POST.get("machine", "")[:64], request.POST.get("name", "")
        response = HttpResponse(token_claim(ticket, machine=machine, host_name=host_name), content_type=_PLAIN)
        response["Cache-Control"] = "no-store"
        return response

    return _answer_or_refusal(token)


@open_to_all("a new host proves itself by the ticket of its command")
@csrf_exempt
@require_POST
def install_ready(request: HttpRequest) -> HttpResponse:
    """Add the host whose engine has started, and return the address of its page."""

    def added() -> HttpResponse:
        endpoint = host_enrol(_ticket(request), _announced_engine(request))
        url = public_address(reverse("web:host", args=[endpoint.host_id]), request)
        return HttpResponse(f"{endpoint.host.name} {url}\n", status=HTTPStatus.CREATED, content_type=_PLAIN)

    return _answer_or_refusal(added)


def _ticket(request: HttpRequest) -> Enrolment:
    """Return the ticket that a host brings; what is changed from now on is its issuer's act."""
    address = client_address(request)
    ticket = ticket_read(request.POST.get("ticket", ""), address=address)
    act_as(acting_ticket(ticket, address=address))
    return ticket


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while part := file.read(_PART_BYTES):
            yield part


def _announced_engine(request: HttpRequest) -> StartedEngine:
    port = request.POST.get("port", "")
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) <= _LARGEST_PORT):
        raise HostsError("port", _("A port is a number from 1 to 65535."))
    return StartedEngine(
        machine=request.POST.get("machine", "")[:64],
        host_name=request.POST.get("name", ""),
        address=request.POST.get("address", ""),
        port=int(port),
        fingerprint=request.POST.get("fingerprint", ""),
    )


def _answer_or_refusal(answer: Callable[[], HttpResponse]) -> HttpResponse:
    try:
        return answer()
    except HostsError as error:
        status = HTTPStatus.FORBIDDEN if error.field == "ticket" else HTTPStatus.CONFLICT
        return _refusal(error.message, status)
    except SecretUnreadable as error:
        return _refusal(str(error), HTTPStatus.CONFLICT)


def _refusal(message: str, status: HTTPStatus) -> HttpResponse:
    return HttpResponse(f"{message}\n", status=status, content_type=_PLAIN)
