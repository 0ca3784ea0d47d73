"""What a host's script downloads and asks for, without a log-in; and the tickets by which it is let in."""

import hashlib
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from benchweb.accounts.audit.models import AuditEntry
from benchweb.accounts.services import TokenLimits, token_create
from benchweb.hosts.models import Endpoint, Enrolment, Host
from benchweb.hosts.tickets import ticket_found, ticket_issue, ticket_text, ticket_token
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


def test_each_action_of_the_script_is_one_function_of_a_script_that_a_shell_reads(
    program: bytes, settings: Settings
) -> None:
    settings.ALLOWED_HOSTS = ["bench.example.org", "127.0.0.1"]
    for host in settings.ALLOWED_HOSTS:
        script = Client().get("/install/engine.sh", headers={"host": host}).content
        assert subprocess.run(["sh", "-n"], input=script, capture_output=True, check=False).stderr == b""
        functions = Counter(re.findall(r"^(\w+)\(\) {", script.decode(), re.MULTILINE))
        assert {f"{action}_engine" for action in ("install", "update", "uninstall")} <= set(functions)
        assert set(functions.values()) == {1}
        calls = re.findall(r"^uninstall_engine.*?^}", script.decode(), re.MULTILINE | re.DOTALL)
        assert "Removed." in calls[0]


def test_a_program_is_sent_whole_and_one_that_was_not_built_is_named(program: bytes) -> None:
    response = Client().get("/install/engine/x86_64")
    assert b"".join(response) == program
    assert int(response["Content-Length"]) == len(program)
    missing = Client().get("/install/engine/riscv64")
    assert (missing.status_code, b"no engine for riscv64" in missing.content) == (404, True)


def test_a_host_is_added_by_its_ticket(ada: User) -> None:
    text = ticket_text(ticket_issue(by=ada))
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
    assert decrypted(endpoint.token_encrypted) == claim.content.decode() == ticket_token(ticket_found(text))


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
    text = ticket_text(ticket_issue(by=ada))
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
    for text in (ticket_text(ticket_issue(by=other)), "nonsense", ""):
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


def added_by(text: str, address: str = "192.0.2.1") -> int:
    """Claim and add as a host does; return the status of the last answer."""
    claim = Client().post("/install/claim", OURS | {"ticket": text}, REMOTE_ADDR=address)
    told = OURS | {"ticket": text, "address": "192.0.2.1", "port": "7410"}
    return claim.status_code if claim.status_code != 200 else Client().post("/install/ready", told).status_code


def test_what_a_ticket_adds_is_its_issuers_act(ada: User, settings: Settings) -> None:
    token, _ = token_create(user=ada, name="ci")
    assert added_by(ticket_text(ticket_issue(by=ada, token=token))) == 201
    entries = AuditEntry.objects.filter(table__in=("hosts_host", "hosts_endpoint"))
    assert {entry.table for entry in entries} == {"hosts_host", "hosts_endpoint"}
    for entry in entries:
        assert (entry.via, entry.user_name, entry.token_id) == ("ticket", "ada", token.pk)
    # Nothing that follows is.
    Host.objects.update(description="later")
    assert AuditEntry.objects.filter(table="hosts_host", via="system").count() == 1


def test_a_ticket_is_good_where_the_token_is_that_issued_it(ada: User) -> None:
    token, _ = token_create(user=ada, name="ci", limits=TokenLimits(networks=["192.0.2.0/24"]))
    ours, text = OURS | {"address": "192.0.2.1", "port": "7410"}, ticket_text(ticket_issue(by=ada, token=token))
    for path in ("/install/claim", "/install/ready"):
        refused = Client().post(path, ours | {"ticket": text}, REMOTE_ADDR="198.51.100.7")
        assert (refused.status_code, b"networks in which 198.51.100.7" in refused.content) == (403, True)
        assert Client().post(path, ours | {"ticket": text}, REMOTE_ADDR="192.0.2.9").status_code in (200, 201)
    assert Host.objects.get().name == "alder"


