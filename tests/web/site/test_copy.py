"""Every page of a copy says that it is one; an admin makes it the original."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from benchweb.accounts.audit.models import AuditEntry
from benchweb.ops.models import Backup
from benchweb.site.installation import copy_mark, copy_notice, notice

pytestmark = pytest.mark.django_db
MADE_AT = datetime(2026, 11, 29, 23, tzinfo=UTC)


@pytest.fixture
def copy() -> None:
    copy_mark(of="https://bench.example.org", made_at=MADE_AT)
    notice.read_now()


def test_every_page_says_so_and_an_admin_makes_it_the_original(signed_in: Client, copy: None) -> None:
    text = signed_in.get("/hosts").content.decode()
    assert "This is a copy of https://bench.example.org as of" in text
    assert "2026-11-29 23:00 UTC" in text
    signed_in.post("/settings/original")
    notice.read_now()
    assert copy_notice() is None
    assert "copy-notice" not in signed_in.get("/hosts").content.decode()
    entry = AuditEntry.objects.filter(table="site_installation").latest("pk")
    assert (entry.action, entry.via, entry.user_name) == ("changed", "page", "ada")
    assert entry.changes["copy_of"] == ["https://bench.example.org", ""]


def test_the_original_says_nothing_and_stays_what_it_is(signed_in: Client) -> None:
    assert "copy-notice" not in signed_in.get("/settings").content.decode()
    answer = signed_in.post("/settings/original", follow=True)
    assert "This is the original already." in answer.content.decode()
    assert copy_notice() is None


def test_the_page_of_settings_tells_of_the_last_backup_and_its_test(signed_in: Client) -> None:
    assert "Set BENCHWEB_BACKUP_DIR to a folder" in signed_in.get("/settings").content.decode()
    made = Backup.objects.create(name="nightly-1.zip", begun_at=MADE_AT, ended_at=MADE_AT, size_bytes=2_500_000)
    Backup.objects.filter(pk=made.pk).update(tested_at=MADE_AT)
    text = signed_in.get("/settings").content.decode()
    assert "nightly-1.zip" in text
    assert "2.38 MiB" in text
    assert "all tables identical" in text
    Backup.objects.create(begun_at=MADE_AT.replace(day=30), ended_at=MADE_AT.replace(day=30), fault="There is no room")
    assert "There is no room" in signed_in.get("/settings").content.decode()
