"""The health of the installation, for admins: its parts, what waits, what it takes, backups and messages."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from benchweb.accounts.permissions import Permission
from benchweb.accounts.roles.needs import needs
from benchweb.common.formatting import Quantity, duration, quantity
from benchweb.hosts.selectors import engine_versions
from benchweb.notifications.selectors import faulty_channels
from benchweb.ops.backups.nightly import backup_state, is_nightly
from benchweb.ops.health.heartbeat import LIFE_SECONDS
from benchweb.ops.health.lateness import ScheduleLateness, schedule_lateness
from benchweb.ops.health.readiness import SystemPart, parts
from benchweb.ops.health.slow_answers import slow_pages
from benchweb.ops.health.storage import DiskSpace, Storage, disk_spaces, storage_now
from benchweb.ops.removal.removals import removals_open
from benchweb.ops.removal.tiers import is_behind
from benchweb.ops.versions import benchweb_version

# A tick comes each second: so late no worker takes them, or they take too long.
_LATE_SECONDS = 60
_LATE_SHOWN = 5
_SLOW_SHOWN = 10
# Each is None while the part that knows it isn't ready.
_QUEUE = ("runs_waiting", "runs_running", "messages")


class PartLine(NamedTuple):
    """A part of the system as a line of the page; `seen` is how long ago it gave a sign of life."""

    name: str
    is_ready: bool
    reason: str
    seen: str


@needs(Permission.ADMIN)
@require_GET
@never_cache
def health(request: HttpRequest) -> HttpResponse:
    """Show how the installation is: what `/healthz` and `/metrics` tell, in words, and what grows."""
    system = parts()
    lines = list(_lines(system))
    storage = storage_now()
    late, slow = _late_schedules(), slow_pages()
    context = {
        "lines": lines,
        "faulty": [line.name for line in lines if not line.is_ready],
        "queue": {name: system["queue"].details.get(name) for name in _QUEUE},
        "oldest": duration(system["queue"].details.get("oldest_waiting_seconds")),
        "late": [(each, duration(float(each.seconds))) for each in late[:_LATE_SHOWN]],
        "late_hidden": len(late[_LATE_SHOWN:]),
        "storage": storage,
        "sizes": _sizes(storage),
        "disks": [_disk(each) for each in disk_spaces()],
        "tables": [(table, quantity(table.size_bytes, "B")) for table in storage.tables],
        "backups": backup_state(),
        "is_nightly": is_nightly(),
        "is_behind": is_behind(),
        "removals": removals_open(),
        "slow": None if slow is None else [(each, duration(each.longest_seconds)) for each in slow[:_SLOW_SHOWN]],
        "slow_hidden": len((slow or [])[_SLOW_SHOWN:]),
        "channels": faulty_channels(),
        "engines": engine_versions(),
        "version": benchweb_version(),
    }
    return render(request, "health/health.html", context)


def _lines(system: Mapping[str, SystemPart]) -> Iterator[PartLine]:
    words = {"database": _("Database"), "broker": _("Broker"), "worker": _("Worker"), "beat": _("Beat")}
    for key, name in words.items():
        part = system[key]
        seen = part.details.get("seen_seconds_ago")
        yield PartLine(name, part.is_ready, _reason(key, system), "" if seen is None else duration(seen))


def _reason(key: str, system: Mapping[str, SystemPart]) -> str:
    """Return why a part isn't ready: the database's and the broker's own words, those of a process in the reader's."""
    if key not in ("worker", "beat"):
        return system[key].reason
    if not system["broker"].is_ready:
        return _("Unknown: the broker that carries its signs of life isn't ready.")
    return _("No sign of life for {seconds} s.").format(seconds=LIFE_SECONDS)


def _late_schedules() -> list[ScheduleLateness]:
    late = [each for each in schedule_lateness() if each.seconds >= _LATE_SECONDS]
    return sorted(late, key=lambda each: -each.seconds)


def _disk(space: DiskSpace) -> tuple[str, Quantity, Quantity, bool]:
    """Return what is on a disk, what is left of it and how large it is, and whether that is little."""
    words = {"database": _("database"), "logs": _("logs"), "backups": _("backups")}
    parts = ", ".join(words[part] for part in space.parts)
    return parts, quantity(space.free_bytes, "B"), quantity(space.total_bytes, "B"), space.is_short


def _sizes(storage: Storage) -> dict[str, Quantity]:
    per_day = storage.bytes_per_day
    return {
        "database": quantity(storage.database_bytes, "B"),
        "per_day": quantity(None if per_day is None else abs(per_day), "B"),
    }
