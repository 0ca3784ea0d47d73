"""The facts of two hosts beside each other: nothing that one of them tells is lost."""

from benchweb.web.facts.diff import FactsLine, facts_side_by_side
from benchweb.web.facts.page import facts_groups


def test_all_that_a_host_does_not_tell_is_listed() -> None:
    source = {"kernel": "6.1.0", "missing": ["speed of eth0: the driver tells none", "governor: no cpufreq"]}
    sink = {"kernel": "6.6.0", "missing": ["governor: no cpufreq"]}
    system, missing = facts_side_by_side(source, sink)
    assert system.lines == [FactsLine("Kernel", "6.1.0", "6.6.0", differs=True)]
    assert [(line.source, line.sink) for line in missing.lines] == [
        ("speed of eth0: the driver tells none", ""),
        ("governor: no cpufreq", "governor: no cpufreq"),
    ]


def test_limits_of_a_control_group_and_the_interface_beneath_are_facts_like_others() -> None:
    document = {
        "control_group": {"cpu_quota": 0.5, "cpuset": "0,2-3", "memory_limit_bytes": 256 * 2**20},
        "interfaces": [{"name": "br0", "speed_bps": 1_000_000_000, "physical": ["eth0"]}],
    }
    machine, bridge = facts_groups(document)
    assert machine.lines == [
        ("CPU quota of the control group", "0.5 CPU"),
        ("CPUs of the control group", "0,2-3"),
        ("Memory limit of the control group", "256 MiB"),
    ]
    assert bridge.lines == [("Speed", "1 Gbit/s"), ("Physical interfaces", "eth0")]
