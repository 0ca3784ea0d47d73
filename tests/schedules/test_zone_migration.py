"""Schedules that older versions saved with a file of the zone database for a zone."""

from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection

from benchweb.schedules.models import Schedule
from benchweb.schedules.timing.localtime import zone_keys
from tests.factories import make_schedule

migration = import_module("benchweb.schedules.migrations.0003_canonical_zones")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("before", "after"),
    [("right/Europe/Berlin", "Europe/Berlin"), ("posix/UTC", "UTC"), ("Asia/Shanghai", "Asia/Shanghai")],
)
def test_a_variant_becomes_the_zone_it_is_a_variant_of(before: str, after: str) -> None:
    schedule = make_schedule()
    Schedule.objects.update(timezone=before)
    with connection.schema_editor() as editor:
        migration.write_plainly(apps, editor)
    schedule.refresh_from_db()
    assert schedule.timezone == after


@pytest.mark.django_db
def test_a_zone_that_names_no_place_becomes_the_machine_s() -> None:
    schedule = make_schedule()
    Schedule.objects.update(timezone="localtime")
    with connection.schema_editor() as editor:
        migration.write_plainly(apps, editor)
    schedule.refresh_from_db()
    assert schedule.timezone in zone_keys()
