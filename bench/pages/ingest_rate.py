"""Inside the rig: what is taken in a second beside bare COPY, trial by trial and in bulk; prints two tables.

Trial by trial: a transaction each, by `ingest` (the trial's end, facts, series, points, result, the message to who
watches) and by COPY alone of the same rows into tables of the same shape. In bulk: stored points by COPY, into a table
with the same indexes and without any. All turn and turn about; medians of the rounds, with the slowest and the fastest.
"""

import copy
import json
import time
from collections.abc import Callable
from functools import partial
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

MOST_BULK = 500_000
TRIALS, ROUNDS = 200, 5
EXAMPLE = json.loads((Path(__file__).parents[2] / "engine/schema/examples/tcp_stream.json").read_text())


def one_by_one() -> str:
    """Ingest trials one by one, and copy the same rows, in turns."""
    plan, pair = make_plan(repetitions=TRIALS), make_pair()
    parsed = parsed_result("tcp_stream", copy.deepcopy(EXAMPLE))
    seconds: dict[str, list[float]] = {"ingest": [], "bare COPY": []}
    for _ in range(ROUNDS):
        run = launch(plan=plan, pairs=[pair], user=None).runs.get()
        Run.objects.filter(pk=run.pk).update(state=State.RUNNING, started_at=timezone.now())
        Trial.objects.filter(run=run).update(state=State.RUNNING, started_at=timezone.now())
        first, *trials = Trial.objects.filter(run=run).select_related("run__pair")
        # The first makes the series, which COPY isn't asked to.
        store(first, parsed)
        seconds["ingest"].append(timed(partial(all_of, trials, parsed)))
        seconds["bare COPY"].append(bare_copy(trials))
    count, points = TRIALS - 1, len(parsed.metrics)
    rows = [
        f"| {name} | {rate_text(count, spent)} | {rate_text(count * points, spent)} | {ratio(seconds, name):.2f} |"
        for name, spent in seconds.items()
    ]
    head = f"Trial by trial, a transaction of a result and {points} points each ({ROUNDS} rounds of {count}):"
    return "\n".join([head, "", "| | results/s | points/s | : bare COPY |\n|---|---|---|---|", *rows])


def bulk() -> str:
    """Copy stored points into empty tables, in turns."""
    lines = b"".join(copied_out(f"select series_id, at, value, run_id, trial_id from results_point limit {MOST_BULK}"))
    count = lines.count(b"\n")
    seconds: dict[str, list[float]] = {"with the points' indexes": [], "without an index": []}
    for _ in range(ROUNDS):
        for spent, including in zip(seconds.values(), ("all", "identity"), strict=True):
            with connection.cursor() as cursor:
                cursor.execute(f"create table bare_point (like results_point including {including})")
            spent.append(timed(lambda: copied_in("bare_point (series_id, at, value, run_id, trial_id)", lines)))
            with connection.cursor() as cursor:
                cursor.execute("drop table bare_point")
    rows = [f"| {name} | {rate_text(count, spent)} |" for name, spent in seconds.items()]
    head = f"Bare COPY of {count:,} points at once ({ROUNDS} rounds):"
    return "\n".join([head, "", "| | points/s |\n|---|---|", *rows])


def rate_text(count: int, seconds: list[float]) -> str:
    """Return the median rate, and the least and most in brackets."""
    return f"{count / median(seconds):,.0f} ({count / max(seconds):,.0f} to {count / min(seconds):,.0f})"


def ratio(seconds: dict[str, list[float]], name: str) -> float:
    """Return the rate as a share of bare COPY's, the median of the rounds' own ratios."""
    return median(bare / own for own, bare in zip(seconds[name], seconds["bare COPY"], strict=True))


def all_of(trials: list[Trial], parsed: Any) -> None:
    for trial in trials:
        store(trial, parsed)


def store(trial: Trial, parsed: Any) -> None:
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
    seconds = timed(partial(_in_transactions, rows))
    with connection.cursor() as cursor:
        for name in tables.values():
            cursor.execute(f"drop table {name}")
    return seconds


def _in_transactions(trials: list[list[tuple[str, bytes]]]) -> None:
    for tables in trials:
        _in_one_transaction(tables)


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
    print(f"\n{one_by_one()}\n\n{bulk()}")
