"""Runs of the last day without a whole result: those with one kind of reason are told together."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from benchweb.runs.lists import RunLine, faulty_runs
from benchweb.schedules.selectors import FaultySlot, faulty_slots
from benchweb.web.overview.silent_hosts import unnamed

_MOST_READ = 200
# Lines on the page, those of slots where runs leave room.
_MOST_LINES = 3
_MOST_NAMED = 2


@dataclass(frozen=True)
class IncompleteGroup:
    """Runs of one state for one kind of reason, the newest first; `since` is when the first of them ended."""

    state: str
    reason: str
    runs: Sequence[RunLine]
    since: datetime | None

    @property
    def named(self) -> Sequence[RunLine]:
        return self.runs[:_MOST_NAMED]

    @property
    def hidden(self) -> int:
        return len(self.runs) - len(self.named)


@dataclass(frozen=True)
class Incomplete:
    """The largest groups, the number of runs beside them, and slots of schedules that launched nothing."""

    groups: list[IncompleteGroup]
    runs_hidden: int
    slots: list[FaultySlot]


def incomplete(since: datetime) -> Incomplete:
    """Return what ended since then without a whole result, and why; two queries."""
    alike: dict[tuple[str, str], list[RunLine]] = {}
    for run in faulty_runs(since, most=_MOST_READ):
        alike.setdefault((run.state, unnamed(run.why)), []).append(run)
    largest = sorted(alike.items(), key=lambda item: -len(item[1]))
    groups = [_group(state, reason, runs) for (state, reason), runs in largest[:_MOST_LINES]]
    slots = [slot for slot in faulty_slots(since=since, most=_MOST_READ) if slot.campaign_id is None]
    return Incomplete(
        groups, sum(len(runs) for _key, runs in largest[_MOST_LINES:]), slots[: _MOST_LINES - len(groups)]
    )


def _group(state: str, reason: str, runs: Sequence[RunLine]) -> IncompleteGroup:
    since = min((run.finished_at for run in runs if run.finished_at), default=None)
    return IncompleteGroup(state, runs[0].why if len(runs) == 1 else reason, runs, since)
