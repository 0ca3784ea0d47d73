"""Row ids as they come in query strings and forms."""

from django.urls import reverse

from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Environment


def other_url(error: HostsError) -> str:
    """Return the address of the other row's page, or nothing."""
    if error.other is None:
        return ""
    return reverse("web:environment" if isinstance(error.other, Environment) else "web:host", args=[error.other.pk])


# PostgreSQL's bigint has 19 digits; a row's id of 19 would need a billion rows a second for thirty years.
_MOST_DIGITS = 18


def row_id(text: str) -> int | None:
    """Return the id that the text is, or None; Python itself refuses to read numbers of over 4,300 digits."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS else None
