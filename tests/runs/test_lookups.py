"""Rows found by the ids that a query gives, as an array that is read first."""

import pytest

from benchweb.runs.lookups import IsAmong
from benchweb.runs.models import Run
from tests.factories import make_run


@pytest.mark.django_db
def test_rows_are_found_by_an_array_of_ids_and_not_by_a_join() -> None:
    runs = [make_run() for _ in range(3)]
    newest = Run.objects.order_by("-pk").values("pk")[:2]
    found = Run.objects.filter(IsAmong(newest)).order_by("pk")
    assert [run.pk for run in found] == [run.pk for run in runs[1:]]
    # A join of it would be one too many for the planner beside the tables that name a run.
    assert "Join" not in found.explain()
    assert "InitPlan" in found.explain()


@pytest.mark.django_db
def test_of_no_ids_no_row_is_found() -> None:
    make_run()
    assert list(Run.objects.filter(IsAmong(Run.objects.filter(state="missed").values("pk")))) == []
    assert list(Run.objects.filter(IsAmong(Run.objects.filter(pk__in=[]).values("pk")))) == []
