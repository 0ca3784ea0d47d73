"""The ids of a pair and of all that it joins: the last columns of every export, for names change and ids don't."""

from benchweb.charts.history.lines import LinePair
from benchweb.hosts.models import Pair

PAIR_IDS = ("pair_id", "source_host_id", "source_endpoint_id", "sink_host_id", "sink_endpoint_id", "environment_id")


def pair_ids(pair: Pair | LinePair) -> dict[str, int | None]:
    """Return the ids by the names of their columns; None where names are replaced by pseudonyms."""
    source, sink = pair.source, pair.sink
    ids = (pair.pk, source.host_id, source.pk, sink.host_id, sink.pk, pair.environment_id)
    return dict(zip(PAIR_IDS, ids, strict=True))
