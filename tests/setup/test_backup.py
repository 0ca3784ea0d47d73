"""`backup` and `restore` with the embedded database, `up` running or not; a folder that is copied knows it."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from benchweb.ops.running import postgres
from benchweb.ops.running.home import PROJECT, Home
from tests.setup.processes import Up

pytestmark = pytest.mark.begun_first

ADA = """
    insert into auth_user (username, password, is_superuser, is_staff, is_active, first_name, last_name, email,
        date_joined) values ('ada', '!', true, true, true, '', '', '', now())
"""

# What is done by itself: slots, runs that begin, messages.
ACTS = """
    select (select count(*) from schedules_slot), (select count(*) from runs_run where started_at is not null),
        (select count(*) from notifications_deliveryattempt)
"""
# The migrations since the version before, which an upgrade from it has to do.
SINCE = ("0002_installation", "0003_backup", "0004_removal", "0005_storage_sample")
SECOND = [{"kind": "tcp_stream", "params": {"duration_seconds": 1}}]


def manage(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BENCHWEB_")}
    environment |= {"BENCHWEB_HOME": str(home), "BENCHWEB_SET_UP": "1"}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def fetched(home: Path, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(postgres.url(Home(home).sockets), autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def posted(up: Up, path: str, body: dict[str, Any]) -> Any:
    """Return what the API answers to a POST with the demo's token."""
    token = (up.home / "demo-token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", up.port, timeout=60)
    connection.request("POST", path, json.dumps(body), headers)
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    assert response.status == 201, answer
    return answer


def stopped(up: Up) -> None:
    up.terminate()
    assert up.orphans() == []


def test_a_backup_of_a_running_installation_is_restored_on_another_machine(up: Callable[..., Up], state: Path) -> None:
    first = up("first", "--no-demo")
    first.wait_ready()
    fetched(first.home, ADA)
    backup = state / "first.zip"
    made = manage(first.home, "backup", str(backup))
    assert (made.returncode, made.stderr) == (0, "")
    assert "The secret key is not in it: keep that too" in made.stdout
    refused = manage(first.home, "restore", str(backup), "--over")
    assert refused.returncode == 1
    assert "benchweb is already running on" in refused.stderr
    stopped(first)

    second = state / "second"
    without_key = manage(second, "restore", str(backup))
    assert without_key.returncode == 1
    assert f"as the file {second / 'secret-key'}" in without_key.stderr
    shutil.copy(first.home / "secret-key", second / "secret-key")
    done = manage(second, "restore", str(backup))
    assert (done.returncode, done.stderr) == (0, "")
    assert "This is a copy now" in done.stdout

    again = up("second", "--no-demo")
    again.wait_ready()
    assert fetched(second, "select username from auth_user where username = 'ada'") == [("ada",)]
    assert fetched(second, "select copy_since is not null from site_installation") == [(True,)]
    original = manage(second, "make_original")
    assert (original.returncode, original.stdout) == (0, "This is the original now: it measures, and sends messages.\n")
    assert fetched(second, "select copy_since from site_installation") == [(None,)]
    stopped(again)


def test_a_folder_that_is_copied_is_a_copy_and_the_original_stays_one(up: Callable[..., Up], state: Path) -> None:
    first = up("original", "--no-demo")
    first.wait_ready()
    stopped(first)
    shutil.copytree(first.home, state / "copied", symlinks=True)
    for name, is_copy in (("copied", True), ("original", False)):
        each = up(name, "--no-demo")
        each.wait_ready()
        each.wait_until(partial(fetched, each.home, "select 1 from site_installation"), "the row")
        assert is_copy_of(each) == is_copy
        stopped(each)


def is_copy_of(up: Up) -> bool:
    """Ask as a command of the installation does."""
    program = (
        "import django; django.setup(); from benchweb.site.installation import is_copy_now; print(int(is_copy_now()))"
    )
    runtime = json.loads((up.home / "runtime.json").read_text())
    environment = {
        **os.environ,
        "BENCHWEB_HOME": str(up.home),
        "BENCHWEB_DATABASE_URL": runtime["database_url"],
        "DJANGO_SETTINGS_MODULE": "benchweb.settings",
        "BENCHWEB_SECRET_KEY": "x" * 40,
        "PYTHONPATH": str(PROJECT),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout == "1\n"


def test_an_upgrade_makes_a_backup_first_and_one_that_fails_goes_back(up: Callable[..., Up], state: Path) -> None:
    first = up("upgraded", "--no-demo")
    first.wait_ready()
    fetched(first.home, ADA)
    # As the version before had it; and a table in the way of the second of two migrations to do.
    for statement in (
        "drop table ops_backup, ops_removal, ops_storagesample, site_installation",
        f"delete from django_migrations where name in {SINCE}",
        "create table ops_backup (in_the_way int)",
    ):
        fetched(first.home, statement)
    stopped(first)
    (first.home / "stamps" / "prepared").unlink()

    failing = up("upgraded", "--no-demo")
    assert failing.wait() == 1
    told = failing.output
    assert "The database is again as it was before the upgrade" in failing.output
    assert 'relation "ops_backup" already exists' in failing.output
    (backup,) = (first.home / "backups").iterdir()
    assert backup.name.startswith("before-upgrade-")

    state_now = state / "after.zip"
    assert manage(first.home, "backup", str(state_now)).returncode == 0
    with zipfile.ZipFile(state_now) as archive:
        migrations = json.loads(archive.read("manifest.json"))["migrations"]
    assert "0001_tables" in migrations["site"]
    assert "0002_installation" not in migrations["site"] + migrations["ops"]

    without = up("upgraded", "--no-demo", "--no-backup")
    assert without.wait() == 1
    assert "again as it was" not in without.output.removeprefix(told)
    assert len(list((first.home / "backups").iterdir())) == 1


def test_of_an_original_and_its_copy_one_measures(up: Callable[..., Up], state: Path) -> None:
    original = up("measures")
    original.wait_ready()
    original.wait_until(lambda: original.json("/api/v1/pairs")["items"], "the demo")
    plan = posted(original, "/api/v1/plans", {"name": "a second", "steps": SECOND})["id"]
    pair = original.json("/api/v1/pairs")["items"][0]["id"]
    schedule = {"name": "each minute", "plan": plan, "pairs": [pair], "every": "PT1M"}
    posted(original, "/api/v1/schedules", schedule)
    backup = state / "measures.zip"
    assert manage(original.home, "backup", str(backup)).returncode == 0
    quiet = state / "quiet"
    manage(quiet, "restore", str(backup))
    shutil.copy(original.home / "secret-key", quiet / "secret-key")
    assert manage(quiet, "restore", str(backup)).returncode == 0
    copy = up("quiet")
    copy.wait_ready()
    begin = fetched(original.home, "select now()")[0][0]
    before = fetched(quiet, ACTS)
    acted = f"select count(*) from schedules_slot where state = 'finished' and at > '{begin}'"
    original.wait_until(lambda: fetched(original.home, acted)[0] >= (2,), "two slots of the original")
    assert fetched(quiet, ACTS) == before
    assert fetched(original.home, ACTS) != before
    stopped(copy)
    stopped(original)
