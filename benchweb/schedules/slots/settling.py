"""Write what became of slots, once their campaigns' runs are final."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet

from benchweb.catalog.reasons import Reason, joined, reason_fields
from benchweb.common.in_parts import in_parts
from benchweb.runs.models import OPEN_STATES, Run, State
from benchweb.runs.selectors import campaign_state
from benchweb.schedules.models import Schedule, Slot

_COUNTED = (State.FINISHED, State.FAILED, State.CANCELLED, State.MISSED, State.NONSTART)


def settle_slots(schedule: Schedule | None = None) -> int:
    """Move open slots forward as their campaigns have: to running, or to a final state; return how many.

    All schedules' slots, or one schedule's. Two queries when nothing has changed.
    """
    launched = Slot.objects.filter(campaign__isnull=False)
    of_these = launched.filter(schedule=schedule) if schedule else launched
    return _begin_slots(of_these) + _end_slots(of_these)


def _begin_slots(slots: "QuerySet[Slot, Slot]") -> int:
    begun = _runs().exclude(state=State.PENDING)
    return slots.filter(Exists(begun), state=State.PENDING).update(state=State.RUNNING)


def _end_slots(slots: "QuerySet[Slot, Slot]") -> int:
    still_open = _runs().filter(state__in=OPEN_STATES)
    ended = list(slots.filter(~Exists(still_open), state__in=OPEN_STATES))
    counts = _counts([slot.campaign_id for slot in ended if slot.campaign_id is not None])
    return in_parts(ended, lambda slots: _settle_all(slots, counts), _settle_anyhow)


@transaction.atomic
def _settle_all(slots: Sequence[Slot], counts: Mapping[int, Mapping[str, int]]) -> int:
    return sum(_settle_slot(slot, counts[slot.campaign_id]) for slot in slots if slot.campaign_id is not None)


def _settle_anyhow(slot: Slot, error: Exception) -> None:
    """End a slot whose campaign can't be summed up: tried again it would fail each second, and never end."""
    reason = Reason("slot_not_counted", name=type(error).__name__, error=str(error))
    _end_slot(slot, State.FAILED, reason)


def _settle_slot(slot: Slot, counts: Mapping[str, int]) -> int:
    state = campaign_state(list(counts)) if counts else State.NONSTART
    return _end_slot(slot, state, joined([slot.why, _reason(slot, counts)]))


def _end_slot(slot: Slot, state: str, reason: str) -> int:
    still_open = Slot.objects.filter(pk=slot.pk, state__in=OPEN_STATES)
    return still_open.update(state=state, **reason_fields("reason", reason))


def _reason(slot: Slot, counts: Mapping[str, int]) -> str:
    """Say how many runs ended how, and why the first of the worst did; nothing when all finished."""
    if not reason_of_counts(counts):
        return ""
    first = (
        Run.objects.filter(campaign=slot.campaign_id, state=campaign_state(list(counts)))
        .exclude(reason="")
        .order_by("pk")
        .first()
    )
    because = Reason("slot_run_reason", run=first.pk, reason=first.why) if first else ""
    return joined([reason_of_counts(counts), because])


def reason_of_counts(counts: Mapping[str, int]) -> str:
    """Say how many runs ended otherwise than finished; nothing when all finished."""
    worse = {state: count for state, count in counts.items() if state != State.FINISHED}
    if not worse:
        return ""
    ends = [Reason(f"count_{state}", count=count) for state in _COUNTED if (count := worse.get(state))]
    return Reason("slot_runs_ended", total=sum(counts.values()), ends=joined(ends, ", "))


def _runs() -> QuerySet[Run]:
    return Run.objects.filter(campaign=OuterRef("campaign"))


def _counts(campaign_ids: list[int]) -> dict[int, dict[str, int]]:
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    grouped = Run.objects.filter(campaign__in=campaign_ids).order_by().values_list("campaign", "state")
    for campaign_id, state, count in grouped.annotate(count=Count("pk")) if campaign_ids else ():
        counts[campaign_id][state] = count
    return counts
