"""Little's law as a check of rows that tell rate, latency and depth: rate times mean latency is what is in flight."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchweb.toolformats.readings import Reading

# A row further from its depth than this share has figures that don't belong together.
TOLERANCE = 0.05
# Another program's job computes between its operations, or waits to submit: of a queue half may stay empty, and a job
# of one operation at a time has none.
LEAST_OF_A_TOOL = 0.5


@dataclass(frozen=True, slots=True)
class Broken:
    """A row whose rate × latency isn't its depth."""

    iops: float
    latency_mean_seconds: float
    depth: float

    @property
    def in_flight(self) -> float:
        return self.iops * self.latency_mean_seconds

    @property
    def sentence(self) -> str:
        return (
            f"Little's law: {self.iops:,.6g} IOPS × {self.latency_mean_seconds * 1e6:,.9g} µs = "
            f"{self.in_flight:,.4g} in flight, but the depth is {self.depth:,.6g}: these figures don't belong together."
        )


def least_share(depth: float) -> float:
    """Return the share of its depth that another tool's job has in flight at least."""
    return LEAST_OF_A_TOOL if depth > 1 else 0.0


def broken(iops: float, latency_mean_seconds: float, depth: float, *, least: float = 1 - TOLERANCE) -> Broken | None:
    """Return both figures where rate × latency is over `depth` by 5 %, or under its share `least`; else None.

    Source: J. D. C. Little, "A Proof for the Queuing Formula: L = λW", Operations Research 9 (1961).
    """
    if iops <= 0 or latency_mean_seconds <= 0 or depth <= 0:
        return None
    row = Broken(iops, latency_mean_seconds, depth)
    return row if not least * depth <= row.in_flight <= (1 + TOLERANCE) * depth else None


def contradiction(iops: float, latency_mean_seconds: float, depth: float) -> str:
    """Return a sentence with both figures where a row breaks the law, else the empty text."""
    row = broken(iops, latency_mean_seconds, depth, least=least_share(depth))
    return row.sentence if row else ""


def check_together(readings: Sequence[Reading], depth: float) -> None:
    """Remark on readings that were in flight together, such as reads and writes of one job, if they break the law."""
    rows = [(reading.value("iops"), reading.value("latency_mean_seconds")) for reading in readings]
    in_flight = sum(iops * latency for iops, latency in rows if iops is not None and latency is not None)
    total = sum(iops for iops, _ in rows if iops is not None)
    if not total or any(iops is None or latency is None for iops, latency in rows):
        return
    if sentence := contradiction(total, in_flight / total, depth):
        for reading in readings:
            reading.remarks.append(sentence)
