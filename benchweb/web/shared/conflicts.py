"""The other row, where a name is taken."""

from django.urls import reverse

from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Environment


def other_url(error: HostsError) -> str:
    """Return the address of the other row's page, or nothing."""
    if error.other is None:
        return ""
    return reverse("web:environment" if isinstance(error.other, Environment) else "web:host", args=[error.other.pk])
