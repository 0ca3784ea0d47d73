"""PostgreSQL refuses root: it runs in a user namespace, or where there is none as another account."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchweb.ops.running import postgres, processes
from benchweb.ops.running.home import Home
from benchweb.ops.running.processes import SetupError

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder that other accounts can pass through."""
    folder = Path(tempfile.mkdtemp(prefix="bw-pg-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    forget()
    monkeypatch.setattr(processes, "_works_in_a_fork", lambda action: False)
    yield
    forget()


def forget() -> None:
    processes.root_needs_another_owner.cache_clear()
    processes._how_to_drop_root.cache_clear()


def owner_of_the_running_server(home: Home) -> tuple[int, int]:
    """Start a server, give the owners of its process and of its folder as this system sees them, and stop it."""
    home.create()
    home.create_sockets()
    postgres.create(home.postgres, sync=False)
    postgres.prepare_sockets(home.sockets)
    with (home.folder / "log").open("wb") as log:
        server = processes.spawn(
            postgres.command(home.postgres, home.sockets, postgres.NO_DURABILITY), output=log, unprivileged=True
        )
    try:
        ready = processes.wait_until(lambda: postgres.is_ready(home.postgres, server.pid), timeout_seconds=120)
        assert ready, (home.folder / "log").read_text()
        return Path(f"/proc/{server.pid}").stat().st_uid, home.postgres.stat().st_uid
    finally:
        processes.stop(server, signal_number=signal.SIGQUIT, patience_seconds=5)


def test_in_a_user_namespace_process_and_files_stay_ours(folder: Path) -> None:
    assert not processes.root_needs_another_owner()
    assert owner_of_the_running_server(Home(folder / "home")) == (os.getuid(), os.getuid())


def test_without_user_namespaces_it_becomes_another_account_or_says_why_it_cannot(
    folder: Path, no_namespaces: None
) -> None:
    assert processes.root_needs_another_owner() == IS_ROOT
    account = processes.unprivileged_account() if IS_ROOT else None
    home = Home(folder / "home")
    blocked = [path for path in postgres.binary("postgres").parents if not path.stat().st_mode & 0o001]
    if account and blocked:
        with pytest.raises(SetupError, match=f"can't enter {blocked[0]}: move the checkout"):
            owner_of_the_running_server(home)
        return
    expected = account.pw_uid if account else os.getuid()
    assert owner_of_the_running_server(home) == (expected, expected)
    # Started again after a kill, it finds its own leftovers.
    assert owner_of_the_running_server(home) == (expected, expected)


def test_a_state_folder_that_the_other_account_cannot_enter_is_named(folder: Path, no_namespaces: None) -> None:
    folder.chmod(0o700)
    home = Home(folder / "home")
    home.create()
    if not IS_ROOT:
        postgres.create(home.postgres, sync=False)
        assert home.postgres.is_dir()
        return
    with pytest.raises(SetupError) as failure:
        postgres.create(home.postgres, sync=False)
    assert f"can't enter {folder}: set BENCHWEB_HOME to a folder" in str(failure.value)
    assert not home.postgres.exists()


def test_a_failed_initdb_leaves_no_half_database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "DATABASE", "two words")
    with pytest.raises((SetupError, subprocess.SubprocessError)):
        postgres.create(folder / "postgres", sync=False)
    assert not (folder / "postgres").exists()


def test_a_child_of_a_killed_start_that_still_writes_its_draft_disturbs_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "ORPHAN_PATIENCE_SECONDS", 0.5)
    loop = "while mkdir -p postgres.new; do echo > postgres.new/left; echo > begun; done 2> /dev/null"
    writer = subprocess.Popen(["sh", "-c", loop], cwd=folder)
    try:
        assert processes.wait_until((folder / "begun").exists, timeout_seconds=60)
        postgres.create(folder / "postgres", sync=False)
    finally:
        writer.kill()
        writer.wait()
    assert (folder / "postgres" / "PG_VERSION").exists()
    assert not (folder / "postgres" / "left").exists()
