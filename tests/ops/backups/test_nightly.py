"""A backup each night in a folder, as many kept as are wanted, and one restored and compared each week."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from django.utils import timezone
from pytest_django import Settings

from benchweb.ops.backups import nightly, restoring
from benchweb.ops.backups.archive import new_archive, pass_dump
from benchweb.ops.backups.errors import BackupError
from benchweb.ops.backups.nightly import backup_state, nightly_work, work_is_due
from benchweb.ops.models import Backup
from tests.factories import make_endpoint

pytestmark = pytest.mark.django_db(transaction=True)
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    """Have backups made at six, three kept, and one tested a week."""
    make_endpoint()
    settings.BACKUP_DIR, settings.BACKUP_KEEP, settings.BACKUP_HOUR = str(tmp_path), 3, 6
    settings.BACKUP_TEST = "1"
    return tmp_path


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """The clock of these tests, as its only element."""
    now = [NOON]
    monkeypatch.setattr(timezone, "now", lambda: now[0])
    return now


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_none_is_made_without_a_folder(settings: Settings) -> None:
    settings.BACKUP_DIR = ""
    assert not work_is_due()
    nightly_work()
    assert not Backup.objects.exists()


def test_one_is_made_a_day_from_its_hour_on_and_the_oldest_go(folder: Path, at: list[datetime]) -> None:
    (folder / "mine.zip").write_text("by hand")
    (folder / "nightly-20200101T060000Z.zip").write_text("another installation's")
    made = []
    for hours in (0, 1, 17, 18, 42, 66):
        at[0] = NOON + timedelta(hours=hours)
        made.append(work_is_due())
        nightly_work()
    # At 12:00 and 13:00, then at 05:00, at 06:00 of three days.
    assert made == [True, False, False, True, True, True]
    assert names(folder) == [
        "mine.zip",
        "nightly-20200101T060000Z.zip",
        *(f"nightly-2026120{day}T060000Z.zip" for day in (1, 2, 3)),
    ]


def test_a_week_after_the_last_test_the_last_backup_is_restored_and_compared(folder: Path, at: list[datetime]) -> None:
    tested = []
    for day in range(9):
        at[0] = NOON + timedelta(days=day)
        nightly_work()
        tested.append(Backup.objects.exclude(tested_at=None).count())
    assert tested == [1, 1, 1, 1, 1, 1, 1, 2, 2]
    state = backup_state()
    assert state.tested is not None
    assert (state.tested.tested_at, state.tested.test_fault) == (NOON + timedelta(days=7), "")
    assert not state.is_faulty


def test_on_a_server_that_is_not_the_embedded_one_none_is_restored_by_itself(
    folder: Path, at: list[datetime], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BACKUP_TEST = ""
    nightly_work()
    assert Backup.objects.get().tested_at is None
    assert not work_is_due()
    monkeypatch.setattr(nightly, "is_own_server", lambda: True)
    assert work_is_due()
    settings.BACKUP_TEST = "0"
    assert not work_is_due()


def test_a_backup_that_cannot_be_restored_is_told(folder: Path, at: list[datetime]) -> None:
    nightly_work()
    at[0] = NOON + timedelta(days=7)
    Backup.objects.update(tested_at=None)
    (file,) = folder.iterdir()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    nightly._test(Backup.objects.get())
    state = backup_state()
    assert state.tested is not None
    assert "is damaged" in state.tested.test_fault
    assert state.is_faulty


def test_a_backup_that_fails_is_recorded_and_tried_again(folder: Path, at: list[datetime], settings: Settings) -> None:
    settings.BACKUP_DIR = str(folder / "unmounted")
    nightly_work()
    assert work_is_due()
    state = backup_state()
    assert state.failed is not None
    assert f"There is no folder {folder / 'unmounted'}" in state.failed.fault
    (folder / "unmounted").mkdir()
    at[0] += timedelta(hours=1)
    nightly_work()
    assert not work_is_due()
    assert backup_state().failed is None


def test_what_a_killed_backup_left_goes_before_the_next_and_what_is_being_written_stays(
    folder: Path, at: list[datetime], monkeypatch: pytest.MonkeyPatch
) -> None:
    left, written = (folder / f".nightly-2026112{day}T060000Z.zip.part" for day in (8, 9))
    left.write_text("half")
    seen = []

    def noted(path: Path) -> None:
        seen.extend(names(folder))
        raise BackupError("no more than that")

    monkeypatch.setattr(nightly, "backup_make", noted)
    with new_archive(folder / "nightly-20261129T060000Z.zip"):
        nightly_work()
        assert seen == [written.name]


def test_an_interrupted_backup_is_no_success(folder: Path, at: list[datetime], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(nightly, "backup_make", interrupted)
    with pytest.raises(KeyboardInterrupt):
        nightly.recorded_backup(folder / "mine.zip")
    state = backup_state()
    assert state.made is None
    assert state.failed is not None
    assert "it was interrupted" in state.failed.fault


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), psycopg.OperationalError("the server is gone")])
def test_whatever_ends_a_test_is_told(
    folder: Path, at: list[datetime], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(restoring, "restored_database", broken)
    nightly_work()
    state = backup_state()
    assert state.tested is not None
    assert str(error) in state.tested.test_fault


def test_a_disk_that_cannot_be_read_is_told(folder: Path, at: list[datetime]) -> None:
    nightly_work()
    (file,) = folder.iterdir()

    def taken(_: bytes) -> None:
        raise OSError(5, "Input/output error")

    with pytest.raises(BackupError, match=r"can't be read: Input/output error. Nothing was changed"):
        pass_dump(file, taken)
