"""Write a script of synthetic history into the tables: by COPY, all or nothing."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from random import Random

from django.db import connection, transaction

from benchweb.catalog import catalog
from benchweb.ops.synthetic.fates import NightFate
from benchweb.ops.synthetic.inventory import Inventory, make_inventory
from benchweb.ops.synthetic.loading import Loader, indexes_set_aside, is_cheaper_set_aside
from benchweb.ops.synthetic.rows import FIELDS, NightLines, RunToWrite, RunWriter, Test
from benchweb.ops.synthetic.samples import with_samples
from benchweb.ops.synthetic.script import REPETITIONS, Script, script_of_nights, script_of_points
from benchweb.ops.synthetic.shapes import METRICS, shape
from benchweb.ops.synthetic.stories import MTUS
from benchweb.results import nightly_summaries as nights
from benchweb.results import run_summaries as recents
from benchweb.results.ingest import identity_digest
from benchweb.results.models import NightFigure, Point, Result, RunFigure, Series
from benchweb.runs.bulk import new_ids
from benchweb.runs.models import Campaign, Run, State, Trial
from benchweb.runs.selectors import campaign_state
from benchweb.schedules.models import Slot
from benchweb.schedules.slots.settling import reason_of_counts

# A histogram is some 150 bytes, an engine's intervals are 1.5 kB: some have them, as retention would leave it.
_PAIRS_WITH_HISTOGRAMS = 12
_NIGHTS_WITH_INTERVALS = 7


@dataclass(frozen=True)
class WrittenHistory:
    """The rows written, and the seconds for copying, indexes made again, vacuum analyze, recent medians."""

    points: int
    series: int
    runs: int
    trials: int
    copying_seconds: float
    indexing_seconds: float
    vacuum_seconds: float
    summing_seconds: float


@dataclass(frozen=True)
class _Work:
    """The needs of writing a night: the rows it hangs on, each pair's tests, and ids not yet given."""

    script: Script
    inventory: Inventory
    # By the path's MTU.
    tests: list[dict[int, list[Test]]]
    run_ids: Iterator[int]
    trial_ids: Iterator[int]
    source: Random


def generate_nights(*, pairs: int, days: int, seed: int, until: datetime, has_samples: bool = False) -> WrittenHistory:
    """Write so many nights up to `until` of so many pairs; the same seed and time give the same history.

    With samples of alerts the last nights have what `judge_samples` finds then.
    """
    source = Random(seed)  # noqa: S311  (not a secret: it is to be repeated)
    script = script_of_nights(pairs, days, until, source)
    return _written_history(with_samples(script) if has_samples else script, until, source)


def generate_points(*, points: int, seed: int, until: datetime) -> WrittenHistory:
    """Write at least so many points, at most a night more: of as many pairs as a year of nights asks for."""
    source = Random(seed)  # noqa: S311
    return _written_history(script_of_points(points, until, source), until, source)


def _written_history(script: Script, until: datetime, source: Random) -> WrittenHistory:
    begun = time.perf_counter()
    with transaction.atomic():
        is_aside = is_cheaper_set_aside(Point, script.points)
        work = _prepared(script, until, source)
        with indexes_set_aside([Trial, Result, Point]) if is_aside else nullcontext():
            points = sum(_write_nights(work, script.fates).values())
            copied = time.perf_counter()
    indexed = time.perf_counter()
    _vacuum("")
    vacuumed = time.perf_counter()
    # The tick sums up a few runs at a time: of so many it is done at once.
    with transaction.atomic():
        # Before the tables: the tick reads them while it has this lock, and each would wait for the other.
        nights.take_lock(wait=True)
        with indexes_set_aside([RunFigure]) if is_aside else nullcontext():
            recents.write_figures()
    # Each run says now that it is summed up: a plan by what was known before reads all runs for the few that are not.
    _vacuum(f"{RunFigure._meta.db_table}, {Run._meta.db_table}")
    recents.rebuild()
    _vacuum(NightFigure._meta.db_table)
    summed_up = time.perf_counter()
    series = sum(len(METRICS[trial.kind]) for trial in script.trials if trial.repetition == 1) * len(script.planned)
    seconds = (copied - begun, indexed - copied, vacuumed - indexed, summed_up - vacuumed)
    runs = script.run_count
    return WrittenHistory(points, series, runs, runs * len(script.trials), *seconds)


def written_in_turn(
    script: Script, until: datetime, source: Random, *, at_once: int, run_ids: Sequence[int] = ()
) -> Iterator[list[int]]:
    """Write so many nights at once, and then each of the others; with figures, each part's runs are given in order.

    In the caller's transaction, which shows all of it at its end: until then nobody else sums it up. `run_ids` are
    those that were kept for it, if any.
    """
    work = _prepared(script, until, source, run_ids)
    fates = script.fates
    for part in (fates[:at_once], *([night] for night in fates[at_once:])):
        written = list(_write_nights(work, part))
        recents.write_figures_unseen(written)
        yield written


