"""Endpoints that don't answer: those with one kind of reason are told together."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_noop

from benchweb.hosts.models import Endpoint, Host

_MOST_NAMES = 6
_MOST_GROUPS = 6
# As workers/engine_client names an engine at the start of a sentence: its endpoint, of which a part may be in brackets
# too, and its address.
_ENGINE_NAME = re.compile(r"^The engine of .+? \([^()]*:[0-9]+\)")
_ANY_ENGINE = gettext_noop("The engine")


@dataclass(frozen=True)
class SilentGroup:
    """Endpoints of one status for one kind of reason; `reason` names an engine only where it is the only one."""

    status: str
    reason: str
    # The first of them, those that are named.
    shown: list[Endpoint]
    # Since when the last of them to fall silent is; others may be so for longer.
    since: datetime | None
    is_longer: bool


def silent_groups(rows: Iterable[Mapping[str, Any]]) -> tuple[list[SilentGroup], int]:
    """Group endpoints, the first one's group first; and count those that don't fit.

    A row has host, host_id, name, network_mode, status, reason and since when: there may be a thousand of them.
    """
    alike: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        alike.setdefault((row["status"], _ENGINE_NAME.sub(_ANY_ENGINE, row["reason"])), []).append(row)
    groups = [_group(*key, each) for key, each in list(alike.items())[:_MOST_GROUPS]]
    return groups, sum(map(len, alike.values())) - sum(len(group.shown) for group in groups)


def _group(status: str, kind: str, rows: Sequence[Mapping[str, Any]]) -> SilentGroup:
    times = [datetime.fromisoformat(row["since"]) for row in rows if row["since"]]
    since = max(times, default=None)
    is_longer = since is not None and _to_the_minute(since) > _to_the_minute(min(times))
    reason = rows[0]["reason"] if len(rows) == 1 else kind
    return SilentGroup(status, reason, [_endpoint(row) for row in rows[:_MOST_NAMES]], since, is_longer)


def _to_the_minute(at: datetime) -> datetime:
    """As it is told: of hosts that fell silent in other minutes one time would be wrong of some."""
    return at.replace(second=0, microsecond=0)


def _endpoint(row: Mapping[str, Any]) -> Endpoint:
    host = Host(pk=row["host_id"], name=row["host"])
    return Endpoint(host=host, name=row["name"], network_mode=row["network_mode"])
