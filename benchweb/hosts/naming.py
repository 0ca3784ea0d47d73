"""Names of hosts and environments: each is used once among those that are not archived."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from benchweb.common.names import MAXIMUM_LENGTH, kind_word, name_fault, name_key, stored_name, text_fault
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import NamedOnce

Named = TypeVar("Named", bound=NamedOnce)


def checked_name(name: str) -> str:
    """Return a name as it is stored; raise HostsError."""
    if fault := name_fault(name):
        raise HostsError("name", fault)
    return stored_name(name)


def name_holder(model: type[Named], name: str, *, but: int | None = None) -> Named | None:
    """Return the row in use that has this name in any spelling, leaving out the row `but`; one query."""
    rows = model._default_manager.filter(name_key=name_key(name), archived_at=None)
    return (rows if but is None else rows.exclude(pk=but)).first()


@contextmanager
def name_once(model: type[Named], name: str, *, but: int | None = None) -> Iterator[None]:
    """Refuse with the row that has the name what the constraint refuses within."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if (other := name_holder(model, name, but=but)) is None:
            raise
        raise _taken(other, name) from error


def free_names(model: type[Named], names: Iterable[str]) -> list[str]:
    """Return each name, where it is in use with the first number behind it that makes it free; one query."""
    taken = set(model._default_manager.filter(archived_at=None).values_list("name_key", flat=True))
    free = []
    for name in names:
        free.append(next(candidate for candidate in numbered(name) if name_key(candidate) not in taken))
        taken.add(name_key(free[-1]))
    return free


def numbered(name: str) -> Iterator[str]:
    """Yield the name, then the name with 2, 3, 4 and so on behind it, as long as names may be."""
    yield name
    for number in count(2):
        suffix = f" ({number})"
        yield name[: MAXIMUM_LENGTH - len(suffix)] + suffix


def _taken(other: NamedOnce, name: str) -> HostsError:
    what, holder, holder_id = kind_word(other), other.name, other.pk
    if holder == stored_name(name):
        return HostsError(
            "name",
            _("The {what} {holder} ({holder_id}) has this name: choose another.").format(
                what=what, holder=holder, holder_id=holder_id
            ),
            other,
        )
    message = _("The {what} {holder} ({holder_id}) has this name in other case or spelling: choose another.").format(
        what=what, holder=holder, holder_id=holder_id
    )
    return HostsError("name", message, other)


MAXIMUM_UPLINK_LENGTH = 60


def uplink_fault(uplink: str) -> str:
    """Say what is wrong with an uplink's name, or nothing; a host without one has none."""
    if len(uplink) > MAXIMUM_UPLINK_LENGTH:
        return _("An uplink's name has at most {maximum_uplink_length} characters.").format(
            maximum_uplink_length=MAXIMUM_UPLINK_LENGTH
        )
    return text_fault(uplink)
