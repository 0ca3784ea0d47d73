"""The indicators of an endpoint in one period: figures, what each rests on, and why one is missing."""

from dataclasses import dataclass, replace
from datetime import datetime
from math import floor

from django.utils.translation import gettext_noop, pgettext

from benchweb.catalog.translation import reason_text
from benchweb.common.formatting import Quantity, duration, quantity
from benchweb.hosts.probing.availability import ENGINE_DOWN, UNKNOWN, Availability
from benchweb.hosts.probing.indicators import Hour, ProbedMean, indicators
from benchweb.web.hosts.availability.watched import Watched
from benchweb.web.hosts.availability.words import Texts

LABELS = (
    gettext_noop("Availability"),
    gettext_noop("Response time"),
    gettext_noop("CPU utilisation"),
    gettext_noop("Bandwidth used, received"),
    gettext_noop("Bandwidth used, sent"),
    gettext_noop("Bandwidth left to receive"),
    gettext_noop("Bandwidth left to send"),
)
_NINES_FROM_PERCENT = 99
_LITTLE_KNOWN = 0.5
_OLD_ENGINE = gettext_noop("not reported: the engine's version is too old to report its host's load")
_NO_LINK = gettext_noop("the kernel reports no link speed, or no interface has the address of the test traffic")
_NO_INTERFACE = gettext_noop("no interface of the host has the address of the test traffic")


@dataclass(frozen=True)
class IndicatorCell:
    """An indicator in one period: a figure, what it rests on, and why it is missing."""

    figure: Quantity | None
    basis: str = ""
    reason: str = ""
    # Of most of the period nothing is known.
    is_little_known: bool = False


def column_of(watched: Watched, begin: datetime, load: Hour | None, texts: Texts) -> list[IndicatorCell]:
    """Return an endpoint's indicators since a time, in the order of the labels."""
    figures = indicators([load] if load else [], watched.endpoint.link_bps)
    availability = watched.since(begin)
    of_entered = texts.as_entered if figures.is_link_entered else ""
    silent, last_word = ("", "") if figures.response_seconds else _silence(watched, availability, figures.probes, texts)
    # The engine says nothing of its host's load, its host has no interface with the address, the kernel no speed.
    no_load = silent or _OLD_ENGINE
    no_traffic = no_load if figures.cpu_ratio is None else _NO_INTERFACE
    no_link = no_load if figures.received_bps is None else _NO_LINK
    return [
        availability_cell(availability, texts, probes=figures.probes, begin=begin, reason=watched.unknown_reason()),
        _measured_cell(figures.response_seconds, "s", silent + last_word, texts),
        _measured_cell(figures.cpu_ratio, "ratio", no_load, texts),
        _measured_cell(figures.received_bps, "bit/s", no_traffic, texts),
        _measured_cell(figures.sent_bps, "bit/s", no_traffic, texts),
        _noted_cell(_measured_cell(figures.left_to_receive_bps, "bit/s", no_link, texts), of_entered),
        _noted_cell(_measured_cell(figures.left_to_send_bps, "bit/s", no_link, texts), of_entered),
    ]


def _silence(watched: Watched, availability: Availability, probes: int, texts: Texts) -> tuple[str, str]:
    """Say why no probe of a time brought an engine's answer, and what the last of them met."""
    if not probes:
        return watched.unknown_reason(), ""
    last = next((stretch for stretch in reversed(availability.stretches) if stretch.state != UNKNOWN), None)
    sentence = texts.invalid if last and last.state == ENGINE_DOWN else texts.unanswered
    return sentence, pgettext("before a figure", ": ") + reason_text(last.reason) if last and last.reason else ""


def availability_cell(
    availability: Availability, texts: Texts, *, probes: int, begin: datetime, reason: str
) -> IndicatorCell:
    """Return the share of the known time in which it answered, and how much is known."""
    ratio, known = availability.ratio, availability.known_ratio
    if ratio is None or known is None:
        return IndicatorCell(None, reason=reason)
    count = f"n={probes:,} · " if probes else ""
    # A per cent of a month is seven hours: less is told as a time.
    is_little_known = known < _LITTLE_KNOWN
    figure = duration(availability.known_seconds) if is_little_known else availability_figure(known)
    is_whole = availability.stretches[0].since <= begin
    known_text = texts.known if is_whole else texts.known_since
    basis = (texts.little_known if is_little_known else known_text).format(count=count, figure=figure)
    return IndicatorCell(availability_figure(ratio), basis, is_little_known=is_little_known)


def availability_figure(ratio: float) -> Quantity:
    """Return a ratio in per cent, cut and not rounded: 100 % is said of no time with a break.

    Three significant digits, but from 99 % on three decimals: there the nines are what one reads.
    """
    # A sum of many spans lacks some of its last digits: that is no break.
    percent = round(ratio * 100, 7)
    decimals = 3 if percent >= _NINES_FROM_PERCENT or percent < 1 else 2 if percent < 10 else 1
    cut = floor(round(percent * 10**decimals, 4)) / 10**decimals
    return Quantity(f"{cut:.{decimals}f}".rstrip("0").rstrip("."), "%", f"{ratio:.9g}")


def _measured_cell(measured: ProbedMean | None, unit: str, reason: str, texts: Texts) -> IndicatorCell:
    if measured is None:
        return IndicatorCell(None, reason=reason)
    extremes = [f"{texts.least} {quantity(measured.least, unit)}"] if measured.least is not None else []
    extremes += [f"{texts.most} {quantity(measured.most, unit)}"] if measured.most is not None else []
    return IndicatorCell(quantity(measured.mean, unit), " · ".join([texts.mean, *extremes, f"n={measured.n:,}"]))


def _noted_cell(cell: IndicatorCell, note: str) -> IndicatorCell:
    """Say more of what a figure rests on, where there is one."""
    return replace(cell, basis=f"{cell.basis} · {note}") if note and cell.figure is not None else cell
