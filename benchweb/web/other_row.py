"""The page of the row that a refused write clashes with."""

from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Environment
from benchweb.web.row_urls import row_url


def other_url(error: HostsError) -> str:
    """Return the address of the other row's page, or nothing."""
    if error.other is None:
        return ""
    return row_url("web:environment" if isinstance(error.other, Environment) else "web:host", error.other.pk)
