"""What the database takes, by table and day by day, when its disk is full at this rate, and what is left on others."""

import shutil
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.utils import timezone

from benchweb.common.rows import fetch, fetch_value
from benchweb.ops.backups.programs import is_own_server
from benchweb.ops.models import StorageSample
from benchweb.ops.running.home import Home

# The rate is that of so many days, and of fewer than a week it is unknown: an import would count as every day's.
_RATE_DAYS, _LEAST_DAYS = 30, 7
# Nobody plans for longer.
_MOST_FORESEEN = timedelta(days=3_650)
_MOST_TABLES = 8
# What a night of backups or logs takes, or a twentieth of the disk.
_LEAST_FREE_BYTES, _LEAST_FREE_SHARE = 2**30, 0.05
_SIZE_SQL = "select pg_database_size(current_database())"
_TABLES_SQL = """
    select relname as name, pg_total_relation_size(oid) as size_bytes,
           case when reltuples >= 0 then reltuples::bigint end as rows
    from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
    order by size_bytes desc, name limit %(most)s
"""


class TableSize(NamedTuple):
    """A table with its indexes; `rows` is PostgreSQL's estimate, None before its first one."""

    name: str
    size_bytes: int
    rows: int | None


@dataclass(frozen=True)
class DiskSpace:
    """A disk of this machine by what is on it: "database", "logs", "backups"."""

    parts: list[str]
    free_bytes: int
    total_bytes: int

    @property
    def is_short(self) -> bool:
        """Tell whether it is time to make room: a database stops when nothing is left."""
        return self.free_bytes < max(_LEAST_FREE_BYTES, self.total_bytes * _LEAST_FREE_SHARE)


@dataclass(frozen=True)
class Storage:
    """What the database takes now, its largest tables, and how it grows."""

    database_bytes: int
    tables: list[TableSize]
    # Of the embedded database's disk; another server doesn't tell.
    free_bytes: int | None
    # None until there are samples of a week.
    bytes_per_day: float | None
    # Between the samples that the rate is of.
    rate_days: int

    @property
    def full_on(self) -> date | None:
        """The day on which the disk is full at this rate; None where that is unknown, or further off than ten years."""
        if self.free_bytes is None or self.bytes_per_day is None or self.bytes_per_day <= 0:
            return None
        days = self.free_bytes / self.bytes_per_day
        return timezone.now().date() + timedelta(days=days) if days <= _MOST_FORESEEN.days else None


def storage_now() -> Storage:
    """Return what the database takes; three queries."""
    today = timezone.now().date()
    samples = list(StorageSample.objects.filter(day__gte=today - timedelta(days=_RATE_DAYS)).order_by("day"))
    rate_days = (samples[-1].day - samples[0].day).days if samples else 0
    grown = samples[-1].database_bytes - samples[0].database_bytes if samples else 0
    return Storage(
        database_bytes=database_bytes(),
        tables=fetch(TableSize, _TABLES_SQL, {"most": _MOST_TABLES}),
        free_bytes=free_bytes(),
        bytes_per_day=grown / rate_days if rate_days >= _LEAST_DAYS else None,
        rate_days=rate_days,
    )


def database_bytes() -> int:
    """Return what the database takes on its disk, indexes included."""
    return int(fetch_value(_SIZE_SQL))


def free_bytes() -> int | None:
    """Return what is left on the embedded database's disk; None of another server, whose disk isn't seen from here."""
    if not is_own_server():
        return None
    return shutil.disk_usage(Home(settings.BENCHWEB_HOME).postgres).free


def disk_spaces() -> list[DiskSpace]:
    """Return what is left on each disk that this machine's parts write to; what shares a disk stands together."""
    home = Home(settings.BENCHWEB_HOME)
    folders = {"database": home.postgres if is_own_server() else None, "logs": home.folder}
    if settings.BACKUP_DIR:
        folders["backups"] = Path(settings.BACKUP_DIR)
    parts: dict[int, list[str]] = defaultdict(list)
    spaces = {}
    for part, folder in folders.items():
        # A folder that is made on its first use has no disk yet.
        if folder and folder.is_dir():
            disk = folder.stat().st_dev
            parts[disk].append(part)
            spaces[disk] = shutil.disk_usage(folder)
    return [DiskSpace(parts[disk], space.free, space.total) for disk, space in spaces.items()]


def sample_take() -> int:
    """Keep what the database takes today, once a day; for the tick, for which there is nothing more to do."""
    today = timezone.now().date()
    if not StorageSample.objects.filter(day=today).exists():
        sample = StorageSample(day=today, database_bytes=database_bytes(), free_bytes=free_bytes())
        StorageSample.objects.bulk_create([sample], ignore_conflicts=True)
    return 0
