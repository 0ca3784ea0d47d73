"""Tell whether a run's own hosts spoiled its figures: a generator that was starved says nothing of the network."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Count, Q

from benchweb.regressions.deciding import DISTURBED_SHARE, USUAL_DISTURBED_SHARE
from benchweb.results.models import Result
from benchweb.runs.models import OPEN_STATES, Run
from benchweb.statistics.deciding import WINDOW_RUNS

# No path holds up what sends these: a rate that they don't reach is their host's. A TCP connection waits for its path.
_UNHINDERED_KINDS = frozenset({"udp_stream", "ping"})
_CPU_FLAGS = ("background_cpu", "cpu_steal")


def disturbed_kinds(run: Run) -> frozenset[str]:
    """Return the kinds of a run's tests that are no figure of the network: most of their trials bear that.

    A rate that was not sent, or CPU that others used where that is not usual in the pair's runs of the plan. A query,
    and one more where CPU was used.
    """
    flags: dict[str, list[list[str]]] = defaultdict(list)
    for kind, its in Result.objects.filter(trial__run=run).values_list("trial__kind", "flags"):
        flags[kind].append(its)
    starved = {kind for kind in flags.keys() & _UNHINDERED_KINDS if _is_most(flags[kind], ("rate_not_reached",))}
    busy = {kind for kind, its in flags.items() if _is_most(its, _CPU_FLAGS)}
    return frozenset(starved | (busy if busy and not _is_usually_busy(run) else set()))


def _is_most(flags: list[list[str]], wanted: Iterable[str]) -> bool:
    return sum(not set(wanted).isdisjoint(its) for its in flags) >= DISTURBED_SHARE * len(flags)


def _is_usually_busy(run: Run) -> bool:
    """Tell whether others used CPU in the pair's runs before too: then the figures before and after bear it alike."""
    before = Run.objects.filter(pair=run.pair_id, plan_version__plan=run.plan_version.plan_id, pk__lt=run.pk)
    latest = list(before.exclude(state__in=OPEN_STATES).order_by("-pk").values_list("pk", flat=True)[:WINDOW_RUNS])
    is_busy = Q()
    for flag in _CPU_FLAGS:
        is_busy |= Q(flags__contains=[flag])
    results = Result.objects.filter(trial__run__in=latest).order_by().values("trial__run")
    counts = list(results.annotate(trials=Count("pk"), busy=Count("pk", filter=is_busy)))
    busy = sum(count["busy"] >= DISTURBED_SHARE * count["trials"] for count in counts)
    return bool(busy > USUAL_DISTURBED_SHARE * len(counts))
