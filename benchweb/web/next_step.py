"""What is still missing before anything can be measured: the one thing to do next."""

from enum import StrEnum

from django.db.models import Exists

from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.plans.models import Plan


class Step(StrEnum):
    """A thing to do, in the order in which they need each other."""

    HOST = "host"
    SECOND_HOST = "second host"
    PAIR = "pair"
    PLAN = "plan"
    LAUNCH = "launch"


def step_to_pair() -> Step:
    """Find what a pair needs first; one query."""
    endpoints = len(Endpoint.objects.filter(archived_at=None).values_list("pk")[:2])
    return (Step.HOST, Step.SECOND_HOST, Step.PAIR)[endpoints]


def next_step() -> Step:
    """Find what to do next; one query."""
    found = (
        Host.objects.filter(archived_at=None)
        .values(
            paired=Exists(Pair.objects.filter(archived_at=None)),
            planned=Exists(Plan.objects.filter(archived_at=None)),
            # One host with one endpoint has nobody to be paired with.
            pairable=Exists(Endpoint.objects.filter(archived_at=None)[1:]),
        )
        .first()
    )
    if found is None:
        return Step.HOST
    if not found["paired"]:
        return Step.PAIR if found["pairable"] else Step.SECOND_HOST
    return Step.LAUNCH if found["planned"] else Step.PLAN