def _prepared(script: Script, until: datetime, source: Random, run_ids: Sequence[int] = ()) -> _Work:
    """Write what the history hangs on."""
    inventory = make_inventory(script, repetitions=REPETITIONS, until=until)
    tests = [_tests(script, inventory, number) for number in range(len(script.planned))]
    runs = script.run_count
    trial_ids = new_ids(Trial, runs * len(script.trials))
    return _Work(script, inventory, tests, iter(run_ids or new_ids(Run, runs)), iter(trial_ids), source)


def _vacuum(tables: str) -> None:
    """Tell index-only scans which pages everybody sees, of tables or of all. In a test's transaction there is none."""
    with connection.cursor() as cursor:
        cursor.execute(f"{'analyze' if connection.in_atomic_block else 'vacuum analyze'} {tables}")


def _tests(script: Script, inventory: Inventory, number: int) -> dict[int, list[Test]]:
    """Return a pair's trials by the path's MTU, each with the ids of its series; two queries."""
    pair, path = inventory.pairs[number], script.planned[number].path
    singles = [trial for trial in script.trials if trial.repetition == 1]
    rows = [
        Series(pair=pair, kind=trial.kind, metric=metric, identity=identity, identity_digest=identity_digest(identity))
        for trial in singles
        for identity in [catalog().kinds[trial.kind].identity(trial.params)]
        for metric in METRICS[trial.kind]
    ]
    ids = iter([row.pk for row in Series.objects.bulk_create(rows)])
    series = [tuple(islice(ids, len(METRICS[trial.kind]))) for trial in singles]
    tests = {}
    for mtu_bytes in MTUS:
        shapes = [shape(trial.kind, replace(path, mtu_bytes=mtu_bytes), trial.params) for trial in singles]
        tests[mtu_bytes] = [
            Test.of(trial, shapes[index % len(singles)], series[index % len(singles)])
            for index, trial in enumerate(script.trials)
        ]
    return tests


def _write_nights(work: _Work, nights: Sequence[NightFate]) -> dict[int, int]:
    """Write nights; return how many points each run has, by its id and in the order in which they ran."""
    loader, counts = Loader(), dict[int, int]()
    for night, slot in zip(nights, _write_slots(work, nights), strict=True):
        if slot.campaign_id is None:
            continue
        lines = NightLines()
        for number in sorted(night.runs, key=lambda number: (work.script.starts[number], number)):
            run, before = _run(work, night, number, slot.campaign_id), len(lines.points)
            RunWriter(lines, run, work.source).write()
            counts[run.id] = len(lines.points) - before
        for model, rows in ((Run, lines.runs), (Trial, lines.trials), (Result, lines.results), (Point, lines.points)):
            loader.copy(model, FIELDS[model], "".join(rows))
    loader.finish()
    return counts


def _write_slots(work: _Work, nights: Sequence[NightFate]) -> list[Slot]:
    """Write each night's slot and campaign, which is created at the slot's time."""
    slots = [_slot(work, night) for night in nights]
    campaigns = [slot.campaign for slot in slots if slot.campaign is not None]
    Campaign.objects.bulk_create(campaigns)
    for slot in slots:
        if slot.campaign is not None:
            slot.campaign.created_at = slot.at
    Campaign.objects.bulk_update(campaigns, ["created_at"], batch_size=1_000)
    return Slot.objects.bulk_create(slots)


def _slot(work: _Work, night: NightFate) -> Slot:
    script, at = work.script, work.script.nights[night.night]
    slot = Slot(schedule=work.inventory.schedule, at=at, state=State.MISSED, reason=night.reason, claimed_at=at)
    if night.runs:
        counts = Counter(fate.state.value for fate in night.runs.values())
        slot.state, slot.reason = campaign_state(list(counts)), reason_of_counts(counts)
        slot.campaign = Campaign(
            plan_version=work.inventory.plan_version,
            planned_seconds=script.planned_seconds,
            lower_bound_seconds=script.lower_bound_seconds,
        )
    return slot


def _run(work: _Work, night: NightFate, number: int, campaign_id: int) -> RunToWrite:
    script, pair = work.script, work.inventory.pairs[number]
    begun_at = script.nights[night.night]
    source_facts, sink_facts = (work.inventory.facts_at(end, night.night) for end in (pair.source_id, pair.sink_id))
    return RunToWrite(
        id=next(work.run_ids),
        campaign=campaign_id,
        pair=pair.pk,
        plan_version=work.inventory.plan_version.pk,
        at=begun_at + timedelta(seconds=script.starts[number]),
        created_at=begun_at,
        night=script.pair_stories[number].nights[night.night],
        fate=night.runs[number],
        tests=work.tests[number][script.mtu_bytes(number, night.night)],
        trial_ids=list(islice(work.trial_ids, len(script.trials))),
        offsets=script.offsets,
        facts=(source_facts, sink_facts),
        has_histograms=number < _PAIRS_WITH_HISTOGRAMS,
        has_intervals=night.night >= len(script.nights) - _NIGHTS_WITH_INTERVALS,
    )
