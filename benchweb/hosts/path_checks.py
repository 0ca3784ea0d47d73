"""Checks of pairs' data paths: whose turn it is, and what they found."""

from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Now
from pydantic import BaseModel, ValidationError

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.common import celery_client
from benchweb.hosts.models import Endpoint, Pair

PATHS_TASK = "workers.tasks.check_paths"
# A firewall changes seldom; what is wrong is mended while somebody watches.
PATH_PERIOD = timedelta(minutes=15)
FAULT_PERIOD = timedelta(minutes=2)
# A check that a worker lost is asked for again after so long: longer than one takes.
_LOST_AFTER = timedelta(minutes=3)
_SILENT_END = Reason("path_unchecked")
# What one tick takes on: after an outage of ours every pair of a mesh is due at once.
_CLAIM_LIMIT = 64


class Passage(BaseModel):
    """Whether a protocol passes and is answered; the round trip in seconds."""

    passes: bool
    round_trip_seconds: float | None = None
    fault: str | None = None


class PathSize(BaseModel):
    """The largest IP packet that arrives one way; whether larger ones, which an end would send, vanish silently."""

    mtu_bytes: int
    is_silent: bool = False


class PathFound(BaseModel):
    """What a check found between a source and the address of a sink."""

    address: str
    data_port: int
    tcp: Passage
    udp: Passage
    forward: PathSize | None = None
    backward: PathSize | None = None
    # Addresses of the sink that were tried before, and don't pass.
    dead: list[str] = []


@dataclass(frozen=True)
class EndAddress:
    """What an end's path depends on: with another one a finding says nothing."""

    control_address: str
    data_address: str
    bind_device: str

    @classmethod
    def of(cls, endpoint: Endpoint) -> "EndAddress":
        return cls(endpoint.control_address, endpoint.data_address, endpoint.bind_device)


@dataclass(frozen=True)
class PathOutcome:
    """What a check came to; `status` is Pair.Path."""

    status: str
    reason: str = ""
    result: PathFound | None = None


def path_found(pair: Pair) -> PathFound | None:
    """Return what the last check of a pair found; None where there is nothing that can be read."""
    if pair.path_found is None:
        return None
    try:
        return PathFound.model_validate(pair.path_found)
    except ValidationError:
        return None


def path_check(*, pair: Pair) -> None:
    """Ask a worker to check a pair's data path now."""
    celery_client.send(PATHS_TASK, [pair.pk])


def paths_send() -> int:
    """Ask a worker to check the paths that are due, and call those unchecked that can't be; return how many are due."""
    paths_expire()
    due = paths_claim()
    if due:
        celery_client.send(PATHS_TASK, due)
    return len(due)


@transaction.atomic
def paths_claim() -> list[int]:
    """Take the pairs whose path is due and whose engines both answer; ticks at once share them.

    By the database's clock, and a time too far ahead counts as none.
    """
    is_due = Q(path_due_at=None) | Q(path_due_at__lte=Now()) | Q(path_due_at__gt=Now() + Value(2 * PATH_PERIOD))
    answering = Endpoint.Status.ANSWERED
    pairs = Pair.objects.filter(is_due, archived_at=None, source__status=answering, sink__status=answering)
    pairs = pairs.filter(source__host__is_synthetic=False, sink__host__is_synthetic=False).exclude(source=F("sink"))
    locked = pairs.order_by(F("path_due_at").asc(nulls_first=True), "pk").select_for_update(
        skip_locked=True, no_key=True, of=("self",)
    )
    due = list(locked.values_list("pk", flat=True)[:_CLAIM_LIMIT])
    Pair.objects.filter(pk__in=due).update(path_due_at=Now() + Value(_LOST_AFTER))
    return due


def paths_expire() -> int:
    """Call the paths unchecked that were due long ago, for an end doesn't answer: what was found may be so no more."""
    answering = Endpoint.Status.ANSWERED
    overdue = Pair.objects.filter(path_due_at__lte=Now() - Value(PATH_PERIOD), archived_at=None)
    known = overdue.exclude(path_status__in=(Pair.Path.PENDING, Pair.Path.UNCHECKED))
    unanswered = known.exclude(source__status=answering, sink__status=answering)
    silent = reason_fields("path_reason", _SILENT_END)
    return unanswered.update(path_status=Pair.Path.UNCHECKED, path_found=None, **silent)


def paths_forget(*, endpoint_id: int) -> None:
    """Forget what was found of an endpoint's paths, for it has changed, and have them checked again."""
    Pair.objects.filter(Q(source=endpoint_id) | Q(sink=endpoint_id)).update(
        path_status=Pair.Path.PENDING,
        path_found=None,
        path_checked_at=None,
        path_due_at=None,
        **reason_fields("path_reason", ""),
    )


def path_record(*, pair: Pair, outcome: PathOutcome) -> bool:
    """Keep what a check of a pair, as it was read before, found; False where an end was changed meanwhile."""
    same = Pair.objects.filter(pk=pair.pk)
    for end in ("source", "sink"):
        endpoint: Endpoint = getattr(pair, end)
        address = EndAddress.of(endpoint)
        same = same.filter(**{f"{end}__{field}": value for field, value in vars(address).items()})
    is_fault = outcome.status in (Pair.Path.BLOCKED, Pair.Path.NARROW)
    period = FAULT_PERIOD if is_fault else PATH_PERIOD
    return bool(
        same.update(
            path_status=outcome.status,
            path_found=outcome.result.model_dump(exclude_none=True) if outcome.result else None,
            path_checked_at=Now(),
            path_due_at=Now() + Value(period),
            **reason_fields("path_reason", outcome.reason),
        )
    )
