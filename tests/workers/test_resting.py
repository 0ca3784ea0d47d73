"""A tick in a database that nobody writes to asks once whether anybody did, and finds what the clock makes due."""

from datetime import timedelta

import psycopg
import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from benchweb.common.rows import database_now
from benchweb.hosts.models import Environment
from benchweb.runs.models import Run, State
from benchweb.schedules.models import Schedule
from tests.factories import make_environment, make_run, make_schedule
from workers import ticking
from workers.resting import REST_SECONDS, Rest

pytestmark = pytest.mark.django_db(transaction=True)


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def rests(rest: Rest) -> bool:
    """Tell whether it goes on at one of some looks: what other tests write to the same server ends it too."""
    return any(rest.goes_on() for _ in range(1_000))


def test_it_rests_while_nothing_is_written_and_looks_again_after_a_while(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    rest = Rest(clock := Clock())
    assert [rest.goes_on(), rests(rest)] == [False, True]
    with django_assert_num_queries(1):
        rest.goes_on()
    assert rests(rest)
    clock.seconds = REST_SECONDS
    assert [rest.goes_on(), rests(rest)] == [False, True]


def test_what_anybody_writes_ends_it_when_it_is_committed() -> None:
    rest = Rest(Clock())
    environment = make_environment("lab")
    rest.goes_on()
    with psycopg.connect(_url()) as other:
        other.execute("update hosts_environment set description = 'new' where id = %s", [environment.pk])
        # A tick between the writing and its commit sees nothing of it yet.
        assert rests(rest)
    assert Environment.objects.get().description == "new"
    assert [rest.goes_on(), rests(rest)] == [False, True]


def test_it_does_not_rest_beside_an_open_run_whose_lease_may_run_out() -> None:
    make_run()
    rest = Rest(Clock())
    assert [rest.goes_on() for _ in range(3)] == [False] * 3
    Run.objects.update(state=State.FINISHED, finished_at=database_now())
    assert [rest.goes_on(), rests(rest)] == [False, True]


def test_it_ends_before_a_slot_of_a_schedule() -> None:
    make_schedule(every="PT1H", starts_at=database_now() + timedelta(hours=1))
    Schedule.objects.update(next_at=database_now() + timedelta(seconds=3))
    rest = Rest(clock := Clock())
    assert [rest.goes_on(), rests(rest)] == [False, True]
    clock.seconds = 2.0
    assert not rest.goes_on()


def test_a_tick_that_rests_does_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    monkeypatch.setattr(ticking, "STEPS", (lambda: done.append(1),))
    rest = Rest(Clock())
    ticks = 100
    for _ in range(ticks):
        ticking.tick(rest)
    before = len(done)
    assert before < ticks
    make_environment("lab")
    ticking.tick(rest)
    assert len(done) == before + 1


def _url() -> str:
    settings = connection.settings_dict
    return psycopg.conninfo.make_conninfo(host=settings["HOST"], dbname=settings["NAME"], user=settings["USER"])
