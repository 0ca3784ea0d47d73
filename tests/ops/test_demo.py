"""The demo's data is made once, all or nothing; its log-in opens on this machine in demo mode only."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import Settings

from benchweb.accounts.models import ApiToken
from benchweb.accounts.services import token_create, token_user
from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.ops import demo
from benchweb.ops.login import DemoBackend
from benchweb.ops.running.home import Home
from benchweb.plans.models import Plan
from benchweb.runs.models import Run
from benchweb.site.secrets import decrypted

FINGERPRINT = "sha256:" + "ab" * 32


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv("BENCHWEB_DEMO_TOKEN", raising=False)
    home = Home(tmp_path)
    for number, name in enumerate("ab"):
        listen(home, name, control_port=7500 + number)
    return home


def listen(home: Home, name: str, *, control_port: int, fingerprint: str = FINGERPRINT) -> None:
    folder = home.folder / "engines" / name
    folder.mkdir(parents=True, exist_ok=True)
    values = {"control": f"127.0.0.1:{control_port}", "data_port": control_port + 10, "fingerprint": fingerprint}
    (folder / "listening.json").write_text(json.dumps(values))


def counts() -> list[int]:
    return [model.objects.count() for model in (User, ApiToken, Host, Endpoint, Environment, Pair, Plan, Run)]


@pytest.mark.django_db
def test_the_first_filling_makes_everything_and_the_second_nothing(home: Home) -> None:
    demo.fill(home)
    assert counts() == [1, 1, 2, 2, 1, 2, 1, 1]
    demo.fill(home)
    assert counts() == [1, 1, 2, 2, 1, 2, 1, 1]


@pytest.mark.django_db
def test_the_first_run_begins_when_somebody_looks_or_soon(home: Home, settings: Settings) -> None:
    settings.DEMO = True
    assert demo.first_run() is None
    demo.fill(home)
    run = demo.first_run()
    assert run is not None
    assert run.not_before is not None
    assert timedelta() < run.not_before - timezone.now() <= demo.AWAITS_READER
    assert "when somebody opens the overview" in run.waits_for
    demo.begin(run)
    run.refresh_from_db()
    assert run.waiting_for == ""
    assert not run.not_before
    # What it waits for now is no reader: nothing is changed.
    Run.objects.update(not_before=timezone.now(), waiting_for="the host", waiting_for_data=None)
    run.refresh_from_db()
    demo.begin(run)
    run.refresh_from_db()
    assert run.waiting_for == "the host"
    Run.objects.update(state="finished", finished_at=timezone.now() - timedelta(hours=1))
    assert demo.first_run() is None


@pytest.mark.django_db
def test_the_first_page_shows_the_first_run_large_and_begins_it(home: Home, client: Client, settings: Settings) -> None:
    settings.DEMO, settings.BENCHWEB_HOME = True, home.folder
    client.force_login(demo.account_open(home), backend="benchweb.ops.login.DemoBackend")
    awaited = client.get("/", headers={"host": "localhost"}).content.decode()
    assert 'hx-get="/?part=first_run"' in awaited
    demo.fill(home)
    page = client.get("/", headers={"host": "localhost"}).content.decode()
    run = Run.objects.get()
    assert f'data-live="{run.pk}"' in page
    assert f'data-watched="/runs/{run.pk}/charts.json"' in page
    assert run.not_before is None
    settings.DEMO = False
    assert demo.first_run() is None


def test_udp_has_a_rate_so_that_the_sink_keeps_up() -> None:
    rates = [step["params"].get("rate_bps") for step in demo.STEPS if step["kind"] == "udp_stream"]
    assert rates
    assert all(rates)


@pytest.mark.django_db
def test_without_engines_nothing_is_made(home: Home) -> None:
    (home.folder / "engines" / "b" / "listening.json").unlink()
    with pytest.raises(demo.DemoError, match="The demo's engine b has not said where it listens"):
        demo.fill(home)
    assert counts() == [0] * 8


@pytest.mark.django_db
def test_before_the_engines_are_there_the_user_may_log_in_and_afterwards_the_rest_is_made_once(
    home: Home, client: Client, settings: Settings
) -> None:
    settings.DEMO = True
    demo.account_open(home)
    assert counts() == [1, 1, 0, 0, 0, 0, 0, 0]
    assert client.post("/login", {"username": "demo", "password": "demo"}, HTTP_HOST="localhost").status_code == 302
    demo.fill(home)
    assert counts() == [1, 1, 2, 2, 1, 2, 1, 1]
    Endpoint.objects.update(name="renamed", archived_at=timezone.now())
    demo.fill(home)
    assert counts() == [1, 1, 2, 2, 1, 2, 1, 1]


@pytest.mark.django_db
def test_an_engine_that_moved_is_followed_and_keeps_its_token(home: Home) -> None:
    demo.fill(home)
    (home.folder / "engines" / "a" / "listening.json").unlink()
    listen(home, "a", control_port=7600, fingerprint="sha256:" + "cd" * 32)
    assert demo.fill(home) == "The demo's data was there; 1 endpoint(s) have a new address."
    after = Endpoint.objects.get(name="demo-a")
    assert after.control_address == "127.0.0.1:7600"
    assert after.fingerprint == "sha256:" + "cd" * 32
    assert decrypted(after.token_encrypted) == (home.folder / "engine-token").read_text().strip()


@pytest.mark.django_db
def test_the_token_is_random_in_a_file_or_the_environments(
    home: Home, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.DEMO = True
    demo.fill(home)
    user = User.objects.get(username="demo")
    assert token_user(secret=(home.folder / "demo-token").read_text().strip()) == user
    monkeypatch.setenv("BENCHWEB_DEMO_TOKEN", "a-token-of-the-operators-own-choice")
    demo.fill(home)
    assert token_user(secret="a-token-of-the-operators-own-choice") == user  # pragma: allowlist secret
    assert ApiToken.objects.count() == 2


def log_in(
    *,
    address: str = "127.0.0.1",
    username: str = "demo",
    password: str = "demo",
    host: str = "localhost:8000",
    **more: Any,
) -> User | None:
    request = RequestFactory().post("/login", REMOTE_ADDR=address, HTTP_HOST=host, **more)
    return DemoBackend().authenticate(request, username=username, password=password)


@pytest.fixture
def user(home: Home, db: None, settings: Settings) -> User:
    settings.DEMO = True
    demo.fill(home)
    return User.objects.get(username="demo")


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "::1"])
def test_demo_logs_in_from_this_machine(user: User, address: str) -> None:
    assert log_in(address=address) == user


@pytest.mark.parametrize("address", ["192.0.2.1", "10.0.0.1", "::ffff:10.0.0.1", "", "localhost"])
def test_demo_does_not_log_in_from_elsewhere(user: User, address: str) -> None:
    assert log_in(address=address) is None


@pytest.mark.parametrize("host", ["bench.example.org", "rebound.example:8000", "192.0.2.1", "", "127.0.0.1.nip.io"])
def test_demo_does_not_log_in_by_another_name_of_this_machine(user: User, host: str) -> None:
    assert log_in(host="[::1]:8000") == user
    assert log_in(host=host) is None


def test_demo_does_not_log_in_through_a_proxy_on_this_machine(user: User) -> None:
    assert log_in(HTTP_X_FORWARDED_FOR="192.0.2.1") is None


def test_with_the_demo_off_its_sessions_and_tokens_are_refused_at_once(
    user: User, client: Client, settings: Settings, home: Home
) -> None:
    client.post("/login", {"username": "demo", "password": "demo"}, HTTP_HOST="localhost")
    assert client.get("/").status_code == 200
    demos = {"Authorization": f"Bearer {(home.folder / 'demo-token').read_text().strip()}"}
    own = {"Authorization": f"Bearer {token_create(user=user, name='own')[1]}"}
    assert [client.get("/api/v1/hosts", headers=each).status_code for each in (demos, own)] == [200, 200]
    user.set_password("a password of demo's own")
    user.save()
    settings.DEMO = False
    assert client.get("/").status_code == 302
    for each in (demos, own):
        assert client.get("/api/v1/hosts", headers=each).status_code == 401
        assert client.get("/metrics", headers=each).status_code == 401
    client.force_login(user, backend="benchweb.accounts.backend.PasswordBackend")
    assert client.get("/").status_code == 302
    assert not client.login(username="demo", password="a password of demo's own")


def test_a_start_without_the_demo_disables_its_user_and_one_with_it_enables_them(user: User, home: Home) -> None:
    call_command("demo", "--disable")
    assert not User.objects.get(username="demo").is_active
    secret = (home.folder / "demo-token").read_text().strip()
    assert token_user(secret=secret) is None
    demo.fill(home)
    assert token_user(secret=secret) == user


def test_a_revoked_token_of_demos_stays_revoked(user: User, home: Home) -> None:
    ApiToken.objects.update(revoked_at=timezone.now())
    demo.fill(home)
    assert token_user(secret=(home.folder / "demo-token").read_text().strip()) is None


def test_demo_does_not_log_in_outside_demo_mode_and_its_session_ends(user: User, settings: Settings) -> None:
    assert DemoBackend().get_user(user.pk) == user
    settings.DEMO = False
    assert log_in() is None
    assert DemoBackend().get_user(user.pk) is None


def test_another_name_or_password_does_not_log_in(user: User) -> None:
    User.objects.create_user("ada", password="demo")
    assert log_in(password="Demo") is None
    assert log_in(username="ada") is None


def test_the_database_holds_no_password_of_demos(user: User, client: Client) -> None:
    assert not user.has_usable_password()
    assert not client.login(username="demo", password="demo")


def test_the_log_in_page_takes_demo(user: User, client: Client) -> None:
    answer = client.post("/login", {"username": "demo", "password": "demo"}, HTTP_HOST="localhost")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    assert client.get("/").status_code == 200
