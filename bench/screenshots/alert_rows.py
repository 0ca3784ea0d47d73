"""Thirty nights of a mesh of four hosts with some faults, for the pictures of alerts: run in a rig's environment.

Each night is written and judged after the other, as it would have been then. One host gets a new kernel and loses 9 %
of what it moves in large messages; the latency of one pair rises beyond a threshold; one host is unreachable.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import permutations
from random import Random

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402  (needs the settings)

from bench.screenshots.alerts import NIGHTS_SLOW, PASSWORD, USER  # noqa: E402
from benchweb.catalog import catalog  # noqa: E402
from benchweb.hosts.facts.records import facts_record  # noqa: E402
from benchweb.hosts.models import Endpoint, Environment, Facts, Host, Pair  # noqa: E402
from benchweb.plans.models import Plan  # noqa: E402
from benchweb.plans.services import plan_create  # noqa: E402
from benchweb.regressions.absence.alerts import open_once  # noqa: E402
from benchweb.regressions.baselines import baseline_pin  # noqa: E402
from benchweb.regressions.judge import judge_run  # noqa: E402
from benchweb.regressions.thresholds.rules import ThresholdValues, threshold_create  # noqa: E402
from benchweb.results.ingest import identity_digest  # noqa: E402
from benchweb.results.models import Point, Result, Series  # noqa: E402
from benchweb.results.run_summaries import write_figures  # noqa: E402
from benchweb.runs.models import Campaign, Run, State, Trial  # noqa: E402
from benchweb.schedules.models import Schedule, Slot  # noqa: E402
from benchweb.schedules.services import schedule_create  # noqa: E402

HOSTS = ("alder", "birch", "cedar", "dogwood")
NIGHTS, REPETITIONS, SEED = 30, 3, 7
DAY, AGAIN_AFTER = timedelta(days=1), timedelta(minutes=40)
# Nights ago, of 1 for the latest.
SLOW_SINCE, LATE_SINCE = NIGHTS_SLOW + 1, 6
SLOW_HOST, SLOW_FROM_BYTES, SLOW = "cedar", 16_384, 0.91
LATE_PAIR, LATE = ("dogwood", "birch"), 1.4
# Bits per second by message size, and seconds at the 99th percentile.
RATES = {64: 0.92e9, 1_024: 6.1e9, 16_384: 16.3e9, 65_536: 17.2e9}
LATENCY_SECONDS = 42e-6
# The other percentiles of a run, as shares of that.
OF_P99 = {
    "latency_min_seconds": 0.55,
    "latency_p50_seconds": 0.72,
    "latency_p90_seconds": 0.86,
    "latency_p999_seconds": 1.4,
    "latency_max_seconds": 2.9,
}
NOISE_WITHIN, NOISE_BETWEEN = 0.004, 0.006
STEPS = [
    {"kind": "tcp_stream", "params": {"message_size_bytes": list(RATES)}},
    {"kind": "tcp_rr", "params": {"request_size_bytes": 1, "response_size_bytes": 1}},
]
random = Random(SEED)


def main() -> None:
    """Make the user, the mesh and its nights."""
    User.objects.create_superuser(USER, password=PASSWORD)
    plan = plan_create(name="nightly sizes", steps=STEPS, repetitions=REPETITIONS, order="interleaved")
    environment = Environment.objects.create(name="same zone")
    ends = {name: _endpoint(name, number) for number, name in enumerate(HOSTS, start=1)}
    pairs = [
        Pair.objects.create(source=ends[source], sink=ends[sink], environment=environment)
        for source, sink in permutations(HOSTS, 2)
    ]
    schedule = schedule_create(name="nightly", plan=plan, target={"environment": environment.pk}, cron="0 2 * * *")
    limit = ThresholdValues("slow answers", "tcp_rr", "latency_p99_seconds", "above", 50e-6, "critical", plan=plan)
    threshold_create(limit, by=None)
    last = _latest_night()
    for ago in range(NIGHTS, 0, -1):
        _night(schedule, plan, pairs, last - (ago - 1) * DAY, ago)
    first = Run.objects.order_by("pk").select_related("pair", "plan_version").first()
    assert first is not None
    baseline_pin(run=first, name="since release 5.2", by=None)
    open_once(code="unreachable", key="demo", begun_at=last, endpoint=ends["alder"], environment=environment)


def _latest_night() -> datetime:
    """Return the latest 02:00 UTC that is over."""
    now = datetime.now(UTC)
    tonight = now.replace(hour=2, minute=0, second=0, microsecond=0)
    return tonight if tonight < now - timedelta(minutes=30) else tonight - DAY


def _endpoint(name: str, number: int) -> Endpoint:
    host = Host.objects.create(name=name, labels=["nightly"])
    address = f"192.0.2.{number}"
    return Endpoint.objects.create(
        host=host,
        control_address=f"{address}:5201",
        data_address=address,
        fingerprint="",
        token_encrypted=b"",
        status="answered",
    )


def _night(schedule: Schedule, plan: Plan, pairs: list[Pair], at: datetime, ago: int) -> None:
    version = plan.versions.get()
    campaign = Campaign.objects.create(plan_version=version)
    Slot.objects.create(schedule=schedule, at=at, state=State.FINISHED, claimed_at=at, campaign=campaign)
    runs = [Run.objects.create(campaign=campaign, pair=pair, plan_version=version, planned_at=at) for pair in pairs]
    _measure(runs, at, ago)
    # What stood out is measured again in the same night.
    again = Run.objects.filter(state=State.PENDING)
    Campaign.objects.filter(runs__in=again).update(created_at=at)
    _measure(list(again.select_related("pair__source__host", "pair__sink__host")), at + AGAIN_AFTER, ago)


def _measure(runs: list[Run], at: datetime, ago: int) -> None:
    """Write what runs gave, and judge them."""
    for number, run in enumerate(runs):
        _finish(run, at + number * timedelta(minutes=2), ago)
    write_figures()
    for run in runs:
        assert judge_run(run.pk)


def _finish(run: Run, at: datetime, ago: int) -> None:
    run.trials.all().delete()
    times = {"created_at": at, "started_at": at, "finished_at": at + timedelta(minutes=1)}
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED, **times)
    facts = [_facts(end, at, ago) for end in (run.pair.source, run.pair.sink)]
    for size, rate in RATES.items():
        level = rate * (SLOW if _is_slow(run.pair, size, ago) else 1) * random.gauss(1, NOISE_BETWEEN)
        _trials(run, "tcp_stream", {"message_size_bytes": size}, {"throughput_bps": level}, facts, at)
    late = (run.pair.source.host.name, run.pair.sink.host.name) == LATE_PAIR and ago <= LATE_SINCE
    level = LATENCY_SECONDS * (LATE if late else 1) * random.gauss(1, NOISE_BETWEEN)
    params = {"request_size_bytes": 1, "response_size_bytes": 1}
    _trials(run, "tcp_rr", params, {"latency_p99_seconds": level}, facts, at, of_p99=OF_P99)


def _is_slow(pair: Pair, size_bytes: int, ago: int) -> bool:
    names = (pair.source.host.name, pair.sink.host.name)
    return SLOW_HOST in names and size_bytes >= SLOW_FROM_BYTES and ago <= SLOW_SINCE


def _facts(endpoint: Endpoint, at: datetime, ago: int) -> Facts:
    is_new = endpoint.host.name == SLOW_HOST and ago <= SLOW_SINCE
    document = {"kernel": "6.8.0-51-generic" if is_new else "6.8.0-49-generic", "hostname": endpoint.host.name}
    return Facts.objects.get(pk=facts_record(endpoint_id=endpoint.pk, document=document, at=at))


def _trials(
    run: Run,
    kind: str,
    params: dict[str, int],
    levels: dict[str, float],
    facts: list[Facts],
    at: datetime,
    of_p99: Mapping[str, float] = {},
) -> None:
    """Write the repetitions of one trial with their points; what follows from its p99 is in its results alone."""
    identity = catalog().kinds[kind].identity(params)
    for repetition in range(1, REPETITIONS + 1):
        index = run.trials.count() + 1
        moment = at + timedelta(seconds=index)
        times = {"started_at": moment, "finished_at": moment}
        trial = Trial.objects.create(
            run=run, index=index, kind=kind, params=params, repetition=repetition, state=State.FINISHED, **times
        )
        values = {metric: level * random.gauss(1, NOISE_WITHIN) for metric, level in levels.items()}
        source, sink = facts
        told = {name: values["latency_p99_seconds"] * share for name, share in of_p99.items()}
        told |= {"transactions_per_second": 1 / told["latency_p50_seconds"]} if told else {}
        Result.objects.create(trial=trial, metrics=values | told, document={}, source_facts=source, sink_facts=sink)
        for metric, value in values.items():
            series, _is_new = Series.objects.get_or_create(
                pair=run.pair,
                kind=kind,
                metric=metric,
                identity_digest=identity_digest(identity),
                defaults={"identity": identity},
            )
            Point.objects.create(series=series, at=moment, value=value, run=run, trial=trial)


if __name__ == "__main__":
    main()
