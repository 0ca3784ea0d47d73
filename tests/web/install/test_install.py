"""What a host's script downloads and asks for, without a log-in."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from benchweb.hosts.enrolment.tickets import ticket_issue, ticket_read
from benchweb.hosts.models import Endpoint, Enrolment, Host
from benchweb.site.secrets import decrypted
from tests.factories import make_endpoint
from tests.hosts.enrolment.test_programs import LOAD, X86_64, elf

OURS = {"machine": "boot-1", "name": "alder"}


@pytest.fixture
def program(tmp_path: Path, settings: Settings) -> bytes:
    """Have one engine built, and the unit that is in the repository."""
    content = elf(X86_64, LOAD, more=b"\x80" * 600_000)
    (tmp_path / "engine/programs").mkdir(parents=True)
    (tmp_path / "engine/programs/benchweb-engine").write_bytes(content)
    settings.BASE_DIR = tmp_path
    return content


def test_the_script_names_the_dashboard_and_the_sum_of_each_program(program: bytes, settings: Settings) -> None:
    response = Client().get("/install/engine.sh", headers={"host": "localhost:8000"})
    text = response.content.decode()
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert text.startswith("#!/bin/sh\n")
    assert "\nDASHBOARD=http://localhost:8000\n" in text
    assert "    x86_64) echo " in text and "aarch64)" not in text
    assert "DynamicUser=yes" in text and "${CREDENTIALS_DIRECTORY}/token" in text
    settings.PUBLIC_URL = "https://bench.example.org"
    assert "\nDASHBOARD=https://bench.example.org\n" in Client().get("/install/engine.sh").content.decode()


def test_a_program_is_sent_whole_and_one_that_was_not_built_is_named(program: bytes) -> None:
    response = Client().get("/install/engine/x86_64")
    assert b"".join(response) == program
    assert int(response["Content-Length"]) == len(program)
    missing = Client().get("/install/engine/riscv64")
    assert (missing.status_code, b"no engine for riscv64" in missing.content) == (404, True)


def test_a_host_is_added_by_its_ticket(ada: User) -> None:
    text = ticket_issue(user_id=ada.pk)
    claim = Client().post("/install/claim", OURS | {"ticket": text})
    assert (claim.status_code, claim["Cache-Control"]) == (200, "no-store")
    told = OURS | {"ticket": text, "address": "192.0.2.1", "port": "7410"}
    ready = Client().post("/install/ready", told)
    endpoint = Endpoint.objects.get()
    assert (ready.status_code, ready.content.decode()) == (
        201,
        f"alder http://testserver/hosts/{endpoint.host_id}\n",
    )
    assert endpoint.control_address == "192.0.2.1:7410"
    assert decrypted(endpoint.token_encrypted) == claim.content.decode() == ticket_read(text).token


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"ticket": "nonsense"}, 403, "not a ticket"),
        ({"machine": "boot-2"}, 403, "used by alder already"),
        ({"port": "0"}, 409, "from 1 to 65535"),
        ({"port": "７"}, 409, "from 1 to 65535"),
        ({"address": "a b"}, 409, "neither a host name nor an IP address"),
        ({"address": ""}, 409, ""),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_nothing_is_added(
    ada: User, change: dict[str, str], status: int, words: str
) -> None:
    text = ticket_issue(user_id=ada.pk)
    Client().post("/install/claim", OURS | {"ticket": text})
    values = OURS | {"ticket": text, "address": "192.0.2.1", "port": "7410"} | change
    response = Client().post("/install/ready", values)
    assert (response.status_code, response["Content-Type"]) == (status, "text/plain; charset=utf-8")
    assert words in response.content.decode() and response.content.count(b"\n") == 1
    assert not Host.objects.exists()


def test_neither_needs_a_log_in_or_a_form_and_neither_is_a_page(db: None) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/install/claim", OURS).status_code == 403
    assert b"not a ticket" in strict.post("/install/claim", OURS).content
    assert strict.get("/install/claim").status_code == strict.get("/install/ready").status_code == 405
    assert not Enrolment.objects.exists()


def test_the_page_shows_how_far_its_host_is(signed_in: Client, ada: User, program: bytes) -> None:
    page = signed_in.get("/hosts/new").content.decode()
    text = signed_in.get("/hosts/new").context["install"].ticket
    assert "Run one command on the host" in page

    def shown() -> str:
        return signed_in.post("/hosts/watch", {"ticket": text}).content.decode()

    assert "waiting for the host" in shown() and 'hx-trigger="every 2s"' in shown()
    Client().post("/install/claim", OURS | {"ticket": text})
    assert "alder has fetched its token and starts the engine." in shown()
    taken = make_endpoint(control_address="192.0.2.1:7410", host_name="birch")
    told = OURS | {"ticket": text, "address": "192.0.2.1", "port": "7410"}
    assert Client().post("/install/ready", told).status_code == 409
    assert f"birch ({taken.host_id}) has this address" in shown()
    assert Client().post("/install/ready", told | {"address": "192.0.2.2"}).status_code == 201
    assert 'class="endpoint-watch"' in shown() and ">alder</a>" in shown()


def test_another_users_ticket_and_a_wrong_one_are_not_found(signed_in: Client) -> None:
    other = User.objects.create_user("bob")
    for text in (ticket_issue(user_id=other.pk), "nonsense", ""):
        assert signed_in.post("/hosts/watch", {"ticket": text}).status_code == 404
    assert Client().post("/hosts/watch", {"ticket": "x"}).status_code == 302


def test_who_entered_a_token_gets_the_command_for_it_and_nobody_else(signed_in: Client, program: bytes) -> None:
    values = {"name": "alder", "control_address": "192.0.2.1:7420", "network_mode": "host", "token": "s3cret"}
    url = signed_in.post("/hosts/new", values)["Location"]
    page = signed_in.get(url)
    (panel,) = page.context["panels"]
    assert panel.install.text.endswith(" --port 7420")
    claim = OURS | {"ticket": panel.install.ticket}
    assert Client().post("/install/claim", claim).content == b"s3cret"
    other = Client()
    other.force_login(User.objects.create_user("bob"))
    assert other.get(url).context["panels"][0].install is None
