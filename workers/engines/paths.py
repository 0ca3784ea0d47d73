"""Choose the addresses of test traffic: both of one family, and each that there is tried until one answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchweb.catalog.reasons import Reason
from workers.engine_client import EngineRefused
from workers.engine_client.dialing import interleaved, is_ipv6

# An address without an answer costs a trial the engine's time-out of 5 s.
_MOST_PATHS = 4


@dataclass(frozen=True)
class EnginePath:
    """A way of data connections: to `sink`, from `source` where the source is bound to an address, else empty."""

    source: str
    sink: str

    def __str__(self) -> str:
        return f"{self.source} → {self.sink}" if self.source else self.sink


class Paths:
    """The paths of a run: the first that carries a trial is kept to its end."""

    def __init__(self, paths: Sequence[EnginePath]) -> None:
        self._paths = list(paths)
        # Called whenever another path was taken.
        self.on_change: Callable[[], None] = lambda: None
        self.failed: list[EnginePath] = []
        self.current = self._paths[0]

    def advance(self) -> bool:
        """Take the next path; False, and back to the first, when there is none."""
        self.failed.append(self.current)
        has_next = len(self.failed) < len(self._paths)
        self._take(self._paths[len(self.failed)] if has_next else self._paths[0])
        if not has_next:
            self.failed.clear()
        return has_next

    def settle(self) -> None:
        """Keep the current path from now on."""
        self._paths = [self.current]
        self.failed.clear()

    def _take(self, path: EnginePath) -> None:
        if path != self.current:
            self.current = path
            self.on_change()


def paths_between(
    *, source: Sequence[str], sink: Sequence[str], is_bound: bool, names: tuple[str, str]
) -> list[EnginePath]:
    """Return the paths from a source's addresses to a sink's, the likeliest first; raise EngineRefused for none.

    A source that isn't bound sends from what its kernel chooses: its addresses only tell which families it has.
    """
    families = {is_ipv6(address) for address in source}
    same = [address for address in interleaved(sink) if is_ipv6(address) in families]
    if is_bound:
        paths = [EnginePath(next(address for address in source if is_ipv6(address) == is_ipv6(to)), to) for to in same]
    else:
        paths = [
            EnginePath("", to) for to in [*same, *(address for address in interleaved(sink) if address not in same)]
        ]
    if not paths:
        addresses = {"source": ", ".join(source), "sink": ", ".join(sink)}
        endpoints = dict(zip(("source_endpoint", "sink_endpoint"), names, strict=True))
        raise EngineRefused(Reason("no_common_family", **endpoints, **addresses), code="family")
    return paths[:_MOST_PATHS]
