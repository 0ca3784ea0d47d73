"""How far the host is that the page's command sets up, in place on the page of a new host."""

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.hosts import selectors
from benchweb.hosts.enrolment.tickets import ticket_read
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Enrolment
from benchweb.web.hosts.endpoint_panel import EndpointPanel, endpoint_panel


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
        ticket = ticket_read(text, is_expired_too=True)
    except HostsError as error:
        raise Http404(error.message) from error
    if ticket.user_id != request.user.pk:
        raise Http404(_("This ticket was issued to another user."))
    rows = Enrolment.objects.select_related("endpoint__host")
    panel = _panel(text, rows.filter(number=ticket.number).first())
    return render(request, "hosts/partials/enrolment.html", {"enrolled": panel})


def _panel(text: str, enrolment: Enrolment | None) -> EnrolmentPanel:
    endpoint = enrolment.endpoint if enrolment else None
    if endpoint is not None:
        facts = selectors.latest_facts(endpoints=[endpoint])
        return EnrolmentPanel(text, enrolment, endpoint_panel(endpoint, facts.get(endpoint.pk)))
    if enrolment is None:
        try:
            ticket_read(text)
        except HostsError as error:
            return EnrolmentPanel(text, ended=error.message)
    return EnrolmentPanel(text, enrolment)
