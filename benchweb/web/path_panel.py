"""What the page of a pair says of its data path, and whether it should look again by itself."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.hosts.path_checks import PathFound, path_found

# Longer than a check of a path that carries nothing takes: its connections run into their time-outs.
CHECK_PATIENCE = timedelta(seconds=60)


@dataclass(frozen=True)
class PathPanel:
    """A pair with what its last check found; `asked_at` is None when no check is awaited."""

    pair: Pair
    found: PathFound | None
    asked_at: datetime | None
    # When the last recorded check was, when this one was asked for; empty where there was none.
    since: str

    @property
    def is_checking(self) -> bool:
        return self.asked_at is not None and not self.is_overdue

    @property
    def is_overdue(self) -> bool:
        return self.asked_at is not None and timezone.now() - self.asked_at > CHECK_PATIENCE

    @property
    def asked_at_text(self) -> str:
        return repr(self.asked_at.timestamp()) if self.asked_at else ""


def path_panel(pair: Pair, asked_at: datetime | None = None, since: str | None = None) -> PathPanel:
    """Prepare the panel; a check that was recorded since then is awaited no more."""
    now = checked_text(pair)
    if since is not None and since != now:
        asked_at = None
    return PathPanel(pair=pair, found=path_found(pair), asked_at=asked_at, since=now if since is None else since)


def checked_text(pair: Pair) -> str:
    """Return the time of the last recorded check as text that a form can carry."""
    return pair.path_checked_at.isoformat() if pair.path_checked_at else ""
