"""Backups of before an upgrade: the last three of those that worked, and all of tries that failed."""

from pathlib import Path

import pytest

from benchweb.ops.backups import upgrading
from benchweb.ops.backups.upgrading import migrate_behind_backup

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_oldest_go_once_an_upgrade_worked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in range(1, 5):
        (tmp_path / f"before-upgrade-2026110{day}T060000Z.zip").write_text("older")
    # There is nothing to migrate.
    monkeypatch.setattr(upgrading, "_is_upgrade", lambda: True)

    def failing(*_: object, **__: object) -> None:
        raise RuntimeError("a table is in the way")

    with monkeypatch.context() as patch:
        patch.setattr(upgrading, "call_command", failing)
        with pytest.raises(RuntimeError, match="in the way"):
            migrate_behind_backup(tmp_path)
    tried = {path.name for path in tmp_path.iterdir()}
    assert len(tried) == 5
    (tmp_path / max(tried)).unlink()
    migrate_behind_backup(tmp_path)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert len(kept) == 3
    assert kept[0] == "before-upgrade-20261103T060000Z.zip"
