"""Tell, before a host is saved, which other hosts have its name, its engine's address or its certificate."""

from collections.abc import Callable, Iterator

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.rows import row_id
from benchweb.hosts.addresses import AddressError, control_text, data_address
from benchweb.hosts.errors import HostsError
from benchweb.hosts.machines import address_check, certificate_check
from benchweb.hosts.models import Endpoint, Host
from benchweb.hosts.naming import name_holder


@needs(Permission.WRITE)
@require_POST
def host_known(request: HttpRequest) -> HttpResponse:
    """Return what other hosts have of what was typed; `?host=` is the one whose endpoint it is."""
    host_id = row_id(request.GET.get("host", ""))
    return render(request, "hosts/partials/known_hosts.html", {"known": list(_known_hosts(request, host_id))})


def _known_hosts(request: HttpRequest, host_id: int | None) -> Iterator[tuple[str, Host]]:
    name = request.POST.get("name", "") if host_id is None else ""
    if name.strip() and (holder := name_holder(Host, name)):
        yield _("Host {holder} ({holder_id}) has this name.").format(holder=holder.name, holder_id=holder.pk), holder
    if "same_machine" in request.POST:
        return
    yield from _refusing_hosts(lambda: _check_address(request, host_id))
    yield from _refusing_hosts(lambda: _check_fingerprint(request, host_id))
    yield from _users_of(request.POST.get("data_address", ""), host_id)


def _refusing_hosts(check: Callable[[], None]) -> Iterator[tuple[str, Host]]:
    try:
        check()
    except HostsError as error:
        if isinstance(error.other, Host):
            yield error.message, error.other
    except AddressError:
        # Half typed: the form says what is wrong once it is sent.
        return


def _check_address(request: HttpRequest, host_id: int | None) -> None:
    if text := request.POST.get("control_address", "").strip():
        address_check(host_id=host_id, control_address=control_text(text), same_machine=False)


def _check_fingerprint(request: HttpRequest, host_id: int | None) -> None:
    digits = request.POST.get("fingerprint", "").strip().lower().removeprefix("sha256:").replace(":", "")
    if digits:
        certificate_check(host_id=host_id, fingerprint=f"sha256:{digits}", same_machine=False)


def _users_of(text: str, host_id: int | None) -> Iterator[tuple[str, Host]]:
    try:
        address = data_address(text) if text.strip() else ""
    except AddressError:
        return
    others = Endpoint.objects.filter(data_address=address, archived_at=None, host__archived_at=None)
    if address and (other := others.exclude(host=host_id).select_related("host").first()):
        words = _("Host {holder} ({holder_id}) has this address for its test traffic.")
        yield words.format(holder=other.host.name, holder_id=other.host_id), other.host
