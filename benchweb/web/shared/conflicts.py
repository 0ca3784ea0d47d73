"""The other row, where a name is taken."""

from django.urls import reverse

from benchweb.common.refusals import RefusedWrite
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Environment


def other_url(error: RefusedWrite) -> str:
    """Return the address of the other row's page, or nothing."""
    if not isinstance(error, HostsError) or error.other is None:
        return ""
    return reverse("web:environment" if isinstance(error.other, Environment) else "web:host", args=[error.other.pk])
