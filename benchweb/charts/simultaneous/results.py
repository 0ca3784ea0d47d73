"""What sources gave together: trial by trial the parts, their sum, how even they were, and the sink's own counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchweb.catalog import Kind, Metric, catalog
from benchweb.charts.simultaneous.rows import SourceTrial, trials_together
from benchweb.results.selectors import TrialRow
from benchweb.runs.models import OPEN_STATES
from benchweb.statistics.simultaneous import (
    Counted,
    Slice,
    Window,
    common_window,
    counted_within,
    fairness,
    rate_within,
    span_of,
)

# Of what a source measured so much may lie outside of the common window.
MOST_OUTSIDE = 0.1
# The sum and the counters are apart by more where other traffic came in, or the counters were read late.
MOST_APART = 0.01
# What an interface counts with each packet beside the payload: Ethernet's header, the address family's, and TCP's with
# its time stamps, or UDP's. Of a datagram in fragments all but the first have no UDP header: 8 bytes of 1,500.
_ETHERNET_BYTES = 14
_FAMILY_BYTES = {"ipv4": 20, "ipv6": 40}
_TCP_BYTES, _UDP_BYTES = 32, 8
_UDP = "udp"
# Rates of several sources add up; a latency doesn't.
_ADDS_UP = ("_bps", "_per_second")


@dataclass(frozen=True)
class SourcePart:
    """What one source gave in the common window, or in its own where there is none; None with its state and reason."""

    run: int
    trial: TrialRow
    value: float | None
    # Of the sum of what is there.
    share: float | None = None
    # What its intervals measured, by the sink's clock.
    course: Sequence[Slice] = ()


@dataclass(frozen=True)
class SinkCounted:
    """What the sink's interfaces counted in the common window, in the direction of the test's data."""

    interfaces: list[str]
    bits_per_second: float
    packets_per_second: float
    # What is left without the headers of all packets.
    payload_bps: float


@dataclass(frozen=True)
class TogetherTrial:
    """One trial of all sources as one result; figures that can't be told are None."""

    index: int
    kind: Kind
    metric: Metric
    parts: list[SourcePart]
    # The sum of the parts that are there; None where the figure doesn't add up.
    sum: float | None
    fairness: float | None
    window: Window | None
    # Whether the sources measured at one time, all but a tenth.
    is_window_held: bool
    sink: SinkCounted | None
    # The sum : the payload that the sink's interface counted.
    sum_per_counted: float | None

    @property
    def trial(self) -> TrialRow:
        """Return the first source's trial: its settings are those of all."""
        return self.parts[0].trial

    @property
    def missing(self) -> list[SourcePart]:
        """Return the parts that gave nothing."""
        return [part for part in self.parts if part.value is None]

    @property
    def is_counted(self) -> bool | None:
        """Tell whether the sink's counters bear the sum out; None where they can't."""
        return None if self.sum_per_counted is None else abs(self.sum_per_counted - 1) <= MOST_APART

    @property
    def is_open(self) -> bool:
        """Tell whether a part may still come."""
        return any(part.trial.state in OPEN_STATES for part in self.parts)

    @property
    def total(self) -> float | None:
        """Return the sum where every source gave its part: a sum without one is no total."""
        return None if self.missing else self.sum


def together_results(campaign_id: int, *, after: int, count: int) -> list[TogetherTrial]:
    """Return the results of so many trials behind the one with the index `after`; one query."""
    trials = trials_together(campaign_id, after=after, count=count)
    kinds = catalog().kinds
    # A kind that left the catalog has no figure to tell.
    return [
        _result(index, kinds[row[0].trial.kind], row) for index, row in trials.items() if row[0].trial.kind in kinds
    ]


def _result(index: int, kind: Kind, sources: Sequence[SourceTrial]) -> TogetherTrial:
    metric = kind.metrics[kind.headline]
    there = [source for source in sources if source.trial.measured and metric.key in source.trial.metrics]
    window = common_window([source.course for source in there])
    values = {source.run: _value(source, metric, window) for source in there}
    adds_up = metric.key.endswith(_ADDS_UP)
    whole = sum(values.values()) if values and adds_up else None
    sink = _sink_counted(kind, there, window) if window and metric.unit == "bit/s" else None
    # What a source sent before it died is in the counters, and in no sum.
    is_disturbed = any(source.run not in values and source.trial.started_at for source in sources)
    ratio = whole / sink.payload_bps if whole is not None and sink and sink.payload_bps > 0 else None
    return TogetherTrial(
        index=index,
        kind=kind,
        metric=metric,
        parts=[_part(source, values, whole) for source in sources],
        sum=whole,
        fairness=fairness(list(values.values())) if adds_up and len(values) > 1 else None,
        window=window,
        is_window_held=_is_held(there, window),
        sink=sink,
        sum_per_counted=None if is_disturbed else ratio,
    )


def _value(each: SourceTrial, metric: Metric, window: Window | None) -> float:
    within = rate_within(each.course, window) if window and metric.key.endswith(_ADDS_UP) else None
    return each.trial.metrics[metric.key] if within is None else within


def _part(each: SourceTrial, values: Mapping[int, float], whole: float | None) -> SourcePart:
    value = values.get(each.run)
    share = value / whole if whole and value is not None else None
    return SourcePart(each.run, each.trial, value, share, each.course)


def _is_held(there: Sequence[SourceTrial], window: Window | None) -> bool:
    spans = [span for source in there if (span := span_of(source.course))]
    longest = max((span.seconds for span in spans), default=0.0)
    return window is not None and window.seconds >= (1 - MOST_OUTSIDE) * longest


def _sink_counted(kind: Kind, there: Sequence[SourceTrial], window: Window) -> SinkCounted | None:
    """Return what the sink's interfaces counted; every source's result has the counters of the same ones."""
    counted: dict[str, Counted] = {}
    for source in there:
        counted = counted_within(source.course, window) | counted
    if not counted:
        return None
    transport = _UDP_BYTES if kind.protocol == _UDP else _TCP_BYTES
    header = _ETHERNET_BYTES + _FAMILY_BYTES.get(there[0].family, 0) + transport
    octets, packets = (sum(column) for column in zip(*counted.values(), strict=True))
    payload = max(0.0, octets - packets * header)
    return SinkCounted(
        sorted(counted), octets * 8 / window.seconds, packets / window.seconds, payload * 8 / window.seconds
    )