def test_the_log_tells_of_a_ticket_from_its_issue_to_its_end_without_its_secrets(
    signed_in: Client, ada: User, program: bytes
) -> None:
    text = signed_in.get("/hosts/new", REMOTE_ADDR="192.0.2.7").context["install"].ticket
    assert added_by(text, "192.0.2.9") == 201
    signed_in.get("/hosts/new")
    signed_in.post(f"/hosts/tickets/{Enrolment.objects.latest('pk').pk}/revoke")
    entries = list(AuditEntry.objects.filter(table="hosts_enrolment").order_by("pk"))
    told = [(entry.action, entry.via, entry.user_name, entry.address) for entry in entries]
    assert told[:2] == [("created", "page", "ada", "192.0.2.7"), ("changed", "ticket", "ada", "192.0.2.9")]
    assert entries[1].changes["host_name"] == ["", "alder"]
    assert [entry.via for entry in entries[2:]] == ["ticket", "page", "page"]
    assert "revoked_at" in entries[-1].changes
    written = " ".join(str(entry.changes) for entry in entries)
    assert not any(ticket.number in written for ticket in Enrolment.objects.all()) and "boot-1" not in written
    page = signed_in.get("/audit?table=hosts_enrolment&via=ticket").content.decode()
    assert "Ticket of a host" in page and "ticket of a host" in page


def test_a_deactivated_issuers_ticket_claims_and_adds_nothing(ada: User) -> None:
    texts = [ticket_text(ticket_issue(by=ada)) for _ in range(2)]
    Client().post("/install/claim", OURS | {"ticket": texts[1]})
    User.objects.update(is_active=False)
    told = OURS | {"ticket": texts[1], "address": "192.0.2.1", "port": "7410"}
    for answer in (Client().post("/install/claim", OURS | {"ticket": texts[0]}), Client().post("/install/ready", told)):
        assert answer.status_code == 403
        assert b"may add no hosts any more" in answer.content
    assert not Host.objects.exists()


def test_the_list_of_tickets_says_whose_each_is_and_revokes_it(signed_in: Client, ada: User) -> None:
    assert "No tickets yet." in signed_in.get("/hosts/tickets").content.decode()
    token, _ = token_create(user=ada, name="racks")
    used, fresh = ticket_issue(by=ada, token=token), ticket_issue(by=ada)
    assert added_by(ticket_text(used)) == 201
    page = signed_in.get("/hosts/tickets").content.decode()
    host = Host.objects.get()
    assert f'<a href="/hosts/{host.pk}">alder</a>' in page and "token racks" in page
    assert page.count("/revoke") == 1 and f"/hosts/tickets/{fresh.pk}/revoke" in page
    assert not any(secret in page for secret in (ticket_text(fresh), fresh.number, used.number))
    page = signed_in.post(f"/hosts/tickets/{fresh.pk}/revoke", follow=True).content.decode()
    assert "The ticket is void from now on." in page and ">revoked</span>" in page
    answer = Client().post("/install/claim", OURS | {"ticket": ticket_text(fresh)})
    assert (answer.status_code, b"was revoked" in answer.content) == (403, True)


def test_plain_http_is_told_with_the_sum_of_the_script(signed_in: Client, program: bytes, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["bench.example.org", "127.0.0.1"]
    for host, is_told in (("127.0.0.1:8000", False), ("bench.example.org", True)):
        answer = signed_in.get("/hosts/new", headers={"host": host})
        page, install = answer.content.decode(), answer.context["install"]
        script = Client().get("/install/engine.sh", headers={"host": host}).content
        assert hashlib.sha256(script).hexdigest() == install.script_sha256
        assert (install.script_sha256 in page) is is_told
        assert ("reached by plain http. Whoever can change the traffic" in page) is is_told
        assert (b"Warning: $DASHBOARD is plain http." in script) is is_told
        assert (b"# This dashboard is reached by plain http" in script) is is_told
    settings.PUBLIC_URL = "https://bench.example.org"
    answer = signed_in.get("/hosts/new", headers={"host": "127.0.0.1"})
    assert not answer.context["install"].is_plain_http
    assert b"plain http" not in answer.content
    assert b"plain http" not in Client().get("/install/engine.sh", headers={"host": "127.0.0.1"}).content
