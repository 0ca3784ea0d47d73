"""What calls a pair by name in a statement written by hand: the rows, the columns, and how they are read."""

from collections.abc import Sequence

from benchweb.hosts.models import endpoint_label, pair_label

_ENDS = """
  JOIN hosts_endpoint source ON source.id = pair.source_id
  JOIN hosts_host source_host ON source_host.id = source.host_id
  JOIN hosts_endpoint sink ON sink.id = pair.sink_id
  JOIN hosts_host sink_host ON sink_host.id = sink.host_id
"""
_NAMES = (
    *("source_host.name", "source.name", "source.network_mode"),
    *("sink_host.name", "sink.name", "sink.network_mode"),
)
# How many columns `{pair_names}` are.
NAME_COLUMNS = len(_NAMES)


def with_pairs(statement: str) -> str:
    """Fill in `{pair_names}`, and the rows of both ends of the row `pair` as `{pair_ends}`, or `{pair_ends_if_any}`."""
    names, if_any = ", ".join(_NAMES), _ENDS.replace("JOIN", "LEFT JOIN")
    parts = {"{pair_names}": names, "{pair_ends}": _ENDS, "{pair_ends_if_any}": if_any}
    for mark, part in parts.items():
        statement = statement.replace(mark, part)
    return statement


def ends_named(names: Sequence[str]) -> tuple[str, str]:
    """Call source and sink by the columns `{pair_names}`."""
    source_host, source, source_mode, sink_host, sink, sink_mode = names
    return endpoint_label(source_host, source, source_mode), endpoint_label(sink_host, sink, sink_mode)


def pair_named(names: Sequence[str]) -> str:
    """Call a pair by the columns `{pair_names}`."""
    return pair_label(*ends_named(names))
