"""Hosts: list, add, edit, archive, restore."""

import pytest
from django.test import Client
from django.utils import timezone

from benchweb.hosts.facts.records import facts_record
from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.hosts.services import archive, host_create
from benchweb.runs.models import Run
from benchweb.site.secrets import decrypted
from benchweb.web.shared.lists import PAGE_SIZE
from tests.factories import make_endpoint, make_pair, make_run

NEW_HOST = {
    "name": "alder",
    "description": "rack 4",
    "control_address": "192.0.2.10:7500",
    "token": "a-token-of-the-engine",
    "data_address": "10.0.0.10",
    "network_mode": "terway",
    "bind_device": "eth1",
    "endpoint_name": "",
    "fingerprint": "",
}


def test_an_empty_list_names_the_one_next_step(signed_in: Client) -> None:
    text = signed_in.get("/hosts").content.decode()
    assert "Tests run between hosts." in text
    assert "Add the first host" in text


def test_the_list_shows_kernel_and_card_of_the_latest_facts(signed_in: Client) -> None:
    endpoint = make_endpoint(host_name="alder")
    document = {"kernel": "6.6.1", "interfaces": [{"name": "eth0", "driver": "ena", "speed_bps": 25_000_000_000}]}
    facts_record(endpoint_id=endpoint.pk, document=document, at=timezone.now())
    assert "6.6.1 · eth0 ena 25 Gbit/s" in signed_in.get("/hosts").content.decode()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("q=ald", ["alder"]),
        ("q=192.0.2.20", ["birch"]),
        ("status=unreachable", ["birch"]),
        ("status=refused", []),
        ("status=silent", ["birch"]),
        ("mode=terway", ["alder"]),
        ("sort=-name", ["birch", "alder"]),
        ("sort=no-such-column", ["alder", "birch"]),
        ("after=99999999999999999999999", ["alder", "birch"]),
        ("q=nobody", []),
    ],
)
def test_the_list_filters_and_sorts_in_the_url(signed_in: Client, query: str, names: list[str]) -> None:
    make_endpoint(host_name="alder", network_mode="terway")
    birch = make_endpoint(host_name="birch", control_address="192.0.2.20:7410")
    Endpoint.objects.filter(pk=birch.pk).update(status="unreachable")
    assert [host.name for host, *_ in signed_in.get(f"/hosts?{query}").context["rows"]] == names


def test_the_list_pages_by_a_cursor_and_shows_each_host_once(signed_in: Client) -> None:
    # Names that are equal, as archived hosts' may be: the order then is by id.
    names = [f"host {number % 3}" for number in range(PAGE_SIZE + 7)]
    Host.objects.bulk_create(Host(name=name, archived_at=timezone.now()) for name in names)
    first = signed_in.get("/hosts?archived=1").context["page"]
    second = signed_in.get(f"/hosts{first.next_url}").context["page"]
    assert (len(first.rows), len(second.rows)) == (PAGE_SIZE, 7)
    assert len({host.pk for host in first.rows + second.rows}) == PAGE_SIZE + 7
    assert second.next_url == ""
    assert second.first_url == "?archived=1"


def test_htmx_gets_a_url_without_the_empty_filters(signed_in: Client) -> None:
    response = signed_in.get("/hosts?q=&status=answered&mode=", headers={"HX-Request": "true"})
    assert response["HX-Push-Url"] == "/hosts?status=answered"


def test_the_form_offers_a_random_token_and_the_command_that_uses_it(signed_in: Client) -> None:
    first, second = (signed_in.get("/hosts/new") for _ in range(2))
    token = first.context["form"]["token"].value()
    assert len(token) == 43
    assert token != second.context["form"]["token"].value()
    command = first.context["command"].text
    assert f"printf '%s\\n' {token} > benchweb-engine-token" in command
    assert "./benchweb-engine serve --listen 0.0.0.0:7410 --data-port 7411" in command


def test_the_command_follows_the_port_and_quotes_the_token(signed_in: Client) -> None:
    typed = {"control_address": "192.0.2.10:7500", "token": "a'b; rm -rf /"}
    command = signed_in.post("/hosts/command", typed).context["command"].text
    assert "--listen 0.0.0.0:7500 --data-port 7501" in command
    # Beside an engine at the port that most have: neither takes the other's files.
    assert "--state-dir benchweb-engine-7500-state --token-file benchweb-engine-7500-token" in command
    assert """printf '%s\\n' 'a'"'"'b; rm -rf /' >""" in command


