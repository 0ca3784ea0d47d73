"""A backup is made while others write, proved when it is restored, and refused whole: nothing is changed then."""

import json
import resource
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from benchweb.hosts.models import Endpoint, Environment, Host
from benchweb.ops.backups import archive, restoring
from benchweb.ops.backups.archive import MANIFEST, Manifest, read_manifest
from benchweb.ops.backups.programs import database_name, program_environment, session
from benchweb.ops.backups.proof import TableProof, prepare_session, table_proofs
from benchweb.ops.backups.restoring import backup_go_back, backup_test
from benchweb.ops.backups.scratch import name_prefix
from benchweb.ops.models import Backup
from benchweb.site.installation import copy_notice, is_copy_now
from benchweb.site.models import Installation
from tests.conftest import Web
from tests.factories import make_endpoint, make_run
from tests.processes import stopped

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_web(webs: dict[frozenset[tuple[str, str]], Web]) -> None:
    """Stop the web servers that earlier tests left for later ones: a database in use isn't restored."""
    for each in webs.values():
        stopped(each.process)
    webs.clear()


@pytest.fixture
def filled() -> None:
    """An installation with a host of a token, a run, and texts and numbers of all sorts."""
    make_endpoint(token="t" * 64)
    make_run()
    Host.objects.create(name="alder", description='Erle ☃ \\ " \t')


@pytest.fixture
def backup(filled: None, tmp_path: Path) -> Path:
    path = tmp_path / "backup.zip"
    call_command("backup", str(path), stdout=StringIO())
    return path


def restore(path: Path, *words: str) -> str:
    written = StringIO()
    call_command("restore", str(path), *words, stdout=written)
    return written.getvalue()


def proofs() -> dict[str, TableProof]:
    with session(database_name()) as reader:
        prepare_session(reader)
        return table_proofs(reader)


def databases() -> set[str]:
    with session(autocommit=True) as server:
        names = "select datname from pg_database where datname = %s or starts_with(datname, %s)"
        rows = server.execute(names, [database_name(), name_prefix()])
        return {name for (name,) in rows.fetchall()}


@pytest.fixture
def unchanged() -> Iterator[None]:
    """See to it that a refusal changes no table, and leaves no database behind."""
    before = proofs(), databases()
    yield
    assert (proofs(), databases()) == before


def changed(path: Path, change: Callable[[Manifest], Manifest]) -> Path:
    """Write a backup with another manifest."""
    other = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        new.writestr(archive.DUMP, old.read(archive.DUMP))
        new.writestr(MANIFEST, change(read_manifest(path)).as_json())
    return other


def test_a_backup_that_others_write_beside_is_of_one_moment_and_restored_as_it_was(
    filled: None, tmp_path: Path
) -> None:
    is_over = threading.Event()
    hosts, environments = Host.objects.count(), Environment.objects.count()

    def write() -> None:
        with session(database_name(), autocommit=True) as writer:
            number = 0
            while not is_over.is_set():
                number += 1
                with writer.transaction():
                    # As many of the one as of the other, at every moment.
                    for table in ("hosts_host", "hosts_environment"):
                        writer.execute(
                            f"insert into {table} select (jsonb_populate_record(null::{table}, to_jsonb(t) || "
                            "jsonb_build_object('id', 1000 + %s::int, 'name', 'new ' || %s::int, 'name_key', "
                            f"'new ' || %s::int))).* from {table} t limit 1",
                            [number] * 3,
                        )

    thread = threading.Thread(target=write)
    thread.start()
    try:
        path = tmp_path / "backup.zip"
        call_command("backup", str(path), stdout=StringIO())
    finally:
        is_over.set()
        thread.join()
    manifest = read_manifest(path)
    new = {table: proof.rows for table, proof in manifest.tables.items()}
    assert new["hosts_host"] - hosts == new["hosts_environment"] - environments
    assert Host.objects.count() > new["hosts_host"]
    assert "Restored" in restore(path, "--over")
    now = proofs()
    # What the restore itself writes: that this is a copy, and the entry of it in the audit log.
    written = {name for name in now if now[name] != manifest.tables[name]}
    # Django's own permissions, too, where an earlier test has emptied their tables.
    assert written - {"auth_permission", "django_content_type"} == {"site_installation", "accounts_auditentry"}
    assert now["accounts_auditentry"].rows == manifest.tables["accounts_auditentry"].rows + 1


def test_a_restored_database_says_of_what_it_is_a_copy(backup: Path, settings: Settings) -> None:
    settings.PUBLIC_URL = "https://bench.example.org"
    second = backup.with_name("second.zip")
    call_command("backup", str(second), stdout=StringIO())
    assert not is_copy_now()
    restore(second, "--over")
    assert is_copy_now()
    notice = copy_notice()
    assert notice is not None
    assert (notice.of, notice.made_at) == ("https://bench.example.org", read_manifest(second).made_at)


