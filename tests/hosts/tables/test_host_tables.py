"""Tables of hosts as people paste them: read by line, tried, and added all or none."""

import pytest

from benchweb.hosts.models import Endpoint, Host
from benchweb.hosts.tables.adding import hosts_add
from benchweb.hosts.tables.reading import MAXIMUM_CHARACTERS, MAXIMUM_LINES, host_table
from benchweb.site.secrets import decrypted
from tests.factories import make_endpoint

FINGERPRINT = "sha256:" + "a" * 64


def cells(text: str) -> list[dict[str, str]]:
    table = host_table(text)
    assert table.faults == []
    return [line.cells for line in table.lines]


@pytest.mark.parametrize(
    "text",
    [
        "name,address,labels\nalder,192.0.2.1,rack-7\nbirch,192.0.2.2,",
        "name;address;labels\nalder;192.0.2.1;rack-7\nbirch;192.0.2.2;",
        "name\taddress\tlabels\r\nalder\t192.0.2.1\track-7\r\nbirch\t192.0.2.2\t\r\n",
        "| Host | IP address | Tags |\n|---|:--|--:|\n| alder | 192.0.2.1 | rack-7 |\n| birch | 192.0.2.2 | |",
        '\ufeff"Host name", Engine , label\n"alder", 192.0.2.1 ,"rack-7"\n\n# the new one\nbirch, 192.0.2.2,',
    ],
    ids=["comma", "semicolon", "tab", "markdown", "quoted"],
)
def test_a_table_with_a_heading_is_read_whatever_parts_its_cells(text: str) -> None:
    assert cells(text) == [
        {"name": "alder", "address": "192.0.2.1", "labels": "rack-7"},
        {"name": "birch", "address": "192.0.2.2"},
    ]


def test_without_a_heading_the_columns_have_their_order() -> None:
    assert cells("alder 192.0.2.1:7420") == [{"name": "alder", "address": "192.0.2.1:7420"}]
    assert cells("alder,192.0.2.1,a;b,terway,10.0.0.1") == [
        {
            "name": "alder",
            "address": "192.0.2.1",
            "data address": "10.0.0.1",
            "network mode": "terway",
            "labels": "a;b",
        }
    ]
    assert cells("\n  \n# nothing\n") == []


def test_faults_name_their_line_and_column() -> None:
    table = host_table("name,address\nalder,192.0.2.1\n,192.0.2.2\nbirch,\ncedar,192.0.2.3,more\n")
    assert [(fault.number, fault.column) for fault in table.faults] == [(3, "name"), (4, "address"), (5, "")]
    assert table.faults[2].message == "The line has 3 cells, the table 2 columns."
    (unknown,) = host_table("name,address,colour\nalder,192.0.2.1,red").faults
    assert (unknown.number, "'colour' is no column" in unknown.message) == (1, True)


def test_tables_are_bounded() -> None:
    lines = "\n".join(f"host-{number},192.0.2.1:{number}" for number in range(1, MAXIMUM_LINES + 2))
    assert host_table(lines).faults[0].message == "501 lines are too many; at most 500 are possible: split the table."
    assert "more than 200,000 characters" in host_table("a" * (MAXIMUM_CHARACTERS + 1)).faults[0].message


def test_hosts_are_added_with_endpoints_labels_and_tokens_of_their_own(db: None) -> None:
    text = (
        "name,address,data address,network mode,labels,endpoint,token,fingerprint,description,uplink,device\n"
        f"alder,192.0.2.1,10.0.0.1,host,rack-7; nightly,bare,secret,{FINGERPRINT},ours,site-a,eth1\n"
        "Alder,192.0.2.1:7420,,terway,,pod\n"
        "birch,192.0.2.2\n"
    )
    outcome = hosts_add(host_table(text), keep=True)
    assert (outcome.faults, outcome.host_count) == ([], 2)
    assert [(line.number, line.is_new_host) for line in outcome.added] == [(2, True), (3, False), (4, True)]
    alder, birch = Host.objects.order_by("name")
    assert (alder.labels, alder.description, alder.uplink) == (["rack-7", "nightly"], "ours", "site-a")
    bare, pod = alder.endpoints.order_by("pk")
    assert (bare.name, bare.data_address, bare.bind_device, bare.fingerprint) == (
        "bare",
        "10.0.0.1",
        "eth1",
        FINGERPRINT,
    )
    assert (pod.control_address, pod.network_mode) == ("192.0.2.1:7420", "terway")
    tokens = [decrypted(endpoint.token_encrypted) for endpoint in Endpoint.objects.order_by("pk")]
    assert tokens[0] == "secret" and len(set(tokens)) == 3 and all(len(token) > 40 for token in tokens[1:])
    assert birch.endpoints.get().network_mode == "host"


def test_a_preview_and_a_table_with_a_fault_keep_nothing(db: None) -> None:
    taken = make_endpoint(host_name="birch", control_address="192.0.2.9:7410")
    text = "name,address\nalder,192.0.2.1\nBIRCH,192.0.2.2\ncedar,192.0.2.9\ndogwood,a b\n"
    for keep in (True, False):
        outcome = hosts_add(host_table(text), keep=keep)
        assert [(fault.number, fault.column) for fault in outcome.faults] == [
            (3, "name"),
            (4, "address"),
            (5, "address"),
        ]
        assert f"birch ({taken.host_id})" in outcome.faults[0].message
        assert f"birch ({taken.host_id}) has this address" in outcome.faults[1].message
        assert [line.number for line in outcome.added] == [2]
        assert Host.objects.get() == taken.host
    assert hosts_add(host_table("alder,192.0.2.1"), keep=False).host_count == 1
    assert Host.objects.get() == taken.host


def test_two_lines_of_one_address_are_refused_as_two_hosts_would_be(db: None) -> None:
    (fault,) = hosts_add(host_table("alder,192.0.2.1\nbirch,192.0.2.1"), keep=True).faults
    assert (fault.number, fault.column) == (2, "address")
    assert not Host.objects.exists()
