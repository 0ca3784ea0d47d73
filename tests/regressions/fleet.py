"""Eight hosts with quiet nights behind them, and a night in which some of them fall."""

from datetime import datetime

from benchweb.hosts.facts.records import facts_record
from benchweb.hosts.models import Endpoint, Pair
from benchweb.hosts.services import pair_create
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert
from tests.factories import make_endpoint, make_environment
from tests.regressions import judged

NIGHTS = 13
# Before all other scenes' nights: the last is over whenever the tests run.
_EARLIER = 20
NAMES = ("alder", "birch", "cedar", "dogwood", "elm", "fir", "gorse", "hazel")
PEERS = (1, 3)


def make_fleet() -> None:
    """Make eight hosts, each an end of four pairs, with some nights in which nothing happens."""
    endpoints, environment = [make_endpoint(host_name=name) for name in NAMES], make_environment()
    for endpoint in endpoints:
        record(endpoint, "6.8.0", 0)
    pairs = [
        pair_create(source=source, sink=endpoints[(index + peer) % len(endpoints)], environment=environment)
        for index, source in enumerate(endpoints)
        for peer in PEERS
    ]
    for number in range(NIGHTS):
        for index, pair in enumerate(pairs):
            judged.run_of(pair, number - _EARLIER, 1 + 0.001 * ((index * 7 + number * 3) % 5))


def night(number: int) -> datetime:
    """Return when a night's runs begin."""
    return judged.night(number - _EARLIER)


def fleet_pairs() -> list[Pair]:
    """Return its pairs, read anew."""
    return list(Pair.objects.select_related("environment", "source__host", "sink__host").order_by("pk"))


def record(endpoint: Endpoint, kernel: str, number: int, **facts: str) -> None:
    """Let a host report its kernel at a night, before its runs end."""
    document = {"kernel": kernel, "clock_source": "tsc"} | facts
    facts_record(endpoint_id=endpoint.pk, document=document, at=night(number))


def endpoint_of(name: str) -> Endpoint:
    """Return a host's endpoint."""
    return Endpoint.objects.get(host__name=name)


def is_of(pair: Pair, names: set[str]) -> bool:
    """Tell whether a pair has one of these hosts."""
    return bool({pair.source.host.name, pair.sink.host.name} & names)


def fallen_alert(pairs: list[Pair], names: set[str], factor: float = 0.88) -> Alert:
    """Measure a night in which the pairs of these hosts fall, and return the alert with most of them."""
    runs = [judged.run_of(pair, NIGHTS - _EARLIER, factor if is_of(pair, names) else 1.0) for pair in pairs]
    for run in runs:
        judge_run(run.pk)
    return max(Alert.objects.all(), key=lambda alert: alert.series.count())
