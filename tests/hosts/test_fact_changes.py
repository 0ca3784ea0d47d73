"""What changed on a host, in words."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import translation

from benchweb.hosts.facts.changes import SeenFacts, fact_changes
from benchweb.hosts.facts.differences import differences
from benchweb.hosts.facts.records import facts_reported
from tests.charts.history_rows import DAY, NIGHT

QUOTA = "CPU quota of the control group"


def eth0(**fields: Any) -> dict[str, Any]:
    return {"interfaces": [{"name": "eth0", **fields}]}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"kernel": "6.1", "boot_id": "a"}, {"kernel": "6.8", "boot_id": "b"}, ["kernel 6.1 → 6.8"]),
        ({"kernel": "6.1", "boot_id": "a"}, {"kernel": "6.1", "boot_id": "b"}, ["rebooted"]),
        (
            {"cpu": {"governor": "powersave"}},
            {"cpu": {"governor": "performance"}},
            ["governor powersave → performance"],
        ),
        (eth0(mtu=1500), eth0(mtu=9000), ["MTU 1500 B → 9000 B on eth0"]),
        (eth0(offloads={"tso": True}), eth0(offloads={"tso": False}), ["tso on → off on eth0"]),
        ({"control_group": {"cpu_quota": 0.5}}, {"control_group": {"cpu_quota": 2}}, [f"{QUOTA} 0.5 CPU → 2 CPU"]),
        ({"interfaces": []}, eth0(), ["eth0 added"]),
        ({"sysctls": {"net.core.rmem_max": "1"}}, {"sysctls": {"net.core.rmem_max": "2"}}, ["net.core.rmem_max 1 → 2"]),
        (
            {"default_route": {"name": "eth0", "gateway": "10.0.0.1"}},
            {"default_route": {"name": "eth1", "gateway": "10.0.9.1"}},
            ["default route 10.0.0.1 (eth0) → 10.0.9.1 (eth1)"],
        ),
        ({"kernel": "6.1"}, {"kernel": "6.1", "default_route": {"name": "eth0", "gateway": "10.0.0.1"}}, []),
        # What one of both doesn't tell is missing, no change.
        ({"kernel": "6.1", "clock_source": None}, {"kernel": "6.1", "clock_source": "tsc"}, []),
    ],
)
def test_a_difference_is_said_in_words(before: dict[str, Any], after: dict[str, Any], words: list[str]) -> None:
    assert differences(before, after) == words


def test_facts_that_came_back_are_a_change_too() -> None:
    usual = SeenFacts("usual", NIGHT, NIGHT + 9 * DAY)
    tried = SeenFacts("tried", NIGHT + 3 * DAY, NIGHT + 5 * DAY)
    changes = fact_changes([tried, usual], lambda: {"usual": {"kernel": "6.1"}, "tried": {"kernel": "6.8"}})
    assert [(change.at, change.words) for change in changes] == [
        (NIGHT + 3 * DAY, "kernel 6.1 → 6.8"),
        (NIGHT + 5 * DAY, "kernel 6.8 → 6.1"),
    ]


def test_two_documents_are_read_and_compared_once_in_each_language() -> None:
    # What is kept is the process's.
    one, other = uuid4().hex, uuid4().hex
    rows = [SeenFacts(one, NIGHT, NIGHT + DAY), SeenFacts(other, NIGHT + 2 * DAY, NIGHT + 3 * DAY)]
    documents = {one: {"boot_id": "a"}, other: {"boot_id": "b"}}
    asked = []

    def read() -> dict[str, dict[str, str]]:
        asked.append(1)
        return documents

    for language in ("en", "en", "zh-hans", "zh-hans"):
        with translation.override(language):
            (change,) = fact_changes(rows, read)
            assert change.words == ("rebooted" if language == "en" else "已重启")
    assert len(asked) == 2


def test_one_row_of_facts_is_no_change() -> None:
    assert fact_changes([SeenFacts("usual", NIGHT, NIGHT + timedelta(days=1))], dict) == []


def interfaces(*names: str, **addresses: list[str]) -> dict[str, Any]:
    return {"interfaces": [{"name": name, "addresses": addresses.get(name, [])} for name in names]}


@pytest.mark.parametrize(
    "name",
    [
        "veth12ab34c",
        "tap0",
        "cali0123456789a",
        "flannel.1",
        "cni0",
        "docker0",
        "br-0123456789ab",
        "lxc_health",
        "tunl0",
    ],
)
def test_interfaces_of_containers_and_virtual_machines_are_no_change_of_the_host(name: str) -> None:
    assert differences(interfaces("eth0"), interfaces("eth0", name)) == []
    assert differences(interfaces("eth0", name), interfaces("eth0")) == []


@pytest.mark.parametrize("name", ["eth1", "ens3f0", "bond0", "br0", "vlan5", "wg0", "enp1s0", "eni0"])
def test_interfaces_that_people_set_up_are_a_change(name: str) -> None:
    assert differences(interfaces("eth0"), interfaces("eth0", name)) == [f"{name} added"]


def test_a_virtual_interface_of_the_test_traffic_is_a_change() -> None:
    after = interfaces("eth0", "flannel.1", "veth1", **{"flannel.1": ["10.244.0.1/32"]})
    assert differences(interfaces("eth0"), after, frozenset({"10.244.0.1"})) == ["flannel.1 added"]
    assert differences(interfaces("eth0"), after, frozenset({"192.0.2.1", "veth1"})) == ["veth1 added"]


def test_containers_that_come_and_go_make_no_new_facts() -> None:
    def digest(document: dict[str, Any]) -> str:
        return facts_reported(endpoint_id=1, document=document).digest

    usual = digest(interfaces("eth0", "cni0", cni0=["10.244.0.1/24"]))
    assert digest(interfaces("eth0", "cni0", "veth1", cni0=["10.244.0.1/24"], veth1=["fe80::1/64"])) == usual
    # One with an address may be an endpoint's.
    assert digest(interfaces("eth0", "cni0", cni0=["10.244.1.1/24"])) != usual
