"""A host's uplink shaped to 60 % in a real mesh: one alert that names the host, told once.

Real engines in network namespaces, PostgreSQL, Valkey, worker, beat, a mail server and a webhook's receiver;
bench.regressions.mesh has more slots, and a link of two hosts.
"""

import pytest

from bench.regressions import mesh_story
from bench.regressions.mesh import SHORT, Proof


@pytest.mark.begun_first
@pytest.mark.needs("Rust", "C compiler", "network namespaces", "ethtool", "tc tbf")
def test_a_shaped_uplink_is_one_alert_of_its_host_told_once_and_once_when_it_has_recovered() -> None:
    with Proof(is_moved=True, course=SHORT) as proof:
        story = proof.run()
    assert mesh_story.faults(story, SHORT.expected) == [], "\n".join(story.lines)
