"""An endpoint's panel for the reader of a page: with the command that sets its engine up, for who entered the token."""

from django.http import HttpRequest

from benchweb.hosts.addresses import DEFAULT_CONTROL_PORT
from benchweb.hosts.enrolment.commands import InstallCommand, shown_command
from benchweb.hosts.enrolment.programs import engine_programs
from benchweb.hosts.models import Endpoint, Facts
from benchweb.web.hosts.endpoint_panel import EndpointPanel, endpoint_panel
from benchweb.web.hosts.entered_tokens import was_entered
from benchweb.web.shared.awaited_check import AwaitedCheck


def requested_panel(
    request: HttpRequest, endpoint: Endpoint, facts: Facts | None, awaited: AwaitedCheck | None = None
) -> EndpointPanel:
    """Prepare the panel; nobody else is shown a token, or a ticket for it."""
    shows_token = was_entered(request, endpoint)
    install = _install(request, endpoint) if shows_token and endpoint.token_encrypted else None
    return endpoint_panel(endpoint, facts, awaited, shows_token=shows_token, install=install)


def _install(request: HttpRequest, endpoint: Endpoint) -> InstallCommand | None:
    # What is pinned has run already: no ticket gets its token.
    if endpoint.fingerprint or not engine_programs():
        return None
    port = int(endpoint.control_address.rpartition(":")[2])
    options = "" if port == DEFAULT_CONTROL_PORT else f" --port {port}"
    return shown_command(request, endpoint=endpoint, options=options)
