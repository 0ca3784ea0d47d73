"""The command that sets up an engine on a host, by the address at which the host reaches this dashboard."""

import shlex
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urljoin, urlsplit

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from benchweb.common.loopback import is_loopback_name
from benchweb.hosts.enrolment.tickets import LIFE, ticket_issue
from benchweb.site.values import site_setting


@dataclass(frozen=True)
class InstallCommand:
    """One line to run on the host as root, until `expires_at`; `ticket` must never be logged."""

    ticket: str
    script: str
    expires_at: datetime
    options: str = ""

    @property
    def text(self) -> str:
        return f"curl -fsSL {shlex.quote(self.script)} | sudo sh -s -- {self.ticket}{self.options}"

    @property
    def is_local(self) -> bool:
        """Return whether only this machine reaches the dashboard by the command's address."""
        return is_loopback_name(urlsplit(self.script).hostname or "")

    @property
    def words(self) -> list[str]:
        """Return its words: shown, the line is broken between them."""
        return self.text.split(" ")


def install_command(
    request: HttpRequest, *, user_id: int, endpoint_id: int | None = None, options: str = ""
) -> InstallCommand:
    """Issue a ticket and return the command with it."""
    ticket = ticket_issue(user_id=user_id, endpoint_id=endpoint_id)
    script = site_address(request, reverse("web:install_script"))
    return InstallCommand(ticket, script, timezone.now() + LIFE, options)


def site_address(request: HttpRequest, path: str) -> str:
    """Return a whole address: by BENCHWEB_PUBLIC_URL, else as the caller reached this site."""
    public_url = site_setting("PUBLIC_URL")
    return urljoin(public_url, path) if public_url else request.build_absolute_uri(path)
