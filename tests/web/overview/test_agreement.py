"""One night with whole, missing, failed, late and running runs and an alert: every page and the API say the same."""

import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.accounts.models import Role
from benchweb.accounts.roles.grants import role_set, team_create
from benchweb.accounts.services import token_create
from benchweb.common.formatting import signed_percent
from benchweb.hosts.models import Pair
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.headline import headline_since
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.results import nightly_summaries as nights
from benchweb.results import run_summaries as recents
from benchweb.runs.models import Campaign, Run
from benchweb.schedules.models import Schedule, Slot
from tests.factories import make_endpoint, make_environment, make_pair, make_plan, make_run, make_schedule
from tests.nights import DAY, measured
from tests.regressions.judged import NOISE

MOST_QUERIES = 12
LEVEL = 1e10


def words(html: str) -> str:
    """Return what a reader sees, on one line."""
    return re.sub(r"\s+", " ", re.sub(r"<(script|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL))


@pytest.fixture(autouse=True)
def afternoon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold the clock at 15:00 UTC: an hour before now is in the same night, which begins at noon."""
    now = (timezone.now() - timedelta(hours=15)).replace(hour=15, minute=0)
    monkeypatch.setattr(timezone, "now", lambda: now)


@pytest.fixture
def api(ada: User) -> Client:
    return Client(headers={"Authorization": f"Bearer {token_create(user=ada, name='scripts')[1]}"})


@pytest.fixture
def night(db: None) -> tuple[Schedule, Pair]:
    """Return a schedule whose latest slot launched six runs an hour ago, and the pair that got a fifth slower in it."""
    environment = make_environment("zone")
    pairs = [
        Pair.objects.create(source=make_endpoint(), sink=make_endpoint(), environment=environment) for _ in range(7)
    ]
    plan, now = make_plan(name="nightly sizes"), timezone.now()
    version = plan.versions.get()
    schedule = make_schedule(name="nightly", plan=plan, target={"pairs": [pair.pk for pair in pairs]})
    slow, *others = pairs
    for number in range(40):
        ago = 40 - number
        factor = 1.0 if number < 28 else 0.79
        run = measured(slow, now - timedelta(hours=1) - ago * DAY, LEVEL * factor * (1 + NOISE[number % len(NOISE)]))
        recents.write_figures()
        judge_run(run.pk)
    last = measured(slow, now - timedelta(hours=1), LEVEL * 0.78)
    recents.write_figures()
    judge_run(last.pk)
    campaign = Campaign.objects.create(plan_version=version)
    at = now - timedelta(hours=1)
    Run.objects.filter(pk=last.pk).update(campaign=campaign, plan_version=version)
    # Failed, never begun, missed, and one that ended an hour later than the others.
    for pair, state, begins, ends in (
        (others[0], "finished", at, at + timedelta(minutes=1)),
        (others[1], "finished", at + timedelta(minutes=50), at + timedelta(minutes=55)),
        (others[2], "failed", at, at + timedelta(minutes=1)),
        (others[3], "nonstart", None, at + timedelta(minutes=5)),
        (others[4], "missed", None, at + timedelta(minutes=5)),
        (others[5], "running", at, None),
    ):
        run = make_run(pair=pair)
        Run.objects.filter(pk=run.pk).update(
            campaign=campaign, plan_version=version, state=state, started_at=begins, finished_at=ends
        )
    Slot.objects.create(schedule=schedule, at=at, claimed_at=at, state="running", campaign=campaign)
    recents.rebuild()
    return schedule, slow


def test_pages_and_the_api_count_the_runs_of_a_night_alike(
    signed_in: Client, api: Client, night: tuple[Schedule, Pair], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    schedule, pair = night
    campaign = schedule.slots.get().campaign_id
    overview = words(signed_in.get("/").content.decode())
    assert "3 of 6" in overview
    assert "3 runs incomplete" in overview
    assert "3 runs incomplete" in headline_since(timezone.now() - DAY).sentence
    at = f"night={timezone.now() + timedelta(hours=12):%Y-%m-%d}&zone=UTC"
    with django_assert_max_num_queries(MOST_QUERIES):
        page = signed_in.get(f"/morning?{at}").content.decode()
    told = "3 of 6 runs complete, 1 queued or running"
    assert told in words(page)
    assert "A run counts in the night in which it started, or ended if it never started" in words(page)
    team = team_create(name="rack people")
    role_set(role=Role.OPERATOR, team=team, environment_id=pair.environment_id)
    for chosen in (f"environment={pair.environment_id}", f"team={team.pk}&environment={pair.environment_id}"):
        with django_assert_max_num_queries(MOST_QUERIES):
            page = signed_in.get(f"/morning?{at}&{chosen}".replace("&zone=UTC", "")).content.decode()
        assert told in words(page)
    for path in ("/schedules", f"/campaigns/{campaign}"):
        assert told in words(signed_in.get(path).content.decode()), path
    assert "3 of 6" in words(signed_in.get(f"/schedules/{schedule.pk}").content.decode())
    assert "3 of 6" in words(signed_in.get("/campaigns").content.decode())
    found = api.get(f"/api/v1/nights/{timezone.now() + timedelta(hours=12):%Y-%m-%d}?timezone=UTC").json()
    assert (found["runs"], found["finished_runs"], found["open_runs"]) == (6, 3, 1)
    counts = api.get(f"/api/v1/campaigns/{campaign}").json()["runs"]
    assert (sum(counts.values()) - counts["running"] - counts["pending"], counts["finished"]) == (6, 3)
    without = signed_in.get("/runs?state=without").context["rows"]
    assert len(without) == 3


def test_pages_and_the_api_say_one_figure_for_a_change(
    signed_in: Client, api: Client, night: tuple[Schedule, Pair]
) -> None:
    _, pair = night
    alert, part = Alert.objects.get(kind=Alert.Kind.CHANGE), AlertSeries.objects.get()
    assert part.difference_ratio is not None
    told = signed_percent(part.difference_ratio)
    assert re.fullmatch(r"−2[01]\.\d %", told)
    assert told in alert_title(alert)
    for path in (f"/alerts/{alert.pk}", "/runs", f"/pairs/{pair.pk}", f"/hosts/{pair.source.host_id}", "/pairs"):
        page = words(signed_in.get(path).content.decode())
        assert told in page, (path, told, page[page.find("Change") - 200 : page.find("Change") + 1500])
        assert not re.search(r"▼ −2[0-9] %", page), path
    assert told in json.dumps(api.get(f"/api/v1/alerts/{alert.pk}").json(), ensure_ascii=False)
    overview = words(signed_in.get("/").content.decode())
    # The alert's title and levels, and the figure of the environment, which is that of the one pair that measures it.
    assert overview.count(told) >= 2
    assert set(re.findall(r"−2[0-9](?:\.[0-9])? %", overview)) == {told}
    assert overview.count("Each value is the median of n pairs") == 1
    assert "n repetitions" not in overview


def test_what_stands_out_but_is_not_confirmed_is_on_the_nights_page_too(signed_in: Client, api: Client) -> None:
    pair = make_pair(environment="same zone")
    now = timezone.now()
    for ago in range(8, -1, -1):
        measured(pair, now - timedelta(hours=1) - ago * DAY, 9e9 if ago == 0 else 1e10)
    recents.rebuild()
    overview = words(signed_in.get("/").content.decode())
    assert "Worse last night not confirmed" in overview
    assert "▼ −10.0 %" in overview
    night = nights.night_of(now - timedelta(hours=1))
    page = words(signed_in.get(f"/morning?night={night}&zone=UTC").content.decode())
    assert "What stands out, not confirmed" in page
    assert "▼ −10.0 %" in page
    assert "All quiet" not in page
    (outlier,) = api.get(f"/api/v1/nights/{night}?timezone=UTC").json()["outliers"]
    assert (outlier["environment"], outlier["median"], outlier["difference_ratio"]) == (
        pair.environment_id,
        9e9,
        pytest.approx(-0.1),
    )
