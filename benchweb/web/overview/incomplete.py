"""Runs of the last day without a whole result: those with one kind of reason are told together."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from benchweb.runs.lists import RunLine
from benchweb.schedules.selectors import FaultySlot, faulty_slots
from benchweb.web.overview.silent_hosts import unnamed

MOST_FAULTY = 200
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


def incomplete(faulty: Sequence[RunLine], since: datetime) -> Incomplete:
    """Group runs without a whole result by why, with the slots since then that launched nothing; one query."""
    alike: dict[tuple[str, str], list[RunLine]] = {}
    for run in faulty:
        alike.setdefault((run.state, unnamed(run.why)), []).append(run)
    largest = sorted(alike.items(), key=lambda item: -len(item[1]))
    groups = [_group(state, reason, runs) for (state, reason), runs in largest[:_MOST_LINES]]
    slots = [slot for slot in faulty_slots(since=since, most=MOST_FAULTY) if slot.campaign_id is None]
    return Incomplete(
        groups, sum(len(runs) for _key, runs in largest[_MOST_LINES:]), slots[: _MOST_LINES - len(groups)]
    )


def _group(state: str, reason: str, runs: Sequence[RunLine]) -> IncompleteGroup:
    since = min((run.finished_at for run in runs if run.finished_at), default=None)
    return IncompleteGroup(state, runs[0].why if len(runs) == 1 else reason, runs, since)
