"""Tell what is missing before anything can be measured: the one thing to do next."""

from collections.abc import Container
from enum import StrEnum

from django.db.models import Exists
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.plans.models import Plan


class NextStep(StrEnum):
    """A thing to do, in the order in which they need each other."""

    HOST = "host"
    SECOND_HOST = "second host"
    PAIR = "pair"
    PLAN = "plan"
    LAUNCH = "launch"


_WORDS = {
    NextStep.HOST: gettext_noop("A host"),
    NextStep.SECOND_HOST: gettext_noop("Another host"),
    NextStep.PAIR: gettext_noop("A pair of them, in an environment"),
    NextStep.PLAN: gettext_noop("A plan"),
    NextStep.LAUNCH: gettext_noop("Launch"),
}


def stages(following: NextStep, done: Container[NextStep]) -> list[tuple[str, bool, bool]]:
    """Return all steps in words, whether each is done, and whether it is the next one."""
    return [(_(words), step in done, step == following) for step, words in _WORDS.items()]


def step_to_pair() -> tuple[NextStep, int | None]:
    """Find what a pair needs first, and the host of the only endpoint, which another one may join; one query."""
    hosts = list(Endpoint.objects.filter(archived_at=None).values_list("host_id", flat=True)[:2])
    return (NextStep.HOST, NextStep.SECOND_HOST, NextStep.PAIR)[len(hosts)], hosts[0] if len(hosts) == 1 else None


def lone_host() -> int | None:
    """Return the host of the only endpoint, which another one may join; one query."""
    return Endpoint.objects.filter(archived_at=None).values_list("host_id", flat=True).first()


def next_step() -> tuple[NextStep, set[NextStep]]:
    """Find what to do next, and what is done; one query."""
    counts = (
        Host.objects.filter(archived_at=None)
        .values(
            paired=Exists(Pair.objects.filter(archived_at=None)),
            planned=Exists(Plan.objects.filter(archived_at=None, is_one_off=False)),
            # One host with one endpoint has nobody to be paired with.
            pairable=Exists(Endpoint.objects.filter(archived_at=None)[1:]),
        )
        .first()
    )
    if counts is None:
        return NextStep.HOST, set()
    is_done = {
        NextStep.HOST: True,
        NextStep.SECOND_HOST: counts["paired"] or counts["pairable"],
        NextStep.PAIR: counts["paired"],
        NextStep.PLAN: counts["planned"],
        NextStep.LAUNCH: False,
    }
    return next(step for step in NextStep if not is_done[step]), {step for step in NextStep if is_done[step]}
