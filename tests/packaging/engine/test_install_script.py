"""The command of a new host's page, really run: on a host of scratch folders, against the served dashboard."""

import json
import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from benchweb.hosts.enrolment.programs import engine_programs
from benchweb.hosts.models import Endpoint, Host
from benchweb.hosts.tickets import ticket_issue, ticket_text
from tests.browser import steps
from tests.factories import make_user
from tests.packaging.engine import portable
from tests.packaging.engine.scratch_host import scratch_host

pytestmark = pytest.mark.needs("Rust", "unshare", "systemd-analyze", "curl", "wget")
PROGRAM = "/usr/local/bin/benchweb-engine"


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    portable.build("static")


@pytest.fixture
def ada(transactional_db: None) -> User:
    return make_user("ada", steps.PASSWORD)


def free_port() -> int:
    """Return a port of which the next one is free too, as the engine wants it."""
    while True:
        with socket.socket() as control, socket.socket() as data:
            control.bind(("127.0.0.1", 0))
            port: int = control.getsockname()[1]
            try:
                data.bind(("127.0.0.1", port + 1))
            except (OSError, OverflowError):
                continue
            return port


def command_of(web: str, user: User, more: str = "") -> str:
    return f"curl -fsSL {web}/install/engine.sh | sh -s -- {ticket_text(ticket_issue(by=user))} {more}"


def test_the_pages_one_command_adds_the_host_and_the_page_turns_green(
    ada: User, page: Page, worker: Callable[[], object], tmp_path: Path
) -> None:
    worker()
    port = free_port()
    steps.log_in(page)
    page.goto("/hosts/new")
    expect(page.locator("#enrolment .state-pending")).to_have_text("waiting for the host")
    shown = page.locator("#install-command pre").inner_text()
    assert shown.startswith(f"curl -fsSL {page.url.removesuffix('/hosts/new')}/install/engine.sh | sudo sh -s -- ")
    with scratch_host() as host:
        before = host.files()
        # Root is who runs it: there is no sudo in between.
        status, printed = host.run(f"{shown.replace('sudo ', '')} --port {port} --name alder")
        assert (status, "Added: alder http" in printed) == (0, True), printed
        expect(page.locator("#enrolment").get_by_role("link", name="alder")).to_be_visible()
        expect(page.locator("#enrolment .state-answered")).to_be_visible()
        assert page.url.endswith("/hosts/new")
        endpoint = Endpoint.objects.get(host__name="alder")
        assert endpoint.control_address == f"127.0.0.1:{port}"
        listening = json.loads(host.run(f"cat /var/lib/benchweb-engine-{port}/listening.json")[1])
        assert endpoint.fingerprint == listening["fingerprint"]
        # Nobody but root reads the token.
        assert host.run(f"stat -c %a /etc/benchweb-engine-{port}/token /etc/benchweb-engine-{port}")[1] == "600\n700"
        _check_unit(host.run(f"cat /etc/systemd/system/benchweb-engine-{port}.service")[1], tmp_path)

        status, printed = host.run(f"{command_of(page.url.removesuffix('/hosts/new'), ada)} --port {port} --name birch")
        assert status == 1 and "an engine is set up here already" in printed, printed
        script = f"curl -fsSL {page.url.removesuffix('/hosts/new')}/install/engine.sh | sh -s --"
        status, printed = host.run(f"{script} --update --port {port}")
        assert (status, "Updated to benchweb-engine" in printed) == (0, True), printed
        status, printed = host.run(f"{script} --uninstall --port {port}")
        assert (status, "Removed." in printed) == (0, True), printed
        assert host.files() == before
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def test_without_systemd_it_installs_and_says_how_to_start(ada: User, web: str) -> None:
    port = free_port()
    with scratch_host(has_systemd=False) as host:
        before = host.files()
        status, printed = host.run(command_of(web, ada, f"--port {port} --name birch"))
        assert status == 0, printed
        assert "This host has no systemd 247 or newer: program and token are installed" in printed
        found = re.search(rf"{PROGRAM} serve .*", printed)
        assert found and f"--listen 0.0.0.0:{port} --data-port {port + 1}" in found[0]
        assert Host.objects.get().name == "birch"
        # What it says works as it is.
        end = "kill $(cat /run/pid); while kill -0 $(cat /run/pid) 2>/dev/null; do sleep 0.1; done"
        status, printed = host.run(f"({found[0]} & echo $! >/run/pid) | head -n 1; {end}")
        assert '"event":"listening"' in printed.replace(" ", ""), printed
        status, printed = host.run(f"curl -fsSL {web}/install/engine.sh | sh -s -- --uninstall --port {port}")
        assert (status, "an engine that you started yourself still runs" in printed) == (0, True)
        assert host.files() == before


