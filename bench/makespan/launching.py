"""What a launch of 39,800 runs takes, planning and database apart; and what it takes to foretell a schedule.

`python3 -m bench.makespan --database` runs it in a database of its own: it fills the one that it is given.
"""

import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import django

if TYPE_CHECKING:
    from benchweb.schedules.forecasts.feasibility import Feasibility
    from benchweb.schedules.models import Schedule

P = ParamSpec("P")
R = TypeVar("R")
ROUNDS = 3
HOSTS, FEW_HOSTS, OTHERS = 200, 32, 10


def main() -> None:
    django.setup()
    from django.db import connection

    from benchweb.hosts.models import Endpoint, Host
    from benchweb.plans.services import plan_create
    from benchweb.runs import services
    from benchweb.schedules import targets
    from benchweb.schedules.forecasts.feasibility import feasibility
    from benchweb.schedules.services import schedule_create, schedule_draft

    steps = [{"kind": "tcp_stream", "params": {"duration_seconds": 1}}]
    plan = plan_create(name="bench", steps=steps, repetitions=1, order="interleaved")
    hosts = Host.objects.bulk_create(Host(name=f"host-{number}") for number in range(HOSTS))
    ends = Endpoint.objects.bulk_create(Endpoint(host=host, control_address="127.0.0.1:1") for host in hosts)
    target = {"mesh": {"endpoints": [end.pk for end in ends]}}
    pairs = targets.pairs_of(target)

    spent: dict[str, list[float]] = {"arranged": [], "lower_bound_seconds": [], "write_runs": []}
    for name, seconds in spent.items():
        setattr(services, name, timed(getattr(services, name), seconds))
    whole: list[float] = []
    for _ in range(ROUNDS):
        campaign = timed(services.launch, whole)(plan=plan, pairs=pairs, user=None)
    planning = [sum(both) for both in zip(spent["arranged"], spent["lower_bound_seconds"], strict=True)]
    print(f"\n{len(pairs):,} runs launched in {median(whole):.2f} s (medians of {ROUNDS}), of which")
    print(f"- planning {median(planning):.2f} s")
    print(f"- rows of runs, trials and reservations {median(spent['write_runs']):.2f} s")
    print("- the rest reads hosts, commits and sends the first wake-ups")
    assert campaign.planned_seconds and campaign.lower_bound_seconds
    print(f"Planned : bound = {campaign.planned_seconds / campaign.lower_bound_seconds:.3f}\n")

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    timing: dict[str, Any] = {"plan": plan, "cron": "0 2 * * *", "starts_at": datetime(2040, 1, 1, tzinfo=UTC)}
    few = {"mesh": {"endpoints": [end.pk for end in ends[:FEW_HOSTS]]}}
    draft = schedule_draft(name="few", target=few, **timing)
    show("alone", feasibility, draft)
    for number in range(OTHERS):
        schedule_create(name=f"other {number}", target=few, **(timing | {"cron": f"{6 * number} 4 * * *"}))
    show(f"beside {OTHERS} others as large", feasibility, draft)
    show("alone", feasibility, schedule_draft(name="all", target=target, confirm_runs=len(pairs), **timing))


def show(name: str, feasibility: "Callable[..., Feasibility]", draft: "Schedule") -> None:
    seconds: list[float] = []
    cpu_begin = time.process_time()
    for _ in range(ROUNDS):
        result = timed(feasibility, seconds)(draft, now=datetime(2040, 1, 1, tzinfo=UTC))
    cpu = (time.process_time() - cpu_begin) / ROUNDS
    foretold = f"{median(seconds) * 1_000:.0f} ms, of which CPU {cpu * 1_000:.0f} ms"
    print(f"A schedule of {result.runs:,} runs a slot, {name}, is foretold in {foretold}.")


def timed(function: Callable[P, R], seconds: list[float]) -> Callable[P, R]:
    def measured(*positional: P.args, **named: P.kwargs) -> R:
        begin = time.perf_counter()
        try:
            return function(*positional, **named)
        finally:
            seconds.append(time.perf_counter() - begin)

    return measured


def median(seconds: list[float]) -> float:
    return statistics.median(seconds)


if __name__ == "__main__":
    main()