def test_a_host_is_added_with_its_first_endpoint(signed_in: Client) -> None:
    response = signed_in.post("/hosts/new", NEW_HOST)
    host = Host.objects.get()
    assert response.headers["Location"] == f"/hosts/{host.pk}"
    endpoint = host.endpoints.get()
    assert (host.name, host.description) == ("alder", "rack 4")
    assert (endpoint.control_address, endpoint.data_address) == ("192.0.2.10:7500", "10.0.0.10")
    assert (endpoint.network_mode, endpoint.bind_device, endpoint.name) == ("terway", "eth1", "")
    assert decrypted(endpoint.token_encrypted) == "a-token-of-the-engine"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("name", "", "Host&#x27;s name is required."),
        ("name", "x" * 101, "at most 100 characters"),
        ("control_address", "", "Engine&#x27;s address is required."),
        ("control_address", "192.0.2.10:99999", "has no valid port"),
        ("control_address", "https://192.0.2.10:7410", "is a URL: write HOST:PORT alone"),
        ("control_address", "224.0.0.1:7410", "is no single host&#x27;s address"),
        ("data_address", "not an address", "is neither a host name nor an IP address"),
        ("network_mode", "", "Network mode is required."),
        ("bind_device", "a-device-name-that-is-long", "at most 15 characters"),
        ("fingerprint", "sha256:1234", "is not one: a fingerprint is sha256: and 64 hexadecimal digits"),
    ],
)
def test_a_refused_host_changes_nothing_and_keeps_what_was_typed(
    signed_in: Client, field: str, value: str, message: str
) -> None:
    response = signed_in.post("/hosts/new", NEW_HOST | {field: value})
    text = response.content.decode()
    assert response.status_code == 200
    assert message in text
    assert response.context["form"].errors.keys() == {field}
    assert all(response.context["form"][name].value() == typed for name, typed in (NEW_HOST | {field: value}).items())
    assert "a-token-of-the-engine" in response.context["command"].text
    assert (Host.objects.count(), Endpoint.objects.count()) == (0, 0)


def test_a_host_is_renamed(signed_in: Client) -> None:
    host = host_create(name="alder")
    response = signed_in.post(f"/hosts/{host.pk}/edit", {"name": "birch", "description": "new"})
    assert response.headers["Location"] == f"/hosts/{host.pk}"
    host.refresh_from_db()
    assert (host.name, host.description) == ("birch", "new")


def test_a_host_without_a_name_stays_as_it_was(signed_in: Client) -> None:
    host = host_create(name="alder")
    text = signed_in.post(f"/hosts/{host.pk}/edit", {"name": " ", "description": "kept"}).content.decode()
    assert "Name is required." in text
    assert "kept" in text
    host.refresh_from_db()
    assert (host.name, host.description) == ("alder", "")


def test_archiving_names_what_goes_and_what_stays_and_asks_first(signed_in: Client) -> None:
    pair = make_pair()
    host = pair.source.host
    text = signed_in.get(f"/hosts/{host.pk}/archive").content.decode()
    assert "Also archived: 1 endpoint and 1 pair." in text
    assert "Kept, with results and links: 0 runs." in text
    host.refresh_from_db()
    assert host.archived_at is None


def test_an_archived_host_leaves_the_list_with_its_pairs_and_comes_back(signed_in: Client) -> None:
    pair = make_pair()
    host = pair.source.host
    assert signed_in.post(f"/hosts/{host.pk}/archive").headers["Location"] == "/hosts"
    assert host.name not in [row.name for row, *_ in signed_in.get("/hosts").context["rows"]]
    assert [row.name for row, *_ in signed_in.get("/hosts?archived=1").context["rows"]] == [host.name]
    assert Pair.objects.filter(archived_at=None).count() == 0
    assert "Restore" in signed_in.get(f"/hosts/{host.pk}").content.decode()
    signed_in.post(f"/hosts/{host.pk}/restore")
    assert host.name in [row.name for row, *_ in signed_in.get("/hosts").context["rows"]]


def test_archiving_twice_keeps_the_first_time(signed_in: Client) -> None:
    host = host_create(name="alder")
    archive(row=host)
    first = Host.objects.get().archived_at
    signed_in.post(f"/hosts/{host.pk}/archive")
    assert Host.objects.get().archived_at == first


@pytest.mark.parametrize("path", ["restore", "command"])
def test_what_changes_something_refuses_a_link(signed_in: Client, path: str) -> None:
    host = host_create(name="alder")
    url = f"/hosts/{host.pk}/restore" if path == "restore" else "/hosts/command"
    assert signed_in.get(url).status_code == 405


def test_facts_and_names_on_the_page_are_escaped(signed_in: Client) -> None:
    pair = make_pair(source=make_endpoint(host_name="<i>alder"))
    run = make_run(pair=pair, name="<i>plan")
    Run.objects.filter(pk=run.pk).update(state="failed", reason="no route to <i>birch")
    document = {"kernel": "<i>6.6.1", "sysctls": {"<i>rmem": 1}, "missing": ["<i>speed of eth0"]}
    facts_record(endpoint_id=pair.source_id, document=document, at=timezone.now())
    text = signed_in.get(f"/hosts/{pair.source.host_id}").content.decode()
    for told in ("alder", "plan", "6.6.1", "rmem", "speed of eth0", "birch"):
        assert f"&lt;i&gt;{told}" in text
    assert "<i>" not in text