def test_a_host_with_wget_alone_does_the_same(ada: User, web: str) -> None:
    port = free_port()
    tools = (
        "mkdir /run/tools; for each in /usr/bin/* /usr/sbin/*; do ln -sf $each /run/tools/; done; rm /run/tools/curl"
    )
    with scratch_host(has_systemd=False) as host:
        host.run(f"{tools}; rm /run/tools/curl")
        download = f"PATH=/run/tools; wget -qO- {web}/install/engine.sh"
        words = f"sh -s -- {ticket_text(ticket_issue(by=ada))} --port {port} --address 127.0.0.1 --name 'rack 7 & more'"
        status, printed = host.run(f"{download} | {words}")
        assert status == 0, printed
        assert Host.objects.get().name == "rack 7 & more"
        status, printed = host.run(f"{download} | sh -s -- nonsense --port {port}")
        assert (status, "This is not a ticket of this dashboard" in printed) == (1, True), printed


def test_a_program_that_is_not_the_scripts_is_not_installed(ada: User, web: str) -> None:
    (program,) = [each for each in engine_programs().values() if each.architecture == "x86_64"]
    with scratch_host() as host:
        before = host.files()
        spoilt = f"curl -fsSL {web}/install/engine.sh | sed s/{program.sha256}/{'0' * 64}/"
        status, printed = host.run(f"{spoilt} | sh -s -- {ticket_text(ticket_issue(by=ada))}")
        assert (status, "is not the one of this script" in printed) == (1, True), printed
        assert host.files() == before
    assert not Host.objects.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("", "the ticket is missing"),
        ("--port x TICKET", "--port needs a number"),
        ("--port 65535 TICKET", "a port is from 1 to 65534"),
        ("--colour TICKET", "--colour is not known"),
        ("--name", "--name needs a value"),
        ("--update", "there is no engine benchweb-engine to update here"),
        ("TICKET", "This is not a ticket of this dashboard"),
    ],
)
def test_what_is_wrong_with_the_words_is_said_and_nothing_left(web: str, words: str, told: str) -> None:
    with scratch_host() as host:
        before = host.files()
        status, printed = host.run(f"curl -fsSL {web}/install/engine.sh | sh -s -- {words}")
        assert (status, told in printed) == (1, True), printed
        assert host.files() == before


def test_half_a_script_does_nothing(web: str) -> None:
    with scratch_host() as host:
        host.run(f"curl -fsSL {web}/install/engine.sh >/run/engine.sh")
        status, printed = host.run("head -n -2 /run/engine.sh | sh -s -- --uninstall")
        assert (status, printed) == (0, "")


def _check_unit(text: str, folder: Path) -> None:
    """Check with systemd's own tools that the unit is valid and as closed as the one that it comes from."""
    unit = folder / "benchweb-engine.service"
    unit.write_text(re.sub(r"^Documentation=.*\n", "", text.replace(PROGRAM, "/bin/true"), flags=re.MULTILINE))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    words: list[str | Path] = ["systemd-analyze", "security", "--offline=true", unit]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert found and float(found[1]) <= 2.0, done.stdout[-400:]
