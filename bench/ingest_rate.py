"""Inside the rig: what is taken in a second beside bare COPY, in bulk and trial by trial; prints two lines.

In bulk: points as generate_history's COPY writes them, into a table with the same indexes and without any. Trial by
trial: a transaction each, by `ingest` (check, facts, series, points, result, the trial's end) and by COPY alone of the
same rows into tables of the same shape, turn and turn about.
"""

import copy
import json
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import django

django.setup()

from django.db import connection, transaction  # noqa: E402  (needs the settings)
from django.utils import timezone  # noqa: E402

from benchweb.results.ingest import ingest, parsed_result  # noqa: E402
from benchweb.results.models import Point, Result  # noqa: E402
from benchweb.runs.models import Run, State, Trial  # noqa: E402
from benchweb.runs.services import launch  # noqa: E402
from tests.factories import make_pair, make_plan  # noqa: E402

BULK = 500_000
TRIALS, ROUNDS = 200, 5
EXAMPLE = json.loads((Path(__file__).parent.parent / "engine/schema/examples/tcp_stream.json").read_text())


def bulk() -> str:
    """Copy points into empty tables."""
    lines = b"".join(copied_out(f"select series_id, at, value, run_id, trial_id from results_point limit {BULK}"))
    rates = {}
    for name, including in (("with the same indexes", "all"), ("without an index", "identity")):
        with connection.cursor() as cursor:
            cursor.execute(f"create table bare_point (like results_point including {including})")
        seconds = timed(lambda: copied_in("bare_point (series_id, at, value, run_id, trial_id)", lines))
        rates[name] = BULK / seconds
        with connection.cursor() as cursor:
            cursor.execute("drop table bare_point")
    told = ", ".join(f"{rate:,.0f} points/s {name}" for name, rate in rates.items())
    return f"Bare COPY of {BULK:,} points: {told}."


def one_by_one() -> str:
    """Ingest trials one by one, and copy the same rows, in turns."""
    plan = make_plan(repetitions=TRIALS)
    parsed = parsed_result("tcp_stream", copy.deepcopy(EXAMPLE))
    ingested, bare = [], []
    for _ in range(ROUNDS):
        run = launch(plan=plan, pairs=[make_pair()], user=None).runs.get()
        Run.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=timezone.now())
        Trial.objects.filter(run=run).update(state=State.RUNNING, started_at=timezone.now())
        trials = list(Trial.objects.filter(run=run).select_related("run__pair"))
        # The first makes the series, which COPY isn't asked to.
        ingest(trial=trials[0], result=parsed, state=State.FINISHED)
        ingested.append(timed(lambda trials=trials: [each(trial, parsed) for trial in trials[1:]]))
        bare.append(bare_copy(trials[1:]))
    points = (TRIALS - 1) * len(parsed.metrics)
    rate, bare_rate = points / median(ingested), points / median(bare)
    return (
        f"Trial by trial, a transaction each of {len(parsed.metrics)} points: ingest {rate:,.0f} points/s "
        f"({rate / len(parsed.metrics):,.0f} trials/s), bare COPY of the same rows {bare_rate:,.0f} points/s, "
        f"ratio {rate / bare_rate:.2f}."
    )


def each(trial: Trial, parsed: Any) -> None:
    ingest(trial=trial, result=parsed, state=State.FINISHED)


def bare_copy(trials: list[Trial]) -> float:
    """Take the rows of these trials out and copy them into tables of the same shape, a transaction a trial."""
    tables = {model: f"bare_{model._meta.db_table}" for model in (Result, Point)}
    with connection.cursor() as cursor:
        for model, name in tables.items():
            cursor.execute(f"create table {name} (like {model._meta.db_table} including all)")
    rows = [
        [
            (name, b"".join(copied_out(f"select * from {model._meta.db_table} where trial_id = {trial.pk}")))
            for model, name in tables.items()
        ]
        for trial in trials
    ]
    seconds = timed(lambda: [_in_one_transaction(lines) for lines in rows])
    with connection.cursor() as cursor:
        for name in tables.values():
            cursor.execute(f"drop table {name}")
    return seconds


def _in_one_transaction(tables: list[tuple[str, bytes]]) -> None:
    with transaction.atomic():
        for name, lines in tables:
            copied_in(name, lines)


def copied_out(query: str) -> list[bytes]:
    with connection.cursor() as cursor, cursor.copy(f"copy ({query}) to stdout") as rows:
        return [bytes(chunk) for chunk in rows]


def copied_in(table: str, lines: bytes) -> None:
    with connection.cursor() as cursor, cursor.copy(f"copy {table} from stdin") as rows:
        rows.write(lines)


def timed(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(f"\n{bulk()}\n{one_by_one()}")
