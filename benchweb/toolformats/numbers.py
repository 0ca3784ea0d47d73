"""Printed numbers, exactly: the value by decimal arithmetic, and how many digits stood there."""

import re
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from benchweb.toolformats.readings import Figure

# What tools print where they have no number. netperf prints -1.00 too, where it measured no CPU: its reader knows.
_NOTHING = re.compile(r"[-+]?(?:nan|inf|null|none|n/?a|-+)%?", re.IGNORECASE)
_NO_DIGITS = re.compile(r"[eE].*|[^\d]")
# iperf 3 has printed "5.9e 06": an exponent that lost its sign.
_LOST_SIGN = re.compile(r"(?<=\d)[eE] (?=\d)")
NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+ ]?\d+)?"

_DECIMAL = {"": 0, "k": 3, "m": 6, "g": 9, "t": 12}
_BINARY = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SECONDS = {"ns": -9, "nsec": -9, "us": -6, "usec": -6, "µs": -6, "ms": -3, "msec": -3, "s": 0, "sec": 0, "secs": 0}
# No tool prints an exponent beyond; a hostile one would make a number of a million digits.
_MOST_EXPONENT = 30


def exact(text: str) -> Decimal | None:
    """Return the number as it is written, or None for what says that there is none, or isn't one."""
    cleaned = text.strip().rstrip("%").replace(",", "")
    if " " in cleaned:
        cleaned = _LOST_SIGN.sub("e+", cleaned)
    if not cleaned or _NOTHING.fullmatch(cleaned):
        return None
    try:
        number = Decimal(cleaned)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _MOST_EXPONENT else None


def plain(text: str) -> float | None:
    """Return the number as a float, or None for what isn't one that a tool prints."""
    number = exact(text)
    return None if number is None else float(number)


def _digits(number: str) -> int:
    return max(1, len(_NO_DIGITS.sub("", number).lstrip("0")))


def figure(
    metric: str, text: str, unit: str, *, times: Decimal | int = 1, part: str = "", printed: str = ""
) -> Figure | None:
    """Return `text` times `times` as a figure in `unit`, or None where the tool printed no number.

    `printed` is the text with its unit, where `text` alone doesn't have it.
    """
    number = exact(text)
    if number is None:
        return None
    return Figure(metric, float(number * times), unit, _digits(text), printed or text.strip(), part)


def derived(metric: str, value: float, unit: str, sources: tuple[Figure, ...], part: str = "") -> Figure:
    """Return a figure computed from printed ones, known no better than the one with the fewest digits."""
    return Figure(metric, value, unit, min(source.digits for source in sources), "", part, is_derived=True)


def rate(metric: str, text: str, unit: str, part: str = "") -> Figure | None:
    """Return a rate in bit/s of iperf's units: bits by powers of 1,000, Bytes by powers of 1,024 (its units.c)."""
    is_bits = unit.endswith("bits/sec")
    times = (
        decimal_prefix(unit.removesuffix("bits/sec")) if is_bits else binary_prefix(unit.removesuffix("Bytes/sec")) * 8
    )
    return figure(metric, text, "bit/s", times=times, part=part, printed=f"{text} {unit}")


def amount(metric: str, text: str, unit: str, part: str = "") -> Figure | None:
    """Return an amount in bytes of iperf's units: KBytes are 1,024 bytes."""
    times = binary_prefix(unit.removesuffix("s").removesuffix("Byte"))
    return figure(metric, text, "B", times=times, part=part, printed=f"{text} {unit}")


def losses(jitter_ms: str, lost: int, total: int, part: str = "") -> list[Figure]:
    """Return jitter and losses of datagrams; of none at all nothing is known, and below zero a counter has wrapped."""
    if total <= 0:
        return []
    figures = [
        figure("jitter_seconds", jitter_ms, "s", times=power_of_ten(-3), part=part, printed=f"{jitter_ms} ms"),
        figure("lost_packets", str(lost), "pkt", part=part) if lost >= 0 else None,
        figure("total_packets", str(total), "pkt", part=part),
    ]
    if 0 <= lost <= total:
        ratio = Figure("loss_ratio", lost / total, "ratio", len(str(total)), f"{lost}/{total}", part, is_derived=True)
        figures.append(ratio)
    return [present for present in figures if present]


def percentile_name(percent: str) -> str:
    """Return a percentile as metrics name it: p50 of 50 and 50.000, p999 of 99.9."""
    bare = percent.rstrip("0").rstrip(".") if "." in percent else percent
    return "p" + bare.replace(".", "")


def moment_of_epoch(seconds: float) -> datetime | None:
    """Return when so many seconds since 1970 are; None for what no clock of a test said."""
    return datetime.fromtimestamp(seconds, tz=UTC) if 1e8 < seconds < 1e11 else None


def moment_of_iso(text: str) -> datetime | None:
    """Return the moment of ISO 8601, in UTC where it names no zone; None for another text."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def power_of_ten(exponent: int) -> Decimal:
    return Decimal(1).scaleb(exponent)


def decimal_prefix(letter: str) -> Decimal:
    """Return 10^3 for k, 10^6 for M and so on; raise KeyError for another letter."""
    return power_of_ten(_DECIMAL[letter.lower()])


def binary_prefix(letter: str) -> Decimal:
    """Return 2^10 for k, 2^20 for M and so on; raise KeyError for another letter."""
    return Decimal(1024 ** _BINARY[letter.lower()])


def seconds_of(unit: str) -> Decimal:
    """Return how many seconds one `unit` of time is; raise KeyError for what is no unit of time."""
    lowered = unit.lower().replace("μ", "µ")
    if lowered in {"m", "min", "minutes"}:
        return Decimal(60)
    if lowered in {"h", "hours"}:
        return Decimal(3600)
    return power_of_ten(_SECONDS[lowered])
