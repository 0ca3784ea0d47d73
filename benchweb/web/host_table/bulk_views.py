"""Archive the hosts that are ticked in their list, and undo that."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.hosts import services
from benchweb.hosts.models import Host
from benchweb.web.shared.archiving import archive_several, restore_several


@needs(Permission.WRITE)
@require_POST
def hosts_archive(request: HttpRequest) -> HttpResponse:
    """Archive the ticked hosts, each with its endpoints and their pairs; their runs stay."""
    return archive_several(
        request,
        Host.objects.all(),
        noun="host",
        act=lambda host: services.archive(row=host),
        back=reverse("web:hosts"),
        undo=reverse("web:hosts_restore"),
        losses=[_("Their endpoints and pairs are archived too, and new runs can't use them."), _("Runs are kept.")],
    )


@needs(Permission.WRITE)
@require_POST
def hosts_restore(request: HttpRequest) -> HttpResponse:
    """Undo the archiving of several hosts, with all that was archived with each."""
    return restore_several(
        request,
        Host.objects.all(),
        noun="host",
        act=lambda host: services.restore(row=host, whole=True),
        back=reverse("web:hosts"),
    )
