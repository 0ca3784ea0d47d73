"""Endpoints that don't answer: those with one kind of reason are told together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from benchweb.catalog.reasons import Reason, reason_of
from benchweb.hosts.models import Endpoint, Host

_MOST_NAMES = 6
_MOST_GROUPS = 6


@dataclass(frozen=True)
class SilentGroup:
    """Endpoints of one status for one kind of reason; `reason` names an engine only where it is the only one."""

    status: str
    reason: str
    # The first of them, those that are named.
    named: list[Endpoint]
    # Since when the last of them to fall silent is; others may be so for longer.
    since: datetime | None
    is_longer: bool


def silent_groups(rows: Iterable[Mapping[str, Any]]) -> tuple[list[SilentGroup], int]:
    """Group endpoints, the first one's group first; and count those that don't fit.

    A row has host, host_id, name, network_mode, status, reason and since when: there may be a thousand of them.
    """
    alike: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        alike.setdefault((row["status"], unnamed(_why(row))), []).append(row)
    groups = [_group(*key, each) for key, each in list(alike.items())[:_MOST_GROUPS]]
    return groups, sum(map(len, alike.values())) - sum(len(group.named) for group in groups)


def _group(status: str, kind: str, rows: Sequence[Mapping[str, Any]]) -> SilentGroup:
    times = [datetime.fromisoformat(row["since"]) for row in rows if row["since"]]
    since = max(times, default=None)
    is_longer = since is not None and _to_the_minute(since) > _to_the_minute(min(times))
    reason = _why(rows[0]) if len(rows) == 1 else kind
    return SilentGroup(status, reason, [_endpoint(row) for row in rows[:_MOST_NAMES]], since, is_longer)


def _why(row: Mapping[str, Any]) -> str:
    return reason_of(row["reason"], row["reason_data"])


def unnamed(reason: str) -> str:
    """Return a reason without the name of its engine: what it has in common with others'."""
    if isinstance(reason, Reason) and "engine" in reason.params:
        return Reason(reason.code, **(reason.params | {"engine": Reason("engine_unnamed")}))
    return reason


def _to_the_minute(at: datetime) -> datetime:
    """As it is told: of hosts that fell silent in other minutes one time would be wrong of some."""
    return at.replace(second=0, microsecond=0)


def _endpoint(row: Mapping[str, Any]) -> Endpoint:
    host = Host(pk=row["host_id"], name=row["host"])
    return Endpoint(host=host, name=row["name"], network_mode=row["network_mode"])
