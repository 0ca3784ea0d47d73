"""Everything that one trial's result tells, prepared for a page; nothing here knows a kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from benchweb.catalog import Metric, catalog
from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.translation import reason_text
from benchweb.charts.lines import has_both_ends
from benchweb.charts.run.figures import Grid, TrialFigure, figure, grid, is_number
from benchweb.charts.run.verdict import flag_words, limit_words
from benchweb.results.ingest import LAW
from benchweb.results.models import Result

# A page of this many flows stays readable; the JSON has all of them.
FLOWS_DISPLAYED = 100
# The same of so many cells of intervals; their CSV has all of them.
INTERVAL_CELLS_DISPLAYED = 800
OUTAGES_DISPLAYED = 10
_DIRECTIONS = {"forward": gettext_noop("source to sink"), "reverse": gettext_noop("sink to source")}
_ENDS = ("source", "sink")
_SENT = ("send_throughput_bps", "send_packets_per_second", "sent_packets")
# As the engine has it: what of the sent may be in buffers.
_CEILING_MARGIN = 1.02
_FAMILIES = {"ipv4": "IPv4", "ipv6": "IPv6"}
# Each of them as sar has it: rxpck/s, txpck/s, rxkB/s, txkB/s.
_INTERFACE_RATES = {
    "source": [
        ("rx_packets", gettext_noop("Interface packets received, source host"), "pkt/s"),
        ("tx_packets", gettext_noop("Interface packets sent, source host"), "pkt/s"),
        ("rx_bytes", gettext_noop("Interface bytes received, source host"), "B/s"),
        ("tx_bytes", gettext_noop("Interface bytes sent, source host"), "B/s"),
    ],
    "sink": [
        ("rx_packets", gettext_noop("Interface packets received, sink host"), "pkt/s"),
        ("tx_packets", gettext_noop("Interface packets sent, sink host"), "pkt/s"),
        ("rx_bytes", gettext_noop("Interface bytes received, sink host"), "B/s"),
        ("tx_bytes", gettext_noop("Interface bytes sent, sink host"), "B/s"),
    ],
}
# A name that is its unit alone says nothing behind a label.
_OWN_NAMES = {"seconds": "window_seconds", "other_cpus": "CPU_of_other_programs_cpus"}
# The engine adds what may have passed between its two readings: its protocol's name doesn't say so.
_INTERFACE_NAMES = {f"test_{way}_bytes": f"test_{way}_at_most_bytes" for way in ("rx", "tx")}
_FLOW_NAMES = {"bytes": "received_bytes", "reverse_bytes": "received_in_reverse_bytes"}
_BACKGROUND_NAMES = {"seconds": "look_back_seconds"}


@dataclass(frozen=True)
class LimitDetail:
    """What limited one direction, and the figures that speak for it."""

    direction: str
    verdict: str
    summary: str
    evidence: list[TrialFigure]


@dataclass(frozen=True)
class HostDetail:
    """One host over the measured window; `before` is what it did in quiet times before the session."""

    end: str
    figures: list[TrialFigure]
    before: list[TrialFigure]
    cores: Grid
    interfaces: Grid


@dataclass(frozen=True)
class TrialDetail:
    """One trial's result as its page shows it."""

    metrics: list[tuple[Metric, float]]
    limits: list[LimitDetail]
    flags: list[tuple[str, str]]
    hosts: list[HostDetail]
    flows: Grid
    intervals: Grid
    # Between which the traffic went, each with its label; empty of a result of before.
    addresses: list[tuple[str, str]]
    # Metrics of what was sent that the link can't have carried.
    handed_over: frozenset[str]

    @property
    def has_evidence(self) -> bool:
        """Say whether any verdict has its figures; they go with a run's details."""
        return any(limit.evidence for limit in self.limits)

    @property
    def has_both_ends(self) -> bool:
        """Say whether the figures tell both what was sent and what was received."""
        return has_both_ends(metric for metric, _value in self.metrics)


