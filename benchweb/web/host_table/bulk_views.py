"""What is done with several hosts that are ticked in their list: label, archive, and undo that."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.hosts import services
from benchweb.hosts.models import Host
from benchweb.web.shared.archiving import archive_several, restore_several, ticked
from benchweb.web.shared.lists import posted_back
from benchweb.web.ticked.labels import labelled


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


@needs(Permission.WRITE)
@require_POST
def hosts_label(request: HttpRequest) -> HttpResponse:
    """Add a label to the ticked hosts, or take one from them."""
    ids, back = ticked(request.POST.getlist("rows")), posted_back(request, "web:hosts")
    if not ids:
        messages.warning(request, _("Nothing is selected: tick some in the first column."))
        return redirect(back)
    return labelled(
        request,
        back,
        label=lambda label: services.hosts_label(host_ids=ids, label=label),
        unlabel=lambda label: services.hosts_unlabel(host_ids=ids, label=label),
        said=_changed,
    )


def _changed(count: int) -> str:
    text = ngettext("The labels of {count} host are changed.", "The labels of {count} hosts are changed.", count)
    return text.format(count=count)
