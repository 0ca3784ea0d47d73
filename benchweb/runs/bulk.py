"""Write the rows of tens of thousands of runs by COPY, which takes a tenth of what INSERT takes."""

import json
import secrets
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.db import connection
from django.db.models import Model
from django.utils import timezone

from benchweb.common.rows import fetch_column
from benchweb.plans.expansion import PlannedTrial, expanded
from benchweb.plans.models import PlanVersion
from benchweb.runs.models import Campaign, Reservation, Run, State, Trial

_RUN_FIELDS = (
    *("id", "campaign", "pair", "plan_version", "state", "reason", "waiting_for", "created_at", "planned_at"),
    *("attempts", "lease_owner"),
)


@dataclass(frozen=True)
class PlannedRun:
    """A run to be: its pair, its place in the queues of its resources, and these; no place means no queue."""

    pair_id: int
    planned_at: datetime | None
    resource_ids: tuple[int, ...]


def write_runs(campaign: Campaign, planned: Sequence[PlannedRun], *, is_exclusive: bool) -> None:
    """Write a campaign's pending runs with their trials and reservations; ids follow the order given."""
    version = campaign.plan_version
    ids = new_ids(Run, len(planned))
    now = timezone.now()
    _copy(
        Run,
        _RUN_FIELDS,
        (
            (run_id, campaign.pk, run.pair_id, version.pk, State.PENDING.value, "", "", now, run.planned_at, 0, "")
            for run_id, run in zip(ids, planned, strict=True)
        ),
    )
    _copy(
        Trial,
        ("run", "index", "kind", "params", "repetition", "state", "reason", "session", "cookie"),
        _trial_rows(version, ids, campaign.arrangement),
    )
    exclusive = Reservation.EXCLUSIVE if is_exclusive else Reservation.NORMAL
    _copy(
        Reservation,
        ("run", "resource", "exclusive", "planned_at"),
        (
            (run_id, resource_id, exclusive, run.planned_at)
            for run_id, run in zip(ids, planned, strict=True)
            for resource_id in run.resource_ids
        ),
    )


def _trial_rows(version: PlanVersion, run_ids: Sequence[int], arrangement: str) -> Iterator[tuple[Any, ...]]:
    """Return the trials of each run: only a shuffle differs from run to run, unless they start together.

    A round is each test once.
    """
    is_in_rounds = arrangement == Campaign.Arrangement.ROUNDS

    def spelled(seed: int = 0) -> list[tuple[str, str, int]]:
        trials = expanded(version.steps, version.repetitions, version.order, seed=seed)
        return _spelled(sorted(trials, key=attrgetter("repetition")) if is_in_rounds else trials)

    is_one_order = version.order != PlanVersion.Order.SHUFFLED or arrangement == Campaign.Arrangement.TOGETHER
    same = spelled(run_ids[0]) if is_one_order and run_ids else []
    for run_id in run_ids:
        trials = same or spelled(run_id)
        for index, (kind, params, repetition) in enumerate(trials, start=1):
            yield run_id, index, kind, params, repetition, State.PENDING.value, "", uuid.uuid4(), secrets.token_hex(32)


def _spelled(trials: Iterable[PlannedTrial]) -> list[tuple[str, str, int]]:
    return [(trial.kind, json.dumps(trial.params), trial.repetition) for trial in trials]


def new_ids(model: type[Model], count: int) -> list[int]:
    """Take ids from the table's sequence: COPY can't tell which it gave."""
    return fetch_column(
        "SELECT nextval(pg_get_serial_sequence(%(table)s, 'id')) FROM generate_series(1, %(count)s)",
        {"table": model._meta.db_table, "count": count},
    )


def _copy(model: type[Model], fields: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Copy rows in; `fields` must name every column that the database has no default for."""
    quoted = connection.ops.quote_name
    by_name = {field.name: str(field.column) for field in model._meta.concrete_fields}
    columns = ", ".join(quoted(by_name[name]) for name in fields)
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {quoted(model._meta.db_table)} ({columns}) FROM STDIN") as copy,
    ):
        for row in rows:
            copy.write_row(row)
