"""Show how far the host is that the page's command sets up, on the page of a new host; list tickets."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.hosts import selectors
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Enrolment
from benchweb.hosts.tickets import ticket_fault, ticket_found, ticket_revoke, tickets_listed
from benchweb.web.hosts.endpoint_panel import EndpointPanel, endpoint_panel

_MOST_SHOWN = 500
# As which state of a run each of a ticket looks.
_MARKS = {
    Enrolment.State.OPEN: "pending",
    Enrolment.State.CLAIMED: "running",
    Enrolment.State.USED: "finished",
    Enrolment.State.EXPIRED: "cancelled",
    Enrolment.State.REVOKED: "cancelled",
}


@dataclass(frozen=True)
class EnrolmentPanel:
    """A ticket and what became of it: nothing yet, a token fetched, or a host with its endpoint's panel."""

    ticket: str
    enrolment: Enrolment | None = None
    panel: EndpointPanel | None = None
    # Why nothing can become of it any more.
    ended: str = ""

    @property
    def is_polling(self) -> bool:
        """Poll until there is an endpoint, whose own panel goes on from there."""
        return self.panel is None and not self.ended


@needs(Permission.WRITE)
@require_POST
def host_watch(request: HttpRequest) -> HttpResponse:
    """Return how far the host of the reader's ticket is."""
    text = request.POST.get("ticket", "")
    try:
        ticket = ticket_found(text)
    except HostsError as error:
        raise Http404(error.message) from error
    if ticket.issued_by_id != request.user.pk:
        raise Http404(_("This ticket was issued to another user."))
    return render(request, "hosts/partials/enrolment.html", {"enrolled": _panel(text, ticket)})


@needs(Permission.WRITE)
@require_GET
def ticket_list(request: HttpRequest) -> HttpResponse:
    """List the tickets of all: who issued them, until when they are good, and which host used them."""
    rows = [(ticket, _MARKS[ticket.state]) for ticket in tickets_listed()[:_MOST_SHOWN]]
    return render(request, "hosts/tickets.html", {"rows": rows})


@needs(Permission.WRITE)
@require_POST
def ticket_end(request: HttpRequest, ticket_id: int) -> HttpResponse:
    """Make a ticket void."""
    if ticket_revoke(ticket_id=ticket_id):
        messages.success(request, _("The ticket is void from now on."))
    return redirect("web:tickets")


def _panel(text: str, ticket: Enrolment) -> EnrolmentPanel:
    if ticket.endpoint is not None:
        facts = selectors.latest_facts(endpoints=[ticket.endpoint])
        return EnrolmentPanel(text, ticket, endpoint_panel(ticket.endpoint, facts.get(ticket.endpoint.pk)))
    return EnrolmentPanel(text, ticket, ended=ticket_fault(ticket))
