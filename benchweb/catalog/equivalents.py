"""How published reports write what we measure: each way a factor, with where it comes from. Pure."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from benchweb.catalog.parts import Metric

# sysstat divides an interface's bytes by 1,024 and calls them kB (pr_stats.c: `rx_bytes … / 1024`, "rxkB/s").
BYTES_PER_SAR_KILOBYTE = 1024
# wrk prints "Transfer/sec" by its binary units (units.c: scale 1024, "K", "M", "G"), with a B behind.
BYTES_PER_WRK_MEGABYTE = 1024 * 1024
# mbw counts a megabyte as 2^20 bytes and says MiB (mbw.c); STREAM as 10^6 (stream.c: `1.0E-06 * bytes`).
BYTES_PER_MBW_MEBIBYTE = 1024 * 1024
STREAM_MEGABYTES = 1e-6
# fio 3's "KiB/s", and the KB/s of its 2.x, are 1,024 bytes.
BYTES_PER_FIO_KIBIBYTE = 1024
# A transaction of one small message each way is a packet there and a packet back.
PACKETS_PER_TRANSACTION = 2
_RECEIVED = "_rx_"
_TIMES = ("latency", "jitter", "rtt")
_LOSS = "loss_ratio"


@dataclass(frozen=True)
class Equivalent:
    """One way that reports write a metric: `value × factor` in `unit`, printed plainly, without an SI prefix."""

    key: str
    label: str
    unit: str
    factor: float
    # What a reader has to know before comparing: whose notation it is, and what it counts.
    note: str
    # As many as those reports print.
    decimals: int = 2

    def of(self, value: float) -> float:
        """Return the equivalent of a value in the metric's own unit."""
        return value * self.factor


def equivalents(metric: Metric) -> list[Equivalent]:
    """Return the ways that reports write a metric, the most usual first; none where they write it as we do."""
    # By keys and units: what the catalog says in words is said in the reader's language.
    if metric.unit == "s":
        return _of_times() if any(word in metric.key for word in _TIMES) else []
    if metric.unit == "ratio":
        return _of_loss() if metric.key.endswith(_LOSS) else []
    if metric.unit == "B/s":
        return _of_bytes(metric)
    makers = {"transactions/s": _of_transactions, "bit/s": _of_bits, "pkt/s": _of_packets}
    return makers[metric.unit]() if metric.unit in makers else []


def equivalent_named(metric: Metric, key: str) -> Equivalent | None:
    """Return the way of a metric that a query string names; None for none."""
    return next((equivalent for equivalent in equivalents(metric) if equivalent.key == key), None)


def _of_transactions() -> list[Equivalent]:
    """Return both readings of "packets/s" in reports of netperf's RR and CRR: they seldom say which one is theirs."""
    return [
        Equivalent(
            "packets",
            _("packets, two a transaction"),
            _("pkt/s"),
            float(PACKETS_PER_TRANSACTION),
            _("a request and a response; packets of connecting, closing and acknowledging are not counted"),
        ),
        Equivalent(
            "transactions",
            _("packets, one a transaction"),
            _("pkt/s"),
            1.0,
            _("the transaction rate itself, which reports of netperf sums call packets/s"),
        ),
    ]


def _of_bits() -> list[Equivalent]:
    return [
        Equivalent("mbits", _("netperf's 10^6 bits/s"), "10⁶ bit/s", 1e-6, _("netperf's and iperf3's Mbits/sec")),
        Equivalent(
            "sar",
            _("sar's kB/s"),
            "kB/s",
            1 / 8 / BYTES_PER_SAR_KILOBYTE,
            _("sar's kB is 1,024 bytes; this is the payload, where sar counts whole frames"),
        ),
    ]


def _of_packets() -> list[Equivalent]:
    return [Equivalent("full", _("packets/s in full"), _("pkt/s"), 1.0, _("as sar prints rxpck/s, without a prefix"))]


def _of_times() -> list[Equivalent]:
    return [
        Equivalent(
            "ms",
            _("milliseconds"),
            "ms",
            1e3,
            _("as ping and iperf3 print times, with three decimals; with more where a time is under 0.01 ms"),
            decimals=3,
        )
    ]


def _of_loss() -> list[Equivalent]:
    return [Equivalent("percent", _("per cent"), "%", 100.0, _("as ping and iperf3 print loss"))]


def _of_interface(metric: Metric) -> list[Equivalent]:
    label = _("sar's rxkB/s") if _RECEIVED in f"_{metric.key}" else _("sar's txkB/s")
    note = _("sar's kB is 1,024 bytes; whole frames, counted over the host's own window, which may be a little longer")
    return [Equivalent("sar", label, "kB/s", 1 / BYTES_PER_SAR_KILOBYTE, note)]


def _of_bytes(metric: Metric) -> list[Equivalent]:
    if "nic_" in metric.key:
        return _of_interface(metric)
    if "memory_" in metric.key or "core_" in metric.key:
        return _of_memory()
    return _of_transfer() if "received_" in metric.key else _of_disk()


def _of_memory() -> list[Equivalent]:
    mbw, stream = _("mbw counts what was copied once"), _("STREAM counts what was read and what was written")
    return [
        Equivalent("mbw", _("mbw's MiB/s"), "MiB/s", 1 / BYTES_PER_MBW_MEBIBYTE, mbw),
        Equivalent("stream", _("STREAM's MB/s"), "MB/s", STREAM_MEGABYTES, stream),
    ]


def _of_disk() -> list[Equivalent]:
    note = _("fio's KiB, which its versions before 3 write as KB, is 1,024 bytes")
    return [Equivalent("fio", _("fio's KiB/s"), "KiB/s", 1 / BYTES_PER_FIO_KIBIBYTE, note)]


def _of_transfer() -> list[Equivalent]:
    note = _("wrk's MB is 1,048,576 bytes")
    return [Equivalent("wrk", _("wrk's Transfer/sec"), "MB/s", 1 / BYTES_PER_WRK_MEGABYTE, note)]
