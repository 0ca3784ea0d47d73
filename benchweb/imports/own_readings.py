"""What a tool printed that the catalog has no kind for, such as sar's rates: a kind of its own, named by the tool."""

from benchweb.catalog import catalog
from benchweb.imports.own_kinds import Better, MetricDefinition
from benchweb.toolformats.readings import Figure, Reading

# Where it was measured or for how long makes no series of its own.
_NO_IDENTITY = ("peer", "address", "host", "filename", "_seconds", "job")
_HIGHER = ("_per_second", "iops", "_bps")
_LOWER = ("latency", "round_trip", "jitter", "loss", "lost", "error", "duplicate", "total_seconds")
_LONGEST_VALUE = 200


def own_params(reading: Reading, part: str) -> dict[str, int | float | str | bool]:
    """Return what tells one series of a tool's from another: its test and settings."""
    named = {"test": reading.test, "part": part}
    params: dict[str, int | float | str | bool] = {name: value for name, value in named.items() if value}
    for name, value in reading.parameters.items():
        if not name.endswith(_NO_IDENTITY):
            params[name] = value[:_LONGEST_VALUE] if isinstance(value, str) else value
    return params


def own_definition(figure: Figure) -> MetricDefinition:
    """Describe a figure as a metric: as the catalog does, else by its name."""
    known = catalog().test_metrics.get(figure.metric)
    if known is not None and known.unit == figure.unit:
        return MetricDefinition(figure.metric, known.unit, known.better)
    return MetricDefinition(figure.metric, figure.unit, _better(figure.metric))


def _better(metric: str) -> Better:
    if any(word in metric for word in _LOWER):
        return "lower"
    return "higher" if metric.endswith(_HIGHER) else "neutral"