def test_a_manifest_tells_versions_tables_and_no_secret(backup: Path, settings: Settings) -> None:
    with zipfile.ZipFile(backup) as opened:
        assert opened.namelist() == [archive.DUMP, MANIFEST]
        told = json.loads(opened.read(MANIFEST))
    assert {"0002_installation", "0003_backup"} < set(told["migrations"]["ops"])
    assert told["tables"]["hosts_host"]["rows"] == Host.objects.count()
    assert told["benchweb"] == "0.1.0"
    assert settings.SECRET_KEY not in json.dumps(told)
    assert backup.stat().st_mode & 0o077 == 0
    record = Backup.objects.get()
    assert (record.name, record.size_bytes, record.fault) == ("backup.zip", backup.stat().st_size, "")


def test_a_folder_gets_a_new_file_and_a_file_is_never_replaced(filled: None, tmp_path: Path) -> None:
    call_command("backup", str(tmp_path), stdout=StringIO())
    (path,) = tmp_path.iterdir()
    with pytest.raises(CommandError, match="is there already: name another file, or a folder"):
        call_command("backup", str(path), stdout=StringIO())
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("unchanged")
class TestRefusals:
    @pytest.fixture(autouse=True)
    def made_before(self, backup: Path, unchanged: None) -> None:
        """Have the backup made before what is there is noted."""

    def refused(self, path: Path, *words: str) -> str:
        with pytest.raises(CommandError) as refusal:
            restore(path, *words)
        assert "Nothing was changed." in str(refusal.value)
        return str(refusal.value)

    def test_over_data_without_the_word(self, backup: Path) -> None:
        assert "has data already (" in (text := self.refused(backup))
        assert "Give --over" in text

    def test_a_backup_of_another_key_names_how_to_give_it(self, backup: Path, settings: Settings) -> None:
        settings.SECRET_KEY = "another " * 8  # pragma: allowlist secret
        text = self.refused(backup, "--over")
        assert "another secret key" in text
        assert "BENCHWEB_SECRET_KEY_FALLBACKS" in text
        assert read_manifest(backup).secret_key in text

    def test_a_backup_of_a_newer_schema_names_what_is_newer(self, backup: Path) -> None:
        newer = changed(backup, lambda manifest: replace(manifest, migrations={"hosts": ["0099_wings"]}))
        assert "newer schema than this version of benchweb knows (hosts.0099_wings;" in self.refused(newer, "--over")

    @pytest.mark.parametrize("left", [0.0, 0.5, 0.999])
    def test_a_backup_that_is_cut_off(self, backup: Path, left: float) -> None:
        content = backup.read_bytes()
        backup.write_bytes(content[: int(len(content) * left)])
        assert "is no whole backup" in self.refused(backup, "--over")

    def test_a_backup_with_one_other_byte(self, backup: Path) -> None:
        content = bytearray(backup.read_bytes())
        content[len(content) // 2] ^= 1
        backup.write_bytes(content)
        assert "is damaged: its checksum is another one" in self.refused(backup, "--over")

    def test_a_backup_that_is_not_what_its_manifest_says(self, backup: Path) -> None:
        def more(manifest: Manifest) -> Manifest:
            return replace(manifest, tables={**manifest.tables, "hosts_host": TableProof(99, "1")})

        text = self.refused(changed(backup, more), "--over")
        assert "isn't what was backed up: hosts_host (99 rows, restored" in text

    def test_something_else_and_nothing(self, backup: Path) -> None:
        (other := backup.with_name("notes.txt")).write_text("notes")
        assert "is no whole backup" in self.refused(other, "--over")
        assert "There is no file" in self.refused(backup.with_name("none.zip"), "--over")

    def test_while_a_worker_uses_the_database(self, backup: Path) -> None:
        given = connection.settings_dict
        name = database_name()
        with psycopg.connect(host=given["HOST"], user=given["USER"], dbname=name, application_name="benchweb worker"):
            assert "(1 of benchweb worker sessions)" in self.refused(backup, "--over")

    def test_when_a_worker_came_meanwhile(self, backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        given = connection.settings_dict
        opened = []

        def brought_up(*_: object) -> None:
            session = {"host": given["HOST"], "user": given["USER"], "dbname": database_name()}
            opened.append(psycopg.connect(**session, application_name="benchweb worker"))

        monkeypatch.setattr(restoring, "_brought_up", brought_up)
        assert "(1 of benchweb worker sessions)" in self.refused(backup, "--over")
        opened[0].close()

    def test_without_room_on_the_disk_of_the_database(
        self, backup: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
    ) -> None:
        settings.BENCHWEB_HOME = backup.parent
        (backup.parent / "postgres").mkdir()
        monkeypatch.setattr(restoring, "is_own_server", lambda: True)
        large = changed(backup, lambda manifest: replace(manifest, database_bytes=10**15))
        assert "Restoring takes 1,000,000,268 MB beside what is there" in self.refused(large, "--over")

    def test_a_failure_at_the_last_moment(self, backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def broken(*_: object) -> None:
            raise psycopg.OperationalError("the server is gone")

        monkeypatch.setattr(restoring, "_rename", broken)
        assert "can't be renamed: the server is gone" in self.refused(backup, "--over")


def test_an_empty_installation_takes_a_backup_without_a_word(backup: Path) -> None:
    call_command("flush", interactive=False, verbosity=0)
    restore(backup)
    assert Endpoint.objects.count() == 3
    assert databases() == {database_name()}


def test_a_database_that_a_killed_restore_left_goes_with_the_next(backup: Path) -> None:
    left = f"{name_prefix()}dead"
    with session(autocommit=True) as server:
        server.execute(f'create database "{left}"')
    backup_test(backup)
    assert databases() == {database_name()}


def test_what_a_killed_restore_left_is_no_reason_that_there_is_no_room(
    backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session(autocommit=True) as server:
        server.execute(f'create database "{name_prefix()}dead"')
    seen = []
    monkeypatch.setattr(restoring, "_check_room", lambda manifest: seen.append(databases()))
    backup_test(backup)
    assert seen == [{database_name()}]


def test_a_draft_is_never_written_through_a_link(filled: None, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / ".backup.zip.part").symlink_to(tmp_path / "precious")
    with pytest.raises(CommandError, match="File exists"):
        call_command("backup", str(tmp_path / "backup.zip"), stdout=StringIO())
    assert (tmp_path / "precious").read_text() == "precious"


def test_programs_keep_how_to_reach_a_server_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"PGSSLMODE": "prefer", "PGPASSFILE": "/srv/pgpass"}
    others = {"PGDATABASE": "other", "PGHOST": "other", "PGOPTIONS": "-c work_mem=1MB", "PGSERVICE": "other"}
    for name, value in (given | others).items():
        monkeypatch.setenv(name, value)
    environment = program_environment("bench")
    assert given.items() <= environment.items()
    assert (environment["PGDATABASE"], environment["PGHOST"]) == ("bench", connection.settings_dict["HOST"])
    assert not {"PGOPTIONS", "PGSERVICE"} & environment.keys()


def test_a_backup_of_an_upgrade_that_failed_is_the_original_again(backup: Path) -> None:
    before = read_manifest(backup).tables
    Host.objects.filter(name="alder").update(name="half upgraded")
    backup_go_back(backup)
    after = proofs()
    assert {name for name in after if after[name] != before[name]} == set()
    assert not Installation.objects.exists()


def test_a_disk_without_room_leaves_no_file_and_says_so(filled: None, small_disk: Callable[[str], Path]) -> None:
    folder = small_disk("64k")
    with pytest.raises(CommandError, match=r"There is no room left in .*: make room there, or name another folder"):
        call_command("backup", str(folder), stdout=StringIO())
    assert list(folder.iterdir()) == []
    assert "no room left" in Backup.objects.get().fault


def test_a_file_that_may_not_grow_leaves_no_file(
    filled: None, environment_of_test: dict[str, str], tmp_path: Path
) -> None:
    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))

    words = [sys.executable, "-m", "django", "backup", str(tmp_path)]
    environment = environment_of_test | {"DJANGO_SETTINGS_MODULE": "benchweb.settings"}
    done = subprocess.run(
        words, env=environment, capture_output=True, text=True, check=False, preexec_fn=bounded, timeout=300
    )
    assert done.returncode == 1
    assert f"There is no room left in {tmp_path}" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_programs_older_than_the_server_are_told(filled: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "pg_dump"
    old.write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 12.1'\n")
    old.chmod(0o755)
    monkeypatch.setattr("benchweb.ops.backups.programs.postgres.binary", lambda name: tmp_path / name)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(CommandError, match=r"it is version 12, and the database \d+\. Install PostgreSQL's client"):
        call_command("backup", str(tmp_path / "backup.zip"), stdout=StringIO())


def test_a_database_that_is_called_postgres_is_renamed_from_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "NAME", "postgres")
    with session(autocommit=True) as server:
        assert server.info.dbname == "template1"
