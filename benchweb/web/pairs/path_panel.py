"""Say what is known of a pair's data path; the panel looks again by itself while a check is awaited."""

from dataclasses import dataclass
from datetime import timedelta

from benchweb.hosts.models import Pair
from benchweb.hosts.path_checks import PathFound, path_found
from benchweb.web.shared.awaited_check import AwaitedCheck

# Longer than a check of a path that carries nothing takes: its connections run into their time-outs.
CHECK_PATIENCE = timedelta(seconds=60)


@dataclass(frozen=True)
class PathPanel:
    """A pair with what its last check found; `awaited` is None when no check is awaited."""

    pair: Pair
    outcome: PathFound | None
    awaited: AwaitedCheck | None
    is_overdue: bool

    @property
    def is_checking(self) -> bool:
        return self.awaited is not None and not self.is_overdue


def path_panel(pair: Pair, awaited: AwaitedCheck | None = None) -> PathPanel:
    """Prepare the panel; a check that was recorded since it was asked for is awaited no more."""
    if awaited is not None and awaited.is_recorded(pair.path_checked_at):
        awaited = None
    is_overdue = awaited is not None and awaited.is_overdue(CHECK_PATIENCE)
    return PathPanel(pair=pair, outcome=path_found(pair), awaited=awaited, is_overdue=is_overdue)
