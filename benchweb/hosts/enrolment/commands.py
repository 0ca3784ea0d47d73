"""The command that sets up an engine on a host, by the address at which the host reaches this dashboard."""

import shlex
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse

from benchweb.accounts.audit.actors import acting, actor_of
from benchweb.common.addresses import site_path
from benchweb.common.loopback import is_loopback_name
from benchweb.hosts.enrolment.programs import engine_programs
from benchweb.hosts.models import Endpoint, Enrolment
from benchweb.hosts.tickets import ticket_shown, ticket_text
from benchweb.site.addresses import public_address

_UNIT = Path(__file__).resolve().parents[3] / "engine" / "deploy" / "benchweb-engine.service"


@dataclass(frozen=True)
class InstallCommand:
    """One line to run on the host as root; `ticket` must never be logged."""

    ticket: str
    script: str
    script_sha256: str
    options: str = ""

    @property
    def text(self) -> str:
        return f"curl -fsSL {shlex.quote(self.script)} | sudo sh -s -- {self.ticket}{self.options}"

    @property
    def checked_text(self) -> str:
        """Return what does the same, but runs no other script than the one that the reader was told the sum of."""
        check = f"echo '{self.script_sha256}  benchweb-engine.sh' | sha256sum -c"
        run = f"sudo sh benchweb-engine.sh {self.ticket}{self.options}"
        return f"curl -fsSL -o benchweb-engine.sh {shlex.quote(self.script)} && {check} && {run}"

    @property
    def is_plain_http(self) -> bool:
        """Return whether others on the way can change the script before root runs it."""
        return is_plain_http(self.script)

    @property
    def is_local(self) -> bool:
        """Return whether only this machine reaches the dashboard by the command's address."""
        return is_loopback_name(urlsplit(self.script).hostname or "")

    @property
    def words(self) -> list[str]:
        """Return its words: shown, the line is broken between them."""
        return self.text.split(" ")


def install_command(request: HttpRequest, ticket: Enrolment, *, options: str = "") -> InstallCommand:
    """Return the command that brings a ticket."""
    script = public_address(reverse("web:install_script"), request)
    return InstallCommand(ticket_text(ticket), script, sha256(script_text(request).encode()).hexdigest(), options)


def shown_command(request: HttpRequest, *, endpoint: Endpoint | None = None, options: str = "") -> InstallCommand:
    """Return the command that a page shows to its reader, whose act the ticket is though a page only reads."""
    user = cast(User, request.user)
    with acting(actor_of(request, user)):
        ticket = ticket_shown(by=user, endpoint=endpoint)
    return install_command(request, ticket, options=options)


def script_text(request: HttpRequest) -> str:
    """Return the script as hosts get it, which is the same for all of them."""
    dashboard = public_address(site_path("/"), request).rstrip("/")
    context = {
        "dashboard": shlex.quote(dashboard),
        "script": public_address(reverse("web:install_script"), request),
        "is_plain_http": is_plain_http(dashboard),
        "programs": engine_programs().values(),
        "unit": _UNIT.read_text(encoding="utf-8").rstrip(),
    }
    return render_to_string("install/engine.sh", context)


def is_plain_http(url: str) -> bool:
    """Tell whether others on the way can read and change what comes from an address: plain http to another machine."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not is_loopback_name(parts.hostname or "")