def trial_detail(kind: str, result: Result) -> TrialDetail:
    """Prepare a result; it was checked when it was taken in, what is absent stays absent."""
    document = result.document
    known = catalog().kinds[kind].metrics if kind in catalog().kinds else {}
    return TrialDetail(
        metrics=[(metric, result.metrics[key]) for key, metric in known.items() if key in result.metrics],
        limits=[_limit(limit) for limit in document.get("limits") or result.limits],
        flags=[(flag, _explained(flag, document)) for flag in result.flags],
        hosts=[_host(end, window) for end in _ENDS if (window := (document.get("hosts") or {}).get(end))],
        flows=_flows(document.get("flows") or []),
        intervals=_intervals(document.get("intervals") or []),
        addresses=_addresses(document.get("addresses") or {}),
        handed_over=_handed_over(result.metrics, result.flags),
    )


# Where a result says what still arrives.
_LARGEST = {"black_hole": "largest_payload_bytes", "reverse_black_hole": "largest_reverse_payload_bytes"}


def _explained(flag: str, document: Mapping[str, Any]) -> str:
    """Say what a flag means, of an outage when it was, and of a path at fault what was seen."""
    words = flag_words(flag)
    largest = document.get(_LARGEST.get(flag, ""))
    if largest:
        return _("{words} (packets over {bytes} bytes don't arrive)").format(words=words, bytes=f"{largest:,}")
    if flag == LAW and (law := document.get(LAW)):
        return _("{words} ({in_flight} in flight by rate and latency, and the depth is {depth})").format(
            words=words, in_flight=f"{law['in_flight']:,.4g}", depth=f"{law['depth']:,.6g}"
        )
    if flag == "udp_blocked" and (hellos := document.get("unanswered_hellos")):
        return _("{words} (none of {count} UDP hellos was answered)").format(words=words, count=hellos)
    if flag == "replies_from_elsewhere" and (others := document.get("reply_addresses")):
        return _("{words} (from {addresses})").format(words=words, addresses=", ".join(others))
    outages = document.get("outages") or []
    if flag != "outage" or not outages:
        return words
    spans = [f"{outage['from_seconds']:.1f}–{outage['until_seconds']:.1f} s" for outage in outages[:OUTAGES_DISPLAYED]]
    hidden = len(outages) - len(spans)
    more = [_("and {count} more").format(count=hidden)] if hidden else []
    return f"{words} ({pgettext('between parts of a sentence', ', ').join([*spans, *more])})"


def _limit(limit: Mapping[str, Any]) -> LimitDetail:
    return LimitDetail(
        direction=_(_DIRECTIONS.get(limit["direction"], limit["direction"])),
        verdict=limit_words(limit["by"]),
        summary=reason_text(engine_reason(limit["summary"], limit.get("summary_data"))),
        evidence=[
            TrialFigure(_(evidence["what"]), evidence["value"], evidence.get("unit") or "", evidence.get("threshold"))
            for evidence in limit.get("evidence") or []
        ],
    )


def _host(end: str, window: Mapping[str, Any]) -> HostDetail:
    # PostgreSQL keeps no order of keys: names are in alphabetical order everywhere.
    plain = [figure(_OWN_NAMES.get(key, key), value) for key, value in sorted(window.items()) if is_number(value)]
    background = sorted((window.get("background") or {}).items())
    before = [figure(f"background_{_BACKGROUND_NAMES.get(key, key)}", value) for key, value in background]
    frequency = window.get("cpu_frequency_hertz") or []
    bounds = zip((_("Minimum CPU frequency"), _("Maximum CPU frequency")), frequency, strict=False)
    cores = [(str(number), dict(sorted(core.items()))) for number, core in enumerate(window.get("cores") or [])]
    interfaces = [
        (
            _interface_name(interface),
            {_INTERFACE_NAMES.get(key, key): value for key, value in sorted(interface.items())},
        )
        for interface in window.get("interfaces") or []
    ]
    return HostDetail(
        end=end,
        figures=[*plain, *(TrialFigure(label, value, "Hz") for label, value in bounds)],
        before=before,
        cores=grid(cores, unit="ratio"),
        interfaces=grid(interfaces),
    )


