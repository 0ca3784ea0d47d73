"""The timeline's lanes, and the calendar of a week."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils import timezone

from benchweb.runs.models import Run, State
from benchweb.schedules.models import Schedule, Slot
from benchweb.web.timeline.lanes import Bar, Lane, lanes_of
from tests.factories import make_endpoint, make_pair, make_plan, make_run, make_schedule
from tests.responses import Response

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_narrow_axis_leaves_out_labels_that_would_touch_but_no_day() -> None:
    drawn = lanes_of("Hosts", [], begin=NOON - 6 * HOUR, end=NOON + 40 * HOUR, zone=UTC)
    kept = [tick.label for tick in drawn.ticks if not tick.is_spare]
    assert 3 <= len(kept) <= len(drawn.ticks) // 2 + 1
    assert {"Tue 2 Jun", "Wed 3 Jun"} <= set(kept)


def test_bars_have_their_place_in_per_cent_and_are_cut_at_the_edges() -> None:
    bars = [
        Bar(NOON - HOUR, NOON + HOUR, "finished", "over the left edge"),
        Bar(NOON + 2 * HOUR, NOON + 3 * HOUR, "failed", "in the middle"),
        Bar(NOON + 9 * HOUR, NOON + 99 * HOUR, "running", "over the right edge"),
        Bar(NOON + 20 * HOUR, NOON + 21 * HOUR, "finished", "outside"),
    ]
    drawn = lanes_of("Hosts", [Lane("alder", bars)], begin=NOON, end=NOON + 10 * HOUR, zone=UTC)
    places = [(each.left, each.width) for each in drawn.lanes[0].bars]
    assert places == [("0.000", "10.000"), ("20.000", "10.000"), ("90.000", "10.000")]


def test_a_second_in_a_day_is_still_wide_enough_to_be_seen() -> None:
    bar = Bar(NOON, NOON + timedelta(seconds=1), "finished", "short")
    drawn = lanes_of("Hosts", [Lane("alder", [bar])], begin=NOON - HOUR, end=NOON + 23 * HOUR, zone=UTC)
    assert drawn.lanes[0].bars[0].width == "0.300"


def test_a_short_bar_reaches_neither_into_what_is_to_come_nor_over_what_follows_which_lies_on_top() -> None:
    second, minute = timedelta(seconds=1), timedelta(minutes=1)
    # The newest first, as they are read.
    bars = [
        Bar(NOON - second, NOON, "running", "under way"),
        Bar(NOON - minute, NOON - minute + second, "finished", "just before it"),
        Bar(NOON + HOUR, NOON + HOUR + second, "planned", "scheduled"),
    ]
    drawn = lanes_of("Hosts", [Lane("a", bars)], begin=NOON - 12 * HOUR, end=NOON + 12 * HOUR, zone=UTC, now=NOON)
    places = [(each.bar.state, each.left, each.width) for each in drawn.lanes[0].bars]
    assert places == [("finished", "49.699", "0.300"), ("running", "49.700", "0.300"), ("planned", "54.167", "0.300")]


def test_runs_that_wait_are_counted_for_nobody_knows_when_they_begin(signed_in: Client) -> None:
    run = make_run()
    for page in ("/timeline", f"/timeline?campaign={run.campaign_id}"):
        assert "1 run is queued." in signed_in.get(page).content.decode()


def test_ticks_are_round_in_the_readers_zone_and_midnight_names_its_day() -> None:
    zone = ZoneInfo("Asia/Kolkata")
    drawn = lanes_of("Hosts", [], begin=NOON, end=NOON + 24 * HOUR, zone=zone)
    # 12:00 UTC is 17:30 in Kolkata.
    assert [tick.label for tick in drawn.ticks] == [
        "18:00",
        "21:00",
        "Tue 2 Jun",
        "03:00",
        "06:00",
        "09:00",
        "12:00",
        "15:00",
    ]
    assert drawn.ticks[0].left == "2.083"


def test_lanes_beyond_those_shown_are_counted() -> None:
    drawn = lanes_of("Hosts", [Lane(str(n), []) for n in range(7)], begin=NOON, end=NOON + HOUR, zone=UTC, most=5)
    assert (len(drawn.lanes), drawn.hidden) == (5, 2)


@pytest.fixture
def ran(db: None) -> Run:
    run = make_run(pair=make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch")))
    begin = timezone.now() - 2 * HOUR
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED, started_at=begin, finished_at=begin + HOUR)
    return run


def lanes(response: Response, name: str) -> dict[str, list[str]]:
    return {row.lane.label: [drawn.bar.state for drawn in row.bars] for row in response.context[name].lanes}


def test_both_hosts_of_a_run_have_it_in_their_lanes(signed_in: Client, ran: Run) -> None:
    response = signed_in.get("/timeline")
    assert lanes(response, "hosts") == {"alder": ["finished"], "birch": ["finished"]}
    assert f'href="/runs/{ran.pk}"' in response.content.decode()


def test_a_run_that_never_began_stands_where_it_was_given_up(signed_in: Client, ran: Run) -> None:
    given_up = timezone.now() - HOUR
    Run.objects.filter(pk=ran.pk).update(
        state=State.NONSTART, started_at=None, finished_at=given_up, reason="birch is away"
    )
    response = signed_in.get("/timeline")
    assert lanes(response, "hosts") == {"alder": ["nonstart"], "birch": ["nonstart"]}
    (bar,) = [drawn.bar for drawn in response.context["hosts"].lanes[0].bars]
    assert (bar.begin, bar.end) == (given_up, given_up)
    # It took no time: none is said.
    assert bar.label.endswith("· not started: birch is away")


def test_the_coming_night_is_drawn_for_the_schedule_and_its_hosts(signed_in: Client) -> None:
    pair = make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    schedule = make_schedule(name="hourly", cron="0 * * * *", target={"pairs": [pair.pk]})
    at = timezone.now() - HOUR
    Slot.objects.create(schedule=schedule, at=at, state="nonstart", reason="alder is away", claimed_at=at)
    response = signed_in.get("/timeline?hours=6")
    # Two hours back and what is left of the third, three ahead: what is due at the very end is in the next look.
    coming = ["planned"] * 3
    assert lanes(response, "schedules") == {"hourly": ["nonstart", *coming]}
    assert lanes(response, "hosts") == {"alder": coming, "birch": coming}
    assert "hourly · not started: alder is away" in response.content.decode()


@pytest.mark.parametrize("target", ["environment", "label", "mesh", "modes"])
def test_hosts_to_come_are_found_whatever_the_target(signed_in: Client, target: str) -> None:
    pair = make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    make_endpoint(host_name="cedar")
    for host in (pair.source.host, pair.sink.host):
        host.labels = ["nightly"]
        host.save()
    modes = {"source_modes": ["host"], "sink_modes": ["host"], "environment": pair.environment_id}
    targets = {
        "environment": {"environment": pair.environment_id},
        "label": {"label": "nightly"},
        "mesh": {"mesh": {"endpoints": [pair.source_id, pair.sink_id]}},
        "modes": {"mesh": modes},
    }
    make_schedule(cron="0 * * * *", target=targets[target])
    assert list(lanes(signed_in.get("/timeline?hours=6"), "hosts")) == ["alder", "birch"]


def test_a_paused_schedule_is_not_drawn_as_coming(signed_in: Client) -> None:
    make_schedule(cron="0 * * * *")
    Schedule.objects.update(paused_at=timezone.now())
    assert lanes(signed_in.get("/timeline?hours=6"), "schedules") == {}


def test_the_span_is_in_the_url_and_nonsense_in_it_is_ignored(signed_in: Client, ran: Run) -> None:
    assert lanes(signed_in.get("/timeline?from=2026-01-01T00:00&hours=24"), "hosts") == {}
    for nonsense in ("from=x&hours=x", "from=0001-01-01", "hours=5", "hours=" + "9" * 30, "campaign=x"):
        assert list(lanes(signed_in.get(f"/timeline?{nonsense}"), "hosts")) == ["alder", "birch"]


def test_it_narrows_by_host_and_by_campaign(signed_in: Client, ran: Run) -> None:
    assert list(lanes(signed_in.get("/timeline?q=ald"), "hosts")) == ["alder"]
    assert list(lanes(signed_in.get(f"/timeline?campaign={ran.campaign_id}"), "hosts")) == ["alder", "birch"]
    assert lanes(signed_in.get(f"/timeline?campaign={make_run().campaign_id}"), "hosts") == {}


def test_an_empty_timeline_names_the_next_step(signed_in: Client) -> None:
    urls = {"/timeline": "Create a schedule", "/timeline/week": "Create the first schedule"}
    for url, words in urls.items():
        text = signed_in.get(url).content.decode()
        assert "Next step: add a host." in text and words not in text
    make_pair()
    make_plan()
    for url, words in urls.items():
        assert words in signed_in.get(url).content.decode()


def test_a_week_has_its_slots_by_day_and_sums_up_those_that_are_many(signed_in: Client) -> None:
    nightly, often = make_schedule(name="nightly"), make_schedule(name="often", cron="*/10 * * * *")
    monday = datetime(2026, 6, 1, tzinfo=UTC)
    made = [(nightly, monday.replace(hour=2), "finished")]
    made += [(often, monday + timedelta(minutes=10 * number), "finished") for number in range(6)]
    made += [(often, monday + timedelta(minutes=60), "missed"), (nightly, monday + timedelta(days=6), "failed")]
    for schedule, at, state in made:
        Slot.objects.create(schedule=schedule, at=at, state=state, claimed_at=at)
    days = signed_in.get("/timeline/week?from=2026-06-03").context["days"]
    assert [day.day.isoformat() for day in days][::6] == ["2026-06-01", "2026-06-07"]
    told = [(entry.schedule.name, entry.text, entry.state) for entry in days[0].entries]
    assert told == [
        ("often", "00:00–01:00, 7 slots, 1 incomplete", "missed"),
        ("nightly", "02:00", "finished"),
    ]
    assert [(entry.text, entry.state) for entry in days[6].entries] == [("00:00", "failed")]


def test_the_coming_week_shows_times_that_are_no_slots_yet(signed_in: Client) -> None:
    make_schedule()
    following = timezone.now().date() + timedelta(days=7)
    days = signed_in.get(f"/timeline/week?from={following}").context["days"]
    assert [[(entry.text, entry.state) for entry in day.entries] for day in days] == [[("02:00", "planned")]] * 7
