"""Addresses of rows' pages, for lists: Django's `reverse` would match its patterns anew for each of them."""

from functools import cache

from django.urls import get_script_prefix, reverse

# Ids that stand in no address of ours, so that their places can be found in it.
_PLACES = (7_770_001_777, 7_770_002_777)
MOST_IDS = len(_PLACES)


def row_url(name: str, *ids: int) -> str:
    """Give the address of that name with these ids in it, none to two."""
    return row_form(name, len(ids), get_script_prefix()).format(*ids)


@cache
def row_form(name: str, count: int, _prefix: str) -> str:
    """Give the address of that name with places for so many ids, as it is under the current prefix."""
    places = _PLACES[:count]
    address = reverse(name, args=places)
    for place in places:
        address = address.replace(str(place), "{}")
    return address
