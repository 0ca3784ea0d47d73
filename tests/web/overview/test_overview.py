"""The overview: the sentence first, what is worse and since when, environments with verdict and figures, hosts."""

import os
import re
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from benchweb.catalog.reasons import Reason, reason_fields
from benchweb.hosts.endpoints.services import endpoint_create
from benchweb.hosts.models import Endpoint, Host, Pair
from benchweb.regressions.absence.endpoints import open_unreachable
from benchweb.regressions.headline import headline_since
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert
from benchweb.results import nightly_summaries as nights
from benchweb.results import run_summaries as recents
from benchweb.results.series_summaries import FigureNights
from benchweb.runs.models import Run
from benchweb.schedules.models import Slot
from benchweb.web.overview.alerts import OverviewAlert
from benchweb.web.overview.silent_hosts import silent_groups
from benchweb.web.series.pictures import figures_of
from tests.factories import make_alert, make_endpoint, make_pair, make_run, make_schedule
from tests.nights import DAY, measured
from tests.regressions.judged import quiet, run_of

MOST_QUERIES = 12


def words(html: str) -> str:
    """Return what a reader sees, on one line."""
    return re.sub(r"\s+", " ", re.sub(r"<(script|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL))


def summed_up() -> None:
    while recents.sum_up():
        pass
    nights.make()


@pytest.fixture
def last_nights(db: None) -> Pair:
    """Return a pair with nine nights, of which the last is a tenth slower."""
    pair = make_pair(environment="same zone")
    now = timezone.now()
    for ago in range(8, -1, -1):
        measured(pair, now - timedelta(hours=5) - ago * DAY, *((9e9, 9e9) if ago == 0 else (1e10, 1.01e10)))
    return pair


def row_of(page: str, environment: str) -> str:
    """Return the words of an environment's card."""
    cards = re.findall(r'<section class="environment-card".*?</section>', page, re.DOTALL)
    [card] = [words(card) for card in cards if f">{environment}</a>" in card]
    return card


def listed(client: Client, *, new: bool) -> list[OverviewAlert]:
    """Return the alerts that the page lists, those of the last day or those before."""
    return [row for row in client.get("/").context["alerts"].rows if row.is_new == new]


def test_each_environment_has_a_verdict_and_how_many_runs_are_complete(signed_in: Client, last_nights: Pair) -> None:
    measured(last_nights, timezone.now() - timedelta(hours=4), state="failed")
    measured(last_nights, timezone.now() - timedelta(hours=30), state="nonstart")
    summed_up()
    row = row_of(signed_in.get("/").content.decode(), "same zone")
    assert row.startswith(" same zone Worse last night not confirmed ")
    assert " Complete: 1 of 2 " in row
    make_alert(pair=last_nights, at=timezone.now() - 2 * DAY)
    Alert.objects.update(environment=last_nights.environment)
    row = row_of(signed_in.get("/").content.decode(), "same zone")
    assert row.startswith(f" same zone 1 missing since {timezone.now() - 2 * DAY:%Y-%m-%d} ")


@pytest.mark.parametrize(
    ("last", "verdict"), [(9e9, "Worse last night"), (1e10, "No significant change"), (2e10, "Better last night")]
)
def test_a_verdict_is_that_of_the_latest_night(signed_in: Client, last: float, verdict: str) -> None:
    pair = make_pair(environment="zone")
    for ago in range(8, -1, -1):
        values = (1e10, 1.01e10) if ago else (last, last)
        measured(pair, timezone.now() - timedelta(hours=5) - ago * DAY, *values)
    summed_up()
    assert row_of(signed_in.get("/").content.decode(), "zone").startswith(f" zone {verdict} ")


def test_the_worst_environment_comes_first_and_a_better_one_last(signed_in: Client) -> None:
    pairs = {name: make_pair(environment=name) for name in ("better", "calm", "gone", "worse")}
    for name, pair in pairs.items():
        for ago in range(8, -1, -1):
            factor = 1.0 if ago else {"better": 2.0, "worse": 0.5}.get(name, 1.0)
            if name != "gone" or ago:
                measured(pair, timezone.now() - timedelta(hours=5) - ago * DAY, 1e10 * factor)
    summed_up()
    make_alert(pair=pairs["calm"])
    Alert.objects.update(environment=pairs["calm"].environment)
    rows = signed_in.get("/").context["night"].environments
    assert [row.name for row in rows] == ["calm", "gone", "worse", "better"]


def test_an_environment_that_had_no_run_says_so(signed_in: Client) -> None:
    measured(make_pair(), timezone.now() - 3 * DAY, 1e9)
    assert "No run completed in the last 24 hours." in signed_in.get("/").content.decode()


def test_the_figures_are_the_median_over_the_pairs_with_a_chart_of_thirty_nights(
    signed_in: Client, last_nights: Pair
) -> None:
    summed_up()
    text = signed_in.get("/").content.decode()
    figures = re.findall(r'<div class="environment-figure">(.*?)</div>', text, re.DOTALL)
    [figure] = [each for each in figures if "data-chart" in each]
    label = re.search(r'aria-label="([^"]*)"', figure)
    assert label is not None
    # Before its first night an environment misses none.
    assert label[1] == "Throughput, received: 9 values, 9.00 Gbit/s to 10.1 Gbit/s, latest 9.00 Gbit/s"
    assert 'title="TCP stream · message size 16 KiB · median of 1 pair"' in figure
    assert "▼ −10.4 %" in figure
    assert f'href="/history?environment={last_nights.environment_id}&amp;kind=tcp_stream' in figure
    assert text.count('title="not measured here"') == 2


def test_open_alerts_come_worst_first_with_a_chart_of_their_runs(signed_in: Client) -> None:
    small, large = make_pair(), make_pair()
    quiet([small, large])
    for number in range(20, 28):
        for pair, factor in ((small, 0.9), (large, 0.7)):
            judge_run(run_of(pair, number, factor).pk)
    recents.rebuild()
    rows = listed(signed_in, new=True)
    assert [row.alert.params["ratio"] for row in rows] == pytest.approx([-0.3, -0.1], abs=0.01)
    chart = rows[0].chart
    assert chart is not None
    # The level before and since, the run that it began with, and each run with its range.
    assert [level.y for level in chart.levels] == pytest.approx([1e9, 0.7e9], rel=0.01)
    assert [ring.kind for ring in chart.rings] == ["change"]
    [line] = chart.series
    assert line.measured[-1].median == pytest.approx(0.7e9, rel=0.01)
    assert all(run.low <= run.median <= run.high for run in line.measured)
    assert chart.levels[1].since == chart.rings[0].at
    page = signed_in.get("/").content.decode()
    assert rows[0].levels in words(page)
    assert f'data-chart="{chart.id}"' in page
    Alert.objects.filter(pk=rows[1].alert.pk).update(severity=Alert.Severity.CRITICAL)
    Alert.objects.filter(pk=rows[0].alert.pk).update(severity=Alert.Severity.WARNING)
    assert [row.alert.pk for row in listed(signed_in, new=True)] == [rows[1].alert.pk, rows[0].alert.pk]
    assert f'href="/alerts/{rows[0].alert.pk}"' in page


def test_what_somebody_took_goes_on_and_what_was_put_off_is_hidden(signed_in: Client) -> None:
    acknowledged, snoozed = make_alert(Alert.State.ACKNOWLEDGED), make_alert()
    Alert.objects.filter(pk=snoozed.pk).update(snoozed_until=timezone.now() + DAY)
    alerts = signed_in.get("/").context["alerts"]
    assert [(row.alert.pk, row.is_new) for row in alerts.rows] == [(acknowledged.pk, False)]
    Alert.objects.filter(pk=snoozed.pk).update(snoozed_until=timezone.now() - DAY)
    assert [row.alert.pk for row in listed(signed_in, new=True)] == [snoozed.pk]


def test_an_alert_of_before_goes_on_and_each_says_since_when(signed_in: Client) -> None:
    old, new = make_alert(at=timezone.now() - 3 * DAY), make_alert(at=timezone.now() - timedelta(hours=2))
    Alert.objects.filter(pk=old.pk).update(opened_at=timezone.now() - 2 * DAY)
    page = signed_in.get("/")
    alerts = page.context["alerts"]
    assert [(row.alert.pk, row.is_new) for row in alerts.rows] == [(new.pk, True), (old.pk, False)]
    text = words(page.content.decode())
    assert "since 2 h ago" in text
    assert f"since {timezone.now() - 3 * DAY:%Y-%m-%d}" in text


def test_only_the_worst_are_listed_and_the_others_counted(signed_in: Client) -> None:
    for _ in range(12):
        make_alert()
    page = signed_in.get("/")
    assert len(page.context["alerts"].rows) == 3
    assert "12 new, 0 ongoing" in words(page.content.decode()).replace(" ,", ",")
    assert "9 more" in words(page.content.decode())


def sentence(client: Client) -> str:
    """Return the overview's first sentence."""
    [found] = re.findall(r'<p class="headline.*?</p>', client.get("/").content.decode(), re.DOTALL)
    return re.sub(r" ([:,;.])", r"\1", words(found)).strip()


def unreachable(count: int) -> list[Alert]:
    endpoints = [make_endpoint(host_name=f"dead-{number:02}") for number in range(count)]
    since = timezone.now() - timedelta(hours=1)
    Endpoint.objects.filter(pk__in=[endpoint.pk for endpoint in endpoints]).update(unreachable_since=since)
    found = [open_unreachable(endpoint) for endpoint in Endpoint.objects.filter(host__name__startswith="dead")]
    return [alert for alert in found if alert is not None]


def test_ten_unreachable_hosts_are_one_line_and_hide_no_change(
    signed_in: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    alerts = unreachable(10)
    Host.objects.filter(name__startswith="dead").update(uplink="rack 7")
    Alert.objects.filter(pk=alerts[3].pk).update(begun_at=timezone.now() - timedelta(hours=3))
    changes = [make_alert() for _ in range(3)]
    with django_assert_max_num_queries(MOST_QUERIES):
        page = signed_in.get("/").content.decode()
    text = words(page)
    assert "10 hosts unreachable, all behind rack 7" in text
    assert "since 3 h ago" in text and "dead-00" in text and "dead-05 …" in text and "dead-06" not in text
    assert all(f'href="/alerts/{alert.pk}"' in page for alert in changes)
    assert not any(f'href="/alerts/{alert.pk}"' in page for alert in alerts)
    # All are in the sentence, and none is hidden.
    assert "13 new" in text and " more" not in text
    Host.objects.filter(name="dead-01").update(uplink="rack 8")
    assert "10 hosts unreachable <" in " ".join(signed_in.get("/").content.decode().split()).replace("</a>", " <")


def test_a_single_unreachable_host_is_an_alert_like_others(signed_in: Client) -> None:
    (alert,) = unreachable(1)
    page = signed_in.get("/").content.decode()
    assert f'href="/alerts/{alert.pk}"' in page and "hosts unreachable" not in page


def test_the_first_sentence_sums_up_the_last_day(signed_in: Client) -> None:
    now = timezone.now()
    measured(pair := make_pair(), now - timedelta(hours=2), 1e9)
    measured(pair, now - timedelta(hours=1), state="failed")
    Endpoint.objects.update(status="answered", checked_at=now)
    new, ongoing, recovered = make_alert(pair=pair), make_alert(pair=pair), make_alert(Alert.State.RECOVERED, pair=pair)
    Alert.objects.filter(pk=ongoing.pk).update(opened_at=now - 2 * DAY)
    Alert.objects.filter(pk=recovered.pk).update(opened_at=now - 2 * DAY, ended_at=now - timedelta(hours=3))
    told = "1 new, 1 ongoing, 1 recovered; 1 run incomplete; 2 of 2 hosts healthy."
    assert sentence(signed_in) == f"Worse than yesterday: {told}"
    # Digests begin with the same one.
    assert headline_since(now - DAY).sentence == sentence(signed_in)
    Alert.objects.filter(pk=new.pk).update(state=Alert.State.EXPECTED, ended_at=now)
    assert sentence(signed_in) == f"Better than yesterday: {told.replace('1 new', '0 new')}"
    Alert.objects.filter(pk=recovered.pk).update(ended_at=now - 2 * DAY)
    assert sentence(signed_in).startswith("As yesterday: 0 new, 1 ongoing, 0 recovered; ")
    Alert.objects.filter(pk=ongoing.pk).update(state=Alert.State.FIXED, ended_at=now)
    assert sentence(signed_in).startswith("No new regressions: 0 new, 0 ongoing, 0 recovered; 1 run incomplete; ")
    Run.objects.filter(state="failed").update(state="finished")
    assert sentence(signed_in).startswith("All quiet: ")
    Endpoint.objects.filter(pk=pair.sink_id).update(status="unreachable")
    assert sentence(signed_in).startswith("No new regressions: ")


def test_suspects_are_counted(signed_in: Client) -> None:
    make_alert(Alert.State.SUSPECT)
    assert "1 suspect, not confirmed" in words(signed_in.get("/").content.decode())


def test_incomplete_runs_are_grouped_by_their_reason_the_largest_group_first(signed_in: Client) -> None:
    pair, now = make_pair(), timezone.now()
    runs = [measured(pair, now - timedelta(hours=number + 1), state="failed") for number in range(4)]
    Run.objects.filter(pk__in=[run.pk for run in runs[:3]]).update(reason="no route to host")
    Run.objects.filter(pk=runs[3].pk).update(state="nonstart", reason="engine down")
    measured(pair, now - 2 * DAY, state="failed")
    slot = Slot.objects.create(
        schedule=make_schedule(), at=now - DAY / 2, state="missed", reason="no worker", claimed_at=now
    )
    page = signed_in.get("/")
    groups = page.context["incomplete"].groups
    told = [(group.state, group.reason, [run.pk for run in group.runs]) for group in groups]
    assert told == [
        ("failed", "no route to host", [runs[2].pk, runs[1].pk, runs[0].pk]),
        ("nonstart", "engine down", [runs[3].pk]),
    ]
    assert groups[0].since == now - timedelta(hours=3) + timedelta(minutes=1)
    assert [each.schedule_id for each in page.context["incomplete"].slots] == [slot.schedule_id]
    assert "no worker" in page.content.decode()


def test_a_host_is_healthy_only_when_every_endpoint_in_use_is(signed_in: Client) -> None:
    host = make_endpoint(host_name="alder").host
    for number, name in enumerate(("second", "third")):
        endpoint_create(host=host, control_address=f"127.0.0.1:{number + 2}", name=name, same_machine=True)
    Endpoint.objects.update(status="answered", checked_at=timezone.now())
    assert "1 of 1 host healthy." in words(signed_in.get("/").content.decode())
    Endpoint.objects.filter(name="third").update(status="unreachable")
    assert "0 of 1 host healthy." in words(signed_in.get("/").content.decode())


def test_silent_hosts_are_named_the_first_six_and_the_others_counted(signed_in: Client) -> None:
    for number in range(12):
        make_endpoint(host_name=f"quiet-{number:02}")
    Endpoint.objects.update(status="unreachable", status_reason="timed out", checked_at=timezone.now())
    context = signed_in.get("/").context
    [group] = context["silent"]
    assert [endpoint.host.name for endpoint in group.named] == [f"quiet-{number:02}" for number in range(6)]
    assert context["silent_hidden"] == 6
    assert ">6 more<" in signed_in.get("/").content.decode()


def test_a_host_whose_answering_endpoint_is_archived_is_not_counted_as_answering(signed_in: Client) -> None:
    make_endpoint(host_name="answers")
    gone = make_endpoint(host_name="gone")
    Endpoint.objects.update(status="answered", checked_at=timezone.now())
    assert "2 of 2 hosts healthy." in signed_in.get("/").content.decode()
    gone.archived_at = timezone.now()
    gone.save(update_fields=["archived_at"])
    assert "1 of 2 hosts healthy." in signed_in.get("/").content.decode()


def test_hosts_that_are_silent_for_one_kind_of_reason_are_one_line(signed_in: Client) -> None:
    lost = (
        "can't be reached (timed out). Is benchweb-engine serve running there, "
        "and does a firewall let the port through?"
    )
    for name, endpoint in (("ash", "ash"), ("birch", "birch (host)"), ("cedar", "cedar (terway)")):
        host = make_endpoint(host_name=name).host
        engine = Reason("engine", name=endpoint, address=f"{name}.example:7410")
        reason = reason_fields("status_reason", Reason("engine_unreachable", engine=engine, error="timed out"))
        host.endpoints.update(status="unreachable", checked_at=timezone.now(), **reason)
    refused = Reason("engine_refused_token", engine=Reason("engine", name="dogwood", address="10.0.0.4:7410"))
    fourth = make_endpoint(host_name="dogwood").host
    fourth.endpoints.update(status="refused", **reason_fields("status_reason", refused))
    groups = signed_in.get("/").context["silent"]
    told = [([each.host.name for each in group.named], group.status, group.reason) for group in groups]
    assert told == [
        (["ash", "birch", "cedar"], "unreachable", f"The engine {lost}"),
        (["dogwood"], "refused", refused),
    ]
    text = words(signed_in.get("/").content.decode())
    assert text.count("can't be reached") == 1 or text.count("can&#x27;t be reached") == 1
    assert re.search(r"ash[^,]*, birch[^,]*, cedar", text)


@pytest.mark.parametrize("part", ["night", "running", "last", "coming", "hosts"])
def test_each_part_is_fetched_by_itself(signed_in: Client, last_nights: Pair, part: str) -> None:
    htmx = {"HX-Request": "true"}
    text = signed_in.get(f"/?part={part}", headers=htmx).content.decode()
    assert "<h2" in text
    assert "<html" not in text
    # By a reader's own address bar it is the whole page.
    assert "<html" in signed_in.get(f"/?part={part}").content.decode()


def test_an_unknown_part_is_the_page(signed_in: Client) -> None:
    assert "<html" in signed_in.get("/?part=else", headers={"HX-Request": "true"}).content.decode()


def test_it_costs_twelve_queries_however_much_happened(
    signed_in: Client, last_nights: Pair, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        pair = make_pair(environment=f"zone {number}")
        for ago in range(8, -1, -1):
            measured(pair, timezone.now() - timedelta(hours=5) - ago * DAY, 5e9 if ago == 0 else 1e10)
        measured(pair, timezone.now(), state="running")
        make_alert(pair=pair)
    summed_up()
    with django_assert_max_num_queries(MOST_QUERIES):
        context = signed_in.get("/").context
    assert (len(context["night"].environments), len(context["alerts"].rows), len(context["running"])) == (4, 3, 3)


def test_why_a_host_is_silent_is_said_in_the_readers_language(signed_in: Client) -> None:
    make_endpoint()
    reason = Reason("trials_failed", failed=1, total=12)
    Endpoint.objects.update(status="unreachable", **reason_fields("status_reason", reason))
    text = signed_in.get("/", headers={"Accept-Language": "zh-CN"}).content.decode()
    assert "12 个测试项中 1 个失败" in words(text)


def test_environments_in_which_nothing_ended_are_named(signed_in: Client, last_nights: Pair) -> None:
    idle = make_pair(environment="idle zone")
    make_pair(environment="left zone", source=make_endpoint(host_name="left"))
    Pair.objects.filter(environment__name="left zone").update(archived_at=timezone.now())
    html = signed_in.get("/").content.decode()
    assert "No run completed in the last 8 days: idle zone ." in words(html)
    assert f'href="/environments/{idle.environment_id}">idle zone' in html
    measured(idle, timezone.now() - 7 * DAY, 1e9)
    assert "No run completed in the last 8 days" not in words(signed_in.get("/").content.decode())


def test_synthetic_hosts_are_not_said_to_answer(signed_in: Client) -> None:
    made_up = make_endpoint(host_name="made up")
    Host.objects.filter(pk=made_up.host_id).update(is_synthetic=True)
    Endpoint.objects.filter(pk=made_up.pk).update(status=Endpoint.Status.ANSWERED)
    text = words(signed_in.get("/").content.decode())
    assert "1 sample host, not counted." in text
    assert "answered when last checked" not in text
    real = make_endpoint(host_name="real", control_address="192.0.2.20:7410")
    Endpoint.objects.filter(pk=real.pk).update(status=Endpoint.Status.ANSWERED)
    assert "1 of 1 host healthy." in words(signed_in.get("/").content.decode())


def test_an_environments_figure_has_its_spread_over_the_pairs(signed_in: Client) -> None:
    first, second = make_pair(environment="zone"), make_pair()
    type(first).objects.filter(pk=second.pk).update(environment=first.environment)
    for pair, value in ((first, 1e10), (second, 1.2e10)):
        measured(pair, timezone.now() - timedelta(hours=5), value)
    summed_up()
    assert "11.0 Gbit/s ±9.1 % · n=2" in words(signed_in.get("/").content.decode())


@pytest.mark.parametrize(("before", "expected"), [(0, "first result"), (2, "baseline: 2 of 5 nights")])
def test_an_environments_figure_is_compared_with_nights_and_says_nights(
    signed_in: Client, before: int, expected: str
) -> None:
    # Never at a night's end, which is noon.
    midnight = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    pair = make_pair(environment="zone")
    for ago in range(before, -1, -1):
        # Two runs a night: it is nights that are counted.
        for minutes in (10, 0):
            measured(pair, midnight - timedelta(minutes=minutes) - ago * DAY, 1e10)
    summed_up()
    row = row_of(signed_in.get("/").content.decode(), "zone")
    assert row.startswith(f" zone {expected} ")
    assert "10.0 Gbit/s n=1" in row


def test_figures_are_explained_only_where_there_are_any(signed_in: Client) -> None:
    expected = "is the largest deviation from it"
    assert expected not in signed_in.get("/").content.decode()
    make_run()
    assert expected in signed_in.get("/").content.decode()


def test_the_lines_of_an_environment_end_with_the_same_night() -> None:
    # Afternoon: the night that ended at noon, and the one that has begun since.
    now = datetime(2026, 11, 23, 15, tzinfo=UTC)
    tonight, before = nights.night_of(now), nights.night_of(now - timedelta(hours=4))

    def row(environment: int, kind: str, metric: str, *of: date) -> FigureNights:
        values = [1.0] * len(of)
        return FigureNights(environment, "zone A", kind, metric, {}, list(of), values, [1] * len(of), 1.0, 1.0)

    found = figures_of(
        [
            row(1, "tcp_stream", "throughput_bps", before, tonight),
            row(1, "tcp_rr", "latency_p99_seconds", before),
            row(2, "tcp_stream", "throughput_bps", before),
        ],
        now,
    )
    assert found[1]["throughput_bps"].values[-2:] == [1.0, 1.0]
    assert found[1]["latency_p99_seconds"].values[-2:] == [1.0, None]
    # Where nothing came yet, the night under way is no gap.
    assert found[2]["throughput_bps"].values[-2:] == [None, 1.0]


def test_a_figure_of_an_earlier_night_names_it() -> None:
    now = datetime(2026, 11, 25, 3, tzinfo=UTC)
    of = [nights.night_of(now) - timedelta(days=ago) for ago in (2, 1, 0)]

    def night(*of: date) -> date | None:
        values = [1.0] * len(of)
        row = FigureNights(1, "zone A", "tcp_stream", "throughput_bps", {}, list(of), values, [1] * len(of), 1.0, 1.0)
        return figures_of([row], now)[1]["throughput_bps"].earlier

    # Between two nights' runs the last 24 hours have none of the night that is told.
    assert night(*of[:2]) == date(2026, 11, 24)
    assert night(*of) is None
    # Older ones have no figure at all.
    assert night(of[0]) is None


@pytest.mark.parametrize(("second", "is_longer"), [("11:15:58", False), ("11:16:02", True)])
def test_hosts_that_fell_silent_in_several_minutes_are_silent_since_the_last_or_longer(
    second: str, is_longer: bool
) -> None:
    row = {"host": "alder", "host_id": 1, "name": "", "network_mode": "host", "status": "refused"}
    row |= {"reason": "no", "reason_data": None}
    [group], hidden = silent_groups([row | {"since": f"2026-11-23T{at}+00:00"} for at in ("11:15:40", second)])
    assert (group.is_longer, hidden) == (is_longer, 0)


def test_a_host_without_an_endpoint_is_not_one_that_was_not_asked_yet(signed_in: Client) -> None:
    make_endpoint()
    Host.objects.create(name="bare")
    text = words(signed_in.get("/").content.decode())
    assert "0 of 2 hosts healthy. 1 not checked yet. 1 has no endpoint." in text


def test_while_the_engine_is_built_the_page_says_how_long_it_goes_on(
    signed_in: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchweb.ops.setup.build.TOOLS", tmp_path)
    assert "Building the engine" not in signed_in.get("/").content.decode()
    (tmp_path / "stamps").mkdir()
    mark = tmp_path / "stamps" / "engine.unfinished"
    mark.touch()
    assert "Building the engine" not in signed_in.get("/").content.decode()
    mark.write_text(str(time.time() + 30))
    page = signed_in.get("/").content.decode()
    assert re.search(r"Building the engine · about (29|30|31) s left · Runs on this machine start", words(page))
    part = signed_in.get("/?part=building", headers={"HX-Request": "true"}).content.decode()
    assert 'hx-get="/?part=building"' in part
    mark.write_text(str(time.time()))
    page = signed_in.get("/").content.decode()
    assert "Building the engine · longer than expected · Runs on this machine start" in words(page)
    # One that was killed leaves its mark.
    os.utime(mark, (time.time() - 60, time.time() - 60))
    assert signed_in.get("/?part=building", headers={"HX-Request": "true"}).content.decode().strip() == ""
