"""Slow changes on the page of the night that they were found in, and in its shares: they are no alerts."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchweb.hosts.models import Pair
from benchweb.regressions.models import Alert, SlowChangeSeries
from benchweb.web.view_shares.building import built
from tests.factories import make_endpoint, make_pair
from tests.regressions.slow.nights import DAY, LAST, look, part_of, step, write_nights

PAGE = f"/morning?night={LAST}&zone=UTC"


def test_a_night_tells_what_its_look_found_with_levels_interval_nights_and_the_history(signed_in: Client) -> None:
    pair = make_pair()
    (series,) = write_nights(pair, step())
    (change,) = look(pair)
    part = part_of(change)
    page = signed_in.get(PAGE).content.decode()
    section = page.partition("Slowly changing")[2]
    assert (
        f'<a href="/history?series={series.pk}&amp;over=90d">{pair}: TCP stream · Throughput, received 9.41 → '
        in section
    )
    assert f"a step around {part.since} · 90 nights" in section
    assert "−3." in section
    assert "% (95 % interval −" in section
    assert not Alert.objects.exists()
    for other in (LAST - DAY, LAST + DAY):
        assert "Slowly changing" not in signed_in.get(f"/morning?night={other}&zone=UTC").content.decode()
    assert signed_in.get(f"/history?series={series.pk}&over=90d").status_code == 200


def test_a_night_of_another_environment_tells_nothing_of_it(signed_in: Client) -> None:
    pair, other = make_pair(), make_pair(environment="other")
    write_nights(pair, step())
    look(pair)
    assert "Slowly changing" in signed_in.get(f"{PAGE}&environment={pair.environment_id}").content.decode()
    assert "Slowly changing" not in signed_in.get(f"{PAGE}&environment={other.environment_id}").content.decode()


def test_series_of_one_host_are_one_line(signed_in: Client) -> None:
    end = make_endpoint()
    pairs = [make_pair(source=end, environment=name) for name in ("a", "b", "c", "d")]
    Pair.objects.filter(pk__in=[pair.pk for pair in pairs]).update(environment=pairs[0].environment_id)
    for number, pair in enumerate(pairs):
        write_nights(pair, step(seed=number), step(seed=number + 10))
    look(pairs[0])
    section = signed_in.get(PAGE).content.decode().partition("Slowly changing")[2].partition("</section>")[0]
    assert section.count("<li>") == 1
    assert f"8 series of {end.host.name}: TCP stream · Throughput" in section
    (shown,) = re.findall(r"/history\?series=([0-9,]+)&amp;over=90d", section)
    assert {int(pk) for pk in shown.split(",")} == set(SlowChangeSeries.objects.values_list("series", flat=True))
    assert signed_in.get(f"/history?series={shown}&over=90d").status_code == 200


def test_a_drift_says_since_about_when(signed_in: Client) -> None:
    pair = make_pair()
    values = [value * (1 - 0.06 * min(1.0, max(0.0, (night - 20) / 60))) for night, value in enumerate(step(0.0))]
    write_nights(pair, values)
    (change,) = look(pair)
    assert f"drifting since about {part_of(change).since}" in signed_in.get(PAGE).content.decode()


def test_the_page_asks_as_many_queries_for_many_of_them(signed_in: Client) -> None:
    pair = make_pair()
    write_nights(pair, step(at=40))
    look(pair)
    signed_in.get(PAGE)
    with CaptureQueriesContext(connection) as few:
        signed_in.get(PAGE)
    for name in ("b", "c", "d"):
        other = make_pair(environment=name)
        write_nights(other, step(at=40))
        look(other)
    with CaptureQueriesContext(connection) as many:
        page = signed_in.get(PAGE).content.decode()
    assert page.partition("Slowly changing")[2].count("<li>") == 4
    assert len(many) == len(few)


@pytest.mark.django_db
def test_a_share_of_the_night_tells_them_too() -> None:
    pair = make_pair()
    write_nights(pair, step())
    look(pair)
    document = built(PAGE, "UTC", "en")
    (section,) = [section for section in document.sections if section.key == "slow"]
    ((title, details),) = section.tables[0].rows
    assert str(pair) in str(title)
    assert "90 nights" in str(details)
