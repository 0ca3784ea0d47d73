"""The facts of two hosts beside each other: nothing that one of them tells is lost."""

from benchweb.web.facts_diff import FactsLine, facts_side_by_side


def test_all_that_a_host_does_not_tell_is_listed() -> None:
    source = {"kernel": "6.1.0", "missing": ["speed of eth0: the driver tells none", "governor: no cpufreq"]}
    sink = {"kernel": "6.6.0", "missing": ["governor: no cpufreq"]}
    system, missing = facts_side_by_side(source, sink)
    assert system.lines == [FactsLine("Kernel", "6.1.0", "6.6.0", differs=True)]
    assert [(line.source, line.sink) for line in missing.lines] == [
        ("speed of eth0: the driver tells none", ""),
        ("governor: no cpufreq", "governor: no cpufreq"),
    ]
