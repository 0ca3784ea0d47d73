"""Whether this is the original installation or a copy of it, which measures nothing and sends nothing.

A restore marks its database as a copy. Any other copy is found by the database's own word: another cluster, or the same
one on another machine or in another folder. docs/decisions/0039-copies.md.
"""

import hashlib
import re
import socket
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from benchweb.catalog.reasons import Reason
from benchweb.common.followed import Followed
from benchweb.common.loopback import is_loopback_name
from benchweb.common.rows import fetch, fetch_value
from benchweb.site.models import Installation
from benchweb.site.values import site_setting

ROW = 1
# Why what would reach an engine or a receiver is refused.
QUIET = Reason("copy_is_quiet")
# Anything else, such as "uninitialized", is no machine's.
_MACHINE = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SEEN_SQL = """
    select (pg_control_system()).system_identifier::text as cluster,
        case when pg_is_in_recovery() then '' else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline,
        {place} as machine_and_folder
"""
# Only a superuser may read both, as the database's users of `up` and of Compose are.
_PLACE_SQL = """
    coalesce(pg_read_file('/etc/machine-id', 0, 64, true), '') || ':' || current_setting('data_directory')
"""


@dataclass(frozen=True)
class CopyNotice:
    """That this is a copy: of what, and of when its data is where that is known."""

    of: str
    made_at: datetime | None = None


@dataclass(frozen=True)
class _Seen:
    """The database as it tells of itself."""

    cluster: str
    timeline: str
    machine_and_folder: str

    @property
    def place(self) -> str:
        """Return the hashes of machine and folder with a colon between; either is empty where it can't be read."""
        machine, _, folder = self.machine_and_folder.partition(":")
        is_known = _MACHINE.fullmatch(machine.strip()) is not None
        place = f"{_hash(machine.strip()) if is_known else ''}:{_hash(folder) if folder else ''}"
        return "" if place == ":" else place

    def fields(self, row: Installation | None = None) -> dict[str, str]:
        """Return it as it is stored; what can't be read now stays as a row of the same history has it."""
        is_same_history = row is not None and row.timeline == self.timeline
        place = _joined(self.place, row.place) if row is not None and is_same_history else self.place
        return {"cluster": self.cluster, "timeline": self.timeline, "place": place}

    def is_home_of(self, row: Installation) -> bool:
        """Tell whether the row was written here. A promoted standby goes on as the original wherever it is."""
        is_same_place = all(a == b for a, b in zip(_parts(self.place), _parts(row.place), strict=True) if a and b)
        return self.cluster == row.cluster and (is_same_place or self.timeline != row.timeline)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _parts(place: str) -> tuple[str, str]:
    """Return the hashes of machine and folder, empty for what isn't known."""
    machine, colon, folder = place.partition(":")
    return (machine, folder) if colon else ("", "")


def _joined(place: str, former: str) -> str:
    """Return a place with what only the former one knows."""
    joined = ":".join(new or old for new, old in zip(_parts(place), _parts(former), strict=True))
    return "" if joined == ":" else joined


def _stored_notice() -> CopyNotice | None:
    row = Installation.objects.filter(pk=ROW).first()
    if row is None:
        return None
    if row.copy_since is not None:
        return CopyNotice(row.copy_of, row.copied_at)
    return None if _seen().is_home_of(row) else CopyNotice(row.name)


def _seen() -> _Seen:
    is_superuser = fetch_value("select current_setting('is_superuser') = 'on'")
    (seen,) = fetch(_Seen, _SEEN_SQL.format(place=_PLACE_SQL if is_superuser else "''"))
    return seen


notice: Followed[CopyNotice | None] = Followed(_stored_notice, unread=None)


def copy_notice() -> CopyNotice | None:
    """Return what is to be told of this copy, as read in the last seconds; None for the original."""
    return notice.value()


def is_copy() -> bool:
    """Tell whether this is a copy, which reaches no engine and no receiver: asked by everything that would."""
    return copy_notice() is not None


def is_copy_now() -> bool:
    """Tell it as the database says at this moment; three queries at most."""
    notice.read_now()
    return is_copy()


@transaction.atomic
def installation_note() -> None:
    """Note where the original is, at its first start and after a standby was promoted; a copy's row stays."""
    seen = _seen()
    new = {**seen.fields(), "name": own_name(), "original_since": timezone.now()}
    row, is_new = Installation.objects.get_or_create(pk=ROW, defaults=new)
    if not is_new and row.copy_since is None and seen.is_home_of(row):
        here = {**seen.fields(row), "name": own_name()}
        Installation.objects.filter(pk=ROW).exclude(**here).update(**here)


@transaction.atomic
def original_mark() -> None:
    """Let this be the original from now on: here, as the database is by now."""
    now = {**_seen().fields(), "name": own_name(), "original_since": timezone.now()}
    none = {"copy_since": None, "copy_of": "", "copied_at": None}
    Installation.objects.update_or_create(pk=ROW, defaults={**now, **none})
    transaction.on_commit(notice.read_now)


@transaction.atomic
def copy_mark(*, of: str, made_at: datetime | None) -> None:
    """Let a database be a copy of what is called so, with the data of a moment."""
    now = timezone.now()
    values = {"copy_since": now, "copy_of": of, "copied_at": made_at}
    Installation.objects.update_or_create(pk=ROW, defaults=values, create_defaults={**values, "original_since": now})
    transaction.on_commit(notice.read_now)


def own_name() -> str:
    """Return what people call this installation: the address of its pages, else the machine."""
    names = [name for name in settings.ALLOWED_HOSTS if not is_loopback_name(name) and name != "*"]
    return str(site_setting("PUBLIC_URL") or next(iter(names), "") or socket.gethostname())
