"""The sample environment of a new installation: made once, and not again after somebody removed it."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.utils import timezone

from benchweb.common import celery_client
from benchweb.hosts.models import Host, Pair
from benchweb.ops import synthetic
from benchweb.ops.running.home import Home
from benchweb.runs.models import Run, State

TASK = "workers.tasks.make_sample"
STAMP = "sample"
_DUE, _DECIDED = "due", "decided"
# More are a history of generate_history's: too much to be removed while a page is waited for.
_MOST_HOSTS, _MOST_RUNS = 50, 5_000
_POLL_SECONDS = 0.5
# A run that never ends must not keep the sample away.
_PATIENCE_SECONDS = 300.0


@dataclass(frozen=True)
class SampleData:
    """What is made up of all that is there."""

    hosts: int
    pairs: int
    # At most one more than a page removes.
    runs: int

    @property
    def is_removable(self) -> bool:
        """Tell whether a page may remove it; the command may remove any."""
        return self.hosts <= _MOST_HOSTS and self.runs <= _MOST_RUNS


def decide(home: Home) -> None:
    """Note, at the first start, whether this is a new installation: one with hosts of its own gets no sample."""
    if not home.stamp(STAMP):
        home.set_stamp(STAMP, _DECIDED if Host.objects.exists() else f"{_DUE} {synthetic.reserve_runs()}")


def make_if_due(home: Home) -> int | None:
    """Make the sample that a new installation has still to get; its points, or None where none is due."""
    state, _, first_run = home.stamp(STAMP).partition(" ")
    if state != _DUE:
        return None
    points = make(int(first_run))
    home.set_stamp(STAMP, _DECIDED)
    return points


def request() -> bool:
    """Have a worker make the sample; False when none can be told."""
    return celery_client.send(TASK)


def make(first_run: int | None = None) -> int:
    """Make the sample; return how many points it has, 0 where there is one. Runs go first: it shares their machine."""
    let_go_first = _patience()
    let_go_first()
    return synthetic.make_sample(timezone.now(), first_run=first_run, before_each=let_go_first)


def there() -> SampleData | None:
    """Return what is made up, None for nothing; three queries."""
    hosts = Host.objects.filter(is_synthetic=True).count()
    if not hosts:
        return None
    pairs = Pair.objects.filter(source__host__is_synthetic=True)
    runs = Run.objects.filter(pair__in=pairs)[: _MOST_RUNS + 1].count()
    return SampleData(hosts, pairs.count(), runs)


def remove() -> int:
    """Remove all that is made up; return how many runs it had."""
    return synthetic.remove().get(Run._meta.db_table, 0)


def _patience() -> Callable[[], None]:
    give_up_at = time.monotonic() + _PATIENCE_SECONDS

    def wait() -> None:
        while time.monotonic() < give_up_at and Run.objects.filter(state=State.RUNNING).exists():
            time.sleep(_POLL_SECONDS)

    return wait
