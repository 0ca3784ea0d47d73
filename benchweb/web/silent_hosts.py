"""Endpoints that don't answer: those with one kind of reason are told together."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_noop

from benchweb.hosts.models import Endpoint

_MOST_NAMES = 6
_MOST_GROUPS = 6
# As workers/engine_client names an engine at the start of a sentence.
_ENGINE_NAME = re.compile(r"^The engine of .+? \([^()]+\)")
_ANY_ENGINE = gettext_noop("The engine")


@dataclass(frozen=True)
class SilentGroup:
    """Endpoints of one status for one kind of reason; `reason` names an engine only where it is the only one."""

    status: str
    reason: str
    endpoints: list[Endpoint]

    @property
    def shown(self) -> list[Endpoint]:
        return self.endpoints[:_MOST_NAMES]

    @property
    def checked_at(self) -> datetime | None:
        return max((each.checked_at for each in self.endpoints if each.checked_at), default=None)


def silent_groups(endpoints: Iterable[Endpoint]) -> tuple[list[SilentGroup], int]:
    """Group endpoints, the first one's group first; and count those that don't fit."""
    alike: dict[tuple[str, str], list[Endpoint]] = {}
    for endpoint in endpoints:
        kind = _ENGINE_NAME.sub(_ANY_ENGINE, endpoint.status_reason)
        alike.setdefault((endpoint.status, kind), []).append(endpoint)
    groups = [
        SilentGroup(status, each[0].status_reason if len(each) == 1 else kind, each)
        for (status, kind), each in alike.items()
    ]
    shown = groups[:_MOST_GROUPS]
    return shown, sum(map(len, alike.values())) - sum(len(group.shown) for group in shown)