def _interface_name(interface: Mapping[str, Any]) -> str:
    return (
        _("{interface} (carried the test)").format(interface=interface["name"])
        if interface.get("carries_test")
        else interface["name"]
    )


def _flows(flows: list[dict[str, Any]]) -> Grid:
    rows = []
    for flow in flows[:FLOWS_DISPLAYED]:
        nested = {
            f"{end}_{key}": value for end in _ENDS for key, value in sorted((flow.get(f"{end}_tcp") or {}).items())
        }
        granted = {f"{key}_bytes": value for key, value in sorted((flow.get("granted") or {}).items())}
        counts = {_FLOW_NAMES[key]: value for key, value in flow.items() if key in _FLOW_NAMES and value}
        rows.append((str(flow.get("index", "")), counts | nested | granted))
    return grid(rows, hidden=len(flows) - len(rows))


def _intervals(intervals: list[dict[str, Any]]) -> Grid:
    """Return a row per interval, in the order of time; what one lacks is missing there."""
    known = catalog().metrics
    measured = {key for interval in intervals for key in interval.get("metrics") or {}}
    keys = [key for key in known if key in measured]
    columns = [(known[key].label, known[key].unit) for key in keys]
    counted = _interface_columns(intervals)
    columns += [(label, unit) for _key, _end, label, unit in counted]
    most = INTERVAL_CELLS_DISPLAYED // max(len(columns), 1)
    listed = sorted(intervals, key=lambda interval: interval["start_seconds"])[:most]
    rows = [
        (
            _span(interval),
            [(interval.get("metrics") or {}).get(key) for key in keys]
            + [_interface_rate(interval, end, key) for key, end, _label, _unit in counted],
        )
        for interval in listed
    ]
    return Grid(columns, rows, hidden=len(intervals) - len(listed))


def _interface_columns(intervals: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, str]]:
    """Return what the intervals tell of interfaces, as `sar -n DEV` does: count, end, label and unit of its rate."""
    ends = [end for end in _ENDS if any((interval.get("interfaces") or {}).get(end) for interval in intervals)]
    return [(key, end, _(label), unit) for end in ends for key, label, unit in _INTERFACE_RATES[end]]


def _interface_rate(interval: Mapping[str, Any], end: str, key: str) -> float | None:
    """Return how many of an interface's packets or bytes there were in a second of an interval."""
    counted = (interval.get("interfaces") or {}).get(end) or {}
    seconds = interval["end_seconds"] - interval["start_seconds"]
    return counted[key] / seconds if key in counted and seconds > 0 else None


def _handed_over(metrics: Mapping[str, float], flags: Sequence[str]) -> frozenset[str]:
    """Return the metrics of what was sent where that is more than the link can carry."""

    def is_beyond(prefix: str) -> bool:
        ceiling = metrics.get(f"{prefix}payload_ceiling_bps", inf)
        return metrics.get(f"{prefix}send_throughput_bps", 0) > _CEILING_MARGIN * ceiling

    beyond = [prefix for prefix in ("", "reverse_") if is_beyond(prefix)]
    if not beyond and "sent_beyond_link" in flags:
        beyond = ["", "reverse_"]
    return frozenset(f"{prefix}{name}" for prefix in beyond for name in _SENT)


def _addresses(flow: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the addresses that the traffic went between; those that were translated on the way beside them."""
    labels = [
        ("source", _("Source address")),
        ("source_seen_by_sink", _("Source address as the sink saw it (NAT)")),
        ("sink", _("Sink address")),
        ("sink_own", _("Sink's own address (NAT)")),
    ]
    family = [(_("Address family"), _FAMILIES.get(flow["family"], flow["family"]))] if flow else []
    return family + [(label, flow[key]) for key, label in labels if flow.get(key)]


def _span(interval: Mapping[str, Any]) -> str:
    span = f"{interval['start_seconds']:.2f}–{interval['end_seconds']:.2f} s"
    if interval.get("drain"):
        return f"{span} {_('after the window')}"
    return f"{span} {_('warm-up')}" if interval.get("warmup") else span
