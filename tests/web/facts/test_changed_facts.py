"""Facts that differ between runs: only those, the telling ones first, once for both hosts."""

from typing import Any

from benchweb.web.facts.diff import ChangedFact, HostFacts, changed_facts

HOST: dict[str, Any] = {
    "hostname": "a",
    "kernel": "6.1",
    "boot_id": "one",
    "cpu": {"model": "X", "governor": "powersave"},
    "interfaces": [{"name": "eth0", "mtu": 1500, "offloads": {"gro": True, "gso": True, "tso": True, "lro": False}}],
}


def told(document: dict[str, Any], endpoint: int = 1) -> HostFacts:
    return HostFacts(endpoint, document)


def test_equal_facts_are_left_out() -> None:
    assert changed_facts([told(HOST)] * 3, [told(HOST)] * 3) == []


def test_the_telling_ones_come_first_and_both_hosts_share_a_line_where_they_tell_the_same() -> None:
    after = HOST | {"kernel": "6.6", "cpu": {"model": "Y", "governor": "performance"}, "boot_id": "two"}
    (kernel, boot, governor, model) = changed_facts([told(HOST), told(after)], [told(HOST), told(after)])
    assert kernel == ChangedFact("Kernel", "both", ["6.1", "6.6"])
    assert (boot.label, governor.label, governor.values) == ("Boot id", "Governor", ["powersave", "performance"])
    assert (model.label, model.changed) == ("CPU", [False, True])


def test_each_host_has_its_own_line_where_only_one_changed() -> None:
    (fact,) = changed_facts([told(HOST), told(HOST)], [told(HOST), told(HOST | {"kernel": "6.6"})])
    assert fact == ChangedFact("Kernel", "sink", ["6.1", "6.6"])


def test_of_offloads_only_those_are_told_that_not_all_have() -> None:
    interface = HOST["interfaces"][0] | {"mtu": 9000, "offloads": {"gro": True, "gso": False, "tso": True, "lro": True}}
    hosts = [told(HOST), told(HOST | {"interfaces": [interface]})]
    assert changed_facts(hosts, [told(HOST)] * 2) == [
        ChangedFact("eth0 MTU", "source", ["1500 B", "9000 B"]),
        ChangedFact("eth0 Offloads on", "source", ["gso", "lro"]),
    ]


def test_two_machines_always_differ_in_name_and_boot_which_is_nothing_to_mark() -> None:
    other = HOST | {"hostname": "b", "boot_id": "other"}
    assert changed_facts([told(HOST, 1), told(other, 2)], [told(HOST)] * 2) == []


def test_a_run_whose_facts_are_not_known_marks_nothing() -> None:
    assert changed_facts([told(HOST), told({})], [told(HOST), told({})]) == []
    upgraded = HOST | {"kernel": "6.6"}
    (fact,) = changed_facts([told(HOST), told({}), told(upgraded)], [told(HOST)] * 3)
    assert (fact.values, fact.changed) == (["6.1", "", "6.6"], [False, False, True])


def test_of_a_list_that_only_grew_the_shorter_one_says_what_it_lacks() -> None:
    interface = HOST["interfaces"][0] | {"offloads": {"gro": True, "gso": True, "tso": True, "lro": True}}
    (fact,) = changed_facts([told(HOST), told(HOST | {"interfaces": [interface]})], [told(HOST)] * 2)
    assert fact.values == ["without lro", "lro"]


def test_a_list_in_another_order_is_the_same() -> None:
    before = HOST | {"congestion_controls_available": ["reno", "cubic"]}
    after = HOST | {"congestion_controls_available": ["cubic", "reno"]}
    assert changed_facts([told(before), told(after)], [told(HOST)] * 2) == []


def test_of_an_interface_that_one_run_had_not_the_other_tells_all() -> None:
    loopback = {"name": "lo", "mtu": 65536, "addresses": ["127.0.0.1", "::1"], "offloads": {"gro": True, "tso": True}}
    hosts = [told(HOST | {"interfaces": [*HOST["interfaces"], loopback]}), told(HOST)]
    assert [(fact.label, fact.values) for fact in changed_facts(hosts, [told(HOST)] * 2)] == [
        ("lo MTU", ["65536 B", ""]),
        ("lo Offloads on", ["gro, tso", ""]),
        ("lo Addresses", ["127.0.0.1, ::1", ""]),
    ]
