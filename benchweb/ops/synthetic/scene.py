"""The hosts, modes and environments of synthetic history, and what the paths between are like: pure, no ORM."""

from dataclasses import dataclass
from itertools import permutations, product

from benchweb.ops.synthetic.shapes import LINK_BPS, SyntheticPath

NAME = "Synthetic"
# The environment that a new installation has, and its hosts: few enough to see each.
SAMPLE = "Sample"
SAMPLE_HOSTS = 4
MODES = ("host", "terway", "terway-eni")
_MODE_SPEED = {"host": 1.0, "terway": 0.78, "terway-eni": 0.95}
_MODE_RTT_SECONDS = {"host": 0.0, "terway": 14e-6, "terway-eni": 3e-6}
# A mesh of so many hosts is an environment of its own.
MESH_HOSTS = 10


@dataclass(frozen=True)
class End:
    """An endpoint to be: its host by number, from 0, and its network mode."""

    host: int
    mode: str


@dataclass(frozen=True)
class Planned:
    """A pair to be, in which environment, and what its path is like."""

    environment: str
    source: End
    sink: End

    @property
    def ends(self) -> tuple[int, int]:
        """Return the hosts of its source and sink, by number."""
        return self.source.host, self.sink.host

    @property
    def path(self) -> SyntheticPath:
        rtt, loss, link_bps = (480e-6, 8e-4, 12e9) if "cross" in self.environment else (52e-6, 1e-4, LINK_BPS)
        speed = _MODE_SPEED[self.source.mode] * _MODE_SPEED[self.sink.mode]
        added = _MODE_RTT_SECONDS[self.source.mode] + _MODE_RTT_SECONDS[self.sink.mode]
        return SyntheticPath(rtt + added, link_bps, 1.5e6 * speed, loss)


def planned_pairs(count: int) -> list[Planned]:
    """Choose pairs: every mode with every mode within a zone, the same across zones, then meshes of hosts."""
    modes = list(product(MODES, MODES))
    chosen = [Planned(f"{NAME}: same zone", End(0, one), End(1, other)) for one, other in modes]
    chosen += [Planned(f"{NAME}: cross zone", End(0, one), End(2, other)) for one, other in modes]
    mesh = 0
    while len(chosen) < count:
        mesh += 1
        hosts = range(3 + (mesh - 1) * MESH_HOSTS, 3 + mesh * MESH_HOSTS)
        # Pairs among few hosts first, so that a part of a mesh is a smaller mesh.
        ends = sorted(permutations(hosts, 2), key=lambda both: (max(both), min(both), both))
        chosen += [Planned(f"{NAME}: mesh {mesh}", End(one, "host"), End(other, "host")) for one, other in ends]
    return chosen[:count]


def sample_pairs() -> list[Planned]:
    """Return the mesh of the sample environment."""
    ends = permutations((End(host, "host") for host in range(SAMPLE_HOSTS)), 2)
    return [Planned(SAMPLE, source, sink) for source, sink in ends]


def host_name(number: int, name: str = NAME) -> str:
    """Name a host so that no list takes it for a real one."""
    return f"{name.lower()}-{number + 1:02}"
