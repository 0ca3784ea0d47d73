"""wrk's text with all digits, `--latency` included. A thread's own rates are printed where they are known alone."""

from collections.abc import Callable

from benchweb.toolprints.printed import Measurement, count, digits

_MEBI = 1024 * 1024
_PERCENTILES = (("50", "p50"), ("75", "p75"), ("90", "p90"), ("99", "p99"), ("99.9", "p999"))
_ERRORS = ("connect", "read", "write", "timeout")


def report(measured: Measurement) -> str:
    """Return one test as wrk reports it; what wasn't measured has no line."""
    metrics, params = measured.metrics, measured.params
    if "requests_per_second" not in metrics:
        return "# http_load: not measured: requests_per_second."
    lines = [
        f"Running {measured.seconds:g}s test @ {params.get('url') or f'http://{measured.address}/'}",
        f"  {params.get('threads', 1)} threads and {params.get('connections', 1)} connections",
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
        _row("Latency", [metrics.get(f"latency_{name}_seconds") for name in ("mean", "stddev", "max")], _milliseconds)
        + f"   {_percent(metrics.get('latency_within_stddev_ratio'))}",
    ]
    threads = [metrics.get(f"thread_requests_per_second_{name}") for name in ("mean", "stddev", "max")]
    if any(value is not None for value in threads):
        lines.append(
            _row("Req/Sec", threads, _thousands) + f"   {_percent(metrics.get('thread_requests_within_stddev_ratio'))}"
        )
    percentiles = [(label, metrics.get(f"latency_{name}_seconds")) for label, name in _PERCENTILES]
    if any(value is not None for _, value in percentiles):
        lines.append("  Latency Distribution")
        lines += [f"  {label:>6}%  {_milliseconds(value)}" for label, value in percentiles if value is not None]
    lines += _totals(measured)
    return "\n".join(lines)


def _totals(measured: Measurement) -> list[str]:
    metrics = measured.metrics
    lines = []
    if "requests" in metrics and "received_bytes" in metrics:
        amount = digits(metrics["received_bytes"], divisor=_MEBI)
        seconds = digits(float(measured.params.get("measured_seconds", measured.seconds)))
        lines.append(f"  {count(metrics['requests'])} requests in {seconds}s, {amount}MB read")
    errors = [metrics.get(f"{name}_errors") for name in _ERRORS]
    if all(error is not None for error in errors) and any(errors):
        named = ", ".join(f"{name} {count(error)}" for name, error in zip(_ERRORS, errors, strict=True))
        lines.append(f"  Socket errors: {named}")
    if failed := metrics.get("failed_responses"):
        lines.append(f"  Non-2xx or 3xx responses: {count(failed)}")
    lines.append(f"Requests/sec:  {digits(metrics['requests_per_second'])}")
    if (rate := metrics.get("received_bytes_per_second")) is not None:
        lines.append(f"Transfer/sec:  {digits(rate, divisor=_MEBI)}MB")
    return lines


def _row(name: str, values: list[float | None], write: Callable[[float], str]) -> str:
    return f"    {name:<8}" + " ".join(f"{'-' if value is None else write(value):>9}" for value in values)


def _milliseconds(value: float) -> str:
    return digits(value, exponent=3) + "ms"


def _thousands(value: float) -> str:
    return digits(value, exponent=-3) + "k"


def _percent(ratio: float | None) -> str:
    return "-" if ratio is None else digits(ratio, exponent=2) + "%"
