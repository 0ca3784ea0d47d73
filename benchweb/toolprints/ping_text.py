"""ping's statistics as iputils prints them, with all digits."""

from benchweb.toolprints.printed import Measurement, count, digits

_HEADER_BYTES = 28


def statistics(measured: Measurement) -> str:
    """Return one ping; what was measured under load follows as a ping of its own."""
    texts = [_one(measured, "")]
    if "loaded_latency_mean_seconds" in measured.metrics:
        load = measured.params.get("load")
        name = load.get("kind", "") if isinstance(load, dict) else str(load)
        texts += [f"# under load: {name}", _one(measured, "loaded_")]
    return "\n\n".join(texts)


def _one(measured: Measurement, prefix: str) -> str:
    metrics = measured.metrics
    sent, lost = metrics.get(f"{prefix}sent_probes"), metrics.get(f"{prefix}lost_probes")
    if sent is None or lost is None:
        return f"# ping: not measured: {prefix}sent_probes, {prefix}lost_probes."
    size = measured.params.get("payload_bytes", 56)
    received = sent - lost
    share = f"{100 * lost / sent:.4g}" if sent else "0"
    lines = [
        f"PING {measured.address}" + (f" {size}({size + _HEADER_BYTES}) bytes of data." if size is not None else ""),
        "",
        f"--- {measured.address} ping statistics ---",
        f"{count(sent)} packets transmitted, {count(received)} received,{_duplicates(measured, prefix)} "
        f"{share}% packet loss",
    ]
    names = [name for name in ("min", "mean", "max", "mdev") if f"{prefix}latency_{name}_seconds" in metrics]
    if names == ["min", "mean", "max", "mdev"]:
        times = "/".join(digits(metrics[f"{prefix}latency_{name}_seconds"], exponent=3, places=3) for name in names)
        lines.append(f"rtt min/avg/max/mdev = {times} ms")
    return "\n".join(lines)


def _duplicates(measured: Measurement, prefix: str) -> str:
    duplicates = 0.0 if prefix else measured.metrics.get("duplicate_replies", 0.0)
    return f" +{count(duplicates)} duplicates," if duplicates else ""
