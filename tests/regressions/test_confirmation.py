"""A suspect is measured again with controls, within its schedule's budget: the host, the pair, or gone."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchweb.hosts.models import Pair
from benchweb.hosts.services import pair_create
from benchweb.regressions import judgements
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.judge import judge_run
from benchweb.regressions.judging.confirmation import _are_bad_again
from benchweb.regressions.models import Alert, RunJudgement
from benchweb.regressions.selectors import night_of_date
from benchweb.results.run_summaries import write_figures
from benchweb.schedules.models import Schedule
from tests.factories import make_endpoint, make_environment
from tests.regressions.judged import judged, quiet
from tests.regressions.slots import LAST, end, judged_in_turn, slot_of

pytestmark = pytest.mark.django_db
State = Alert.State


@pytest.fixture(scope="module")
def mesh_ids(rows_of_a_module: None) -> list[int]:
    """Make the six pairs of three hosts, the first host's first, with twenty quiet nights behind them."""
    ends, environment = [make_endpoint() for _ in range(3)], make_environment("mesh")
    pairs = [
        pair_create(source=source, sink=sink, environment=environment)
        for source in ends
        for sink in ends
        if source != sink
    ]
    quiet(pairs)
    return [pair.pk for pair in pairs]


@pytest.fixture
def mesh(mesh_ids: list[int], db: None) -> list[Pair]:
    """Return those pairs anew."""
    ends = ("source__host", "sink__host")
    return list(Pair.objects.filter(pk__in=mesh_ids).select_related("environment", *ends).order_by("pk"))


def confirmed(mesh: list[Pair], first: dict[Pair, float], again: dict[Pair, float], last: int = LAST) -> Alert:
    end(slot_of(mesh), first, last)
    alert = Alert.objects.filter(ended_at=None).order_by("pk").first()
    assert alert is not None
    assert alert.state == State.CONFIRMING
    assert alert.confirmation is not None
    end(alert.confirmation, again, last + 1)
    alert.refresh_from_db()
    return alert


def test_a_suspect_queues_one_rerun_with_the_reverse_pair_and_another_of_each_host(mesh: list[Pair]) -> None:
    end(slot_of(mesh), {mesh[0]: 0.7}, LAST)
    alert = Alert.objects.get()
    assert (alert.state, alert.unconfirmed_code) == (State.CONFIRMING, "")
    assert alert.confirmation is not None
    assert alert.confirmation.runs.count() == 4
    rerun = alert.series.get().rerun
    assert rerun is not None and rerun.pair == mesh[0]
    reverse = next(pair for pair in mesh if (pair.source, pair.sink) == (mesh[0].sink, mesh[0].source))
    assert reverse in {run.pair for run in alert.confirmation.runs.all()}


def test_a_pair_that_is_bad_again_alone_is_the_pair(mesh: list[Pair]) -> None:
    alert = confirmed(mesh, {mesh[0]: 0.7}, {mesh[0]: 0.7})
    assert (alert.state, alert.verdict, alert.host, alert.pair) == (State.OPEN, "pair", None, mesh[0])


def test_a_host_whose_other_pair_is_bad_too_is_the_host(mesh: list[Pair]) -> None:
    host = mesh[0].source.host
    bad = {pair: 0.7 for pair in mesh if host in (pair.source.host, pair.sink.host)}
    alert = confirmed(mesh, {mesh[0]: 0.7}, bad)
    assert (alert.state, alert.verdict, alert.host) == (State.OPEN, "host", host)


def test_a_smaller_fall_of_another_pair_does_not_name_the_host_of_a_large_one(mesh: list[Pair]) -> None:
    """Of two faults at once the small one lies on a control of the host that has nothing to do with the large one."""
    source, sink = mesh[0].source, mesh[0].sink
    other = [pair for pair in mesh if sink in (pair.source, pair.sink) and source not in (pair.source, pair.sink)]
    alert = confirmed(mesh, {mesh[0]: 0.6}, {mesh[0]: 0.6} | dict.fromkeys(other, 0.95))
    assert (alert.state, alert.verdict, alert.host) == (State.OPEN, "pair", None)


def test_an_outlier_far_smaller_than_a_fall_names_no_host_with_it(mesh: list[Pair]) -> None:
    source, sink = mesh[0].source, mesh[0].sink
    other = next(pair for pair in mesh if pair.source == sink and pair.sink != source)
    end(slot_of(mesh), {mesh[0]: 0.6, other: 0.95}, LAST)
    assert {(alert.pair, alert.host) for alert in Alert.objects.all()} <= {(mesh[0], None), (other, None)}


def test_a_host_that_sends_badly_and_receives_well_is_the_host(mesh: list[Pair]) -> None:
    sends = [pair for pair in mesh if pair.source == mesh[-1].source]
    alert = confirmed(mesh, {sends[0]: 0.7}, dict.fromkeys(sends, 0.7))
    assert (alert.state, alert.verdict, alert.host) == (State.OPEN, "host", sends[0].source.host)


def test_a_host_that_receives_badly_and_sends_well_is_the_host(mesh: list[Pair]) -> None:
    receives = [pair for pair in mesh if pair.sink == mesh[-1].sink]
    alert = confirmed(mesh, {receives[0]: 0.7}, dict.fromkeys(receives, 0.7))
    assert (alert.state, alert.verdict, alert.host) == (State.OPEN, "host", receives[0].sink.host)


def test_a_host_that_falls_again_soon_after_it_recovered_is_the_host_again(mesh: list[Pair]) -> None:
    host = mesh[-1].source.host
    bad = [pair for pair in mesh if host in (pair.source.host, pair.sink.host)]
    for number in range(LAST, LAST + 12):
        for pair in mesh:
            judged(pair, [0.7 if pair in bad and number < LAST + 4 else 1.0], first=number)
    (before,) = Alert.objects.all()
    assert (before.state, before.host) == (State.RECOVERED, host)
    alert = confirmed(mesh, {bad[0]: 0.7}, dict.fromkeys(bad, 0.7), LAST + 12)
    assert (alert.state, alert.verdict, alert.host) == (State.OPEN, "host", host)


def test_both_directions_of_a_pair_are_the_pair(mesh: list[Pair]) -> None:
    both = dict.fromkeys((pair for pair in mesh if {pair.source, pair.sink} == {mesh[0].source, mesh[0].sink}), 0.7)
    alert = confirmed(mesh, both, both)
    assert (alert.state, alert.verdict, alert.host, alert.pair) == (State.OPEN, "pair", None, mesh[0])
    assert alert_title(alert).startswith(f"{mesh[0].source} ↔ {mesh[0].sink}: ")


@pytest.mark.parametrize(
    ("again", "is_told"),
    [
        # A stream's two series were chance; the loss beside it was not.
        ({"tcp_stream": [False, False], "udp_stream": [True]}, True),
        ({"tcp_stream": [True, False]}, True),
        # Of four tests that one run upset one is bad again.
        ({"tcp_stream": [False], "udp_stream": [False], "tcp_rr": [True], "tcp_crr": [False]}, False),
        # A test is bad again by half of its series.
        ({"tcp_stream": [True, False, False], "udp_stream": [False]}, False),
    ],
)
def test_half_of_the_tests_must_be_bad_again_each_by_half_of_its_series(
    again: dict[str, list[bool]], *, is_told: bool
) -> None:
    assert _are_bad_again(again) is is_told


def test_what_is_gone_when_measured_again_is_told_to_nobody(mesh: list[Pair]) -> None:
    alert = confirmed(mesh, {mesh[0]: 0.7}, {})
    assert (alert.state, alert.verdict, alert.opened_at) == (State.RECOVERED, "gone", None)
    assert Alert.objects.count() == 1


def test_a_rerun_that_gives_nothing_leaves_a_suspect_that_says_so(mesh: list[Pair]) -> None:
    end(slot_of(mesh), {mesh[0]: 0.7}, LAST)
    campaign = Alert.objects.get().confirmation
    assert campaign is not None
    campaign.runs.update(state="nonstart", finished_at=timezone.now())
    write_figures()
    for run in campaign.runs.all():
        judge_run(run.pk)
    alert = Alert.objects.get()
    assert (alert.state, alert.unconfirmed_code) == (State.SUSPECT, "rerun_failed")


@pytest.mark.parametrize(
    ("percent", "second"),
    [
        (5, (State.SUSPECT, "budget_spent", 0)),
        (57, (State.SUSPECT, "budget_spent", 0)),
        (58, (State.CONFIRMING, "", 4)),
    ],
)
def test_a_second_suspect_of_a_night_is_measured_again_where_the_share_allows_it(
    mesh: list[Pair], percent: int, second: tuple[str, str, int]
) -> None:
    apart = [pair_create(source=make_endpoint(), sink=make_endpoint(), environment=mesh[0].environment)]
    quiet(apart)
    campaign = slot_of([*mesh, *apart], seconds=60)
    Schedule.objects.filter(slots__campaign=campaign).update(rerun_percent=percent)
    # Of seven minutes the second would take four, with its controls; what the first takes is beyond the share.
    end(campaign, {mesh[0]: 0.7, apart[0]: 0.7}, LAST)
    earlier, later = Alert.objects.order_by("pk")
    assert (earlier.state, earlier.unconfirmed_code) == (State.CONFIRMING, "")
    reruns = later.confirmation.runs.count() if later.confirmation else 0
    assert (later.state, later.unconfirmed_code, reruns) == second


def test_what_is_always_measured_again_takes_nothing_from_the_share_of_the_next(mesh: list[Pair]) -> None:
    apart = [pair_create(source=make_endpoint(), sink=make_endpoint(), environment=mesh[0].environment) for _ in "123"]
    quiet(apart)
    campaign = slot_of([*mesh, *apart], seconds=60)
    Schedule.objects.filter(slots__campaign=campaign).update(rerun_percent=20)
    outlier, *falls = judged_in_turn(campaign, apart)
    end(campaign, {outlier: 0.9, **dict.fromkeys(falls, 0.7)}, LAST)
    states = [(alert.severity, alert.state) for alert in Alert.objects.order_by("pk")]
    assert states == [("warning", State.CONFIRMING), *[("critical", State.CONFIRMING)] * 2]


def test_a_small_outlier_does_not_keep_a_large_fall_from_being_measured_again(mesh: list[Pair]) -> None:
    apart = [pair_create(source=make_endpoint(), sink=make_endpoint(), environment=mesh[0].environment)]
    quiet(apart)
    campaign = slot_of([*mesh, *apart], seconds=60)
    earlier, later = judged_in_turn(campaign, [mesh[0], apart[0]])
    end(campaign, {earlier: 0.9, later: 0.7}, LAST)
    assert [(alert.severity, alert.state) for alert in Alert.objects.order_by("pk")] == [
        ("warning", State.CONFIRMING),
        ("critical", State.CONFIRMING),
    ]


def test_an_outlier_of_the_night_before_does_not_make_a_pair_its_host(mesh: list[Pair]) -> None:
    campaign = slot_of(mesh)
    schedules = Schedule.objects.filter(slots__campaign=campaign)
    schedules.update(rerun_percent=0)
    # The pair shares a host with the outlier, and is judged before the outlier's good run is.
    pair, outlier = judged_in_turn(campaign, mesh[:2])
    end(campaign, {outlier: 0.9}, LAST)
    assert (Alert.objects.get().pair, Alert.objects.get().state) == (outlier, State.SUSPECT)
    schedules.update(rerun_percent=5)
    following = slot_of(mesh)
    assert judged_in_turn(following, mesh[:2]) == [pair, outlier]
    end(following, {pair: 0.7}, LAST + 1)
    alert = Alert.objects.get()
    assert (alert.state, alert.host, alert.pair) == (State.CONFIRMING, None, pair)
    assert alert.confirmation is not None
    end(alert.confirmation, {pair: 0.7}, LAST + 2)
    alert.refresh_from_db()
    assert (alert.state, alert.verdict, alert.host, alert.pair) == (State.OPEN, "pair", None, pair)


def test_an_outlier_of_a_later_night_is_no_part_of_an_open_alert(mesh: list[Pair]) -> None:
    alert = confirmed(mesh, {mesh[0]: 0.7}, {mesh[0]: 0.7})
    for number in range(LAST + 2, LAST + 5):
        for pair in mesh:
            judged(pair, [0.9 if pair == mesh[1] and number == LAST + 2 else 1.0], first=number)
    alert.refresh_from_db()
    assert (alert.state, alert.series.count()) == (State.RECOVERED, 1)
    outlier = Alert.objects.latest("pk")
    assert (outlier.state, outlier.pair, outlier.opened_at) == (State.RECOVERED, mesh[1], None)


def test_a_fall_beside_an_outlier_is_measured_again_once_the_outlier_is_gone(mesh: list[Pair]) -> None:
    campaign = slot_of(mesh)
    outlier, fall = judged_in_turn(campaign, [mesh[0], mesh[1]])
    end(campaign, {outlier: 0.9, fall: 0.7}, LAST)
    alert = Alert.objects.get()
    assert (alert.state, alert.series.count()) == (State.CONFIRMING, 2)
    first = alert.confirmation
    assert first is not None
    end(first, {fall: 0.7}, LAST + 1)
    alert.refresh_from_db()
    second = alert.confirmation
    assert second is not None and second != first
    assert (alert.state, alert.pair, alert.host) == (State.CONFIRMING, fall, None)
    assert [part.rerun.pair for part in alert.series.filter(recovered_run=None) if part.rerun] == [fall]
    end(second, {fall: 0.7}, LAST + 2)
    alert.refresh_from_db()
    assert (alert.state, alert.verdict, alert.pair, alert.severity) == (State.OPEN, "pair", fall, "critical")
    assert Alert.objects.count() == 1


def test_a_recovery_has_the_title_that_people_were_told_of(mesh: list[Pair]) -> None:
    host = mesh[0].source.host
    bad = [pair for pair in mesh if host in (pair.source.host, pair.sink.host)]
    alert = confirmed(mesh, dict.fromkeys(bad, 0.7), dict.fromkeys(bad, 0.7))
    title = alert_title(alert)
    assert alert.params["series"] == 4
    for number in range(LAST + 2, LAST + 5):
        judged(mesh, [1.0], first=number)
    alert.refresh_from_db()
    assert (alert.state, alert.verdict, alert_title(alert)) == (State.RECOVERED, "host", title)


def test_a_schedule_without_time_for_reruns_says_so_on_the_alert_and_in_its_night(mesh: list[Pair]) -> None:
    campaign = slot_of(mesh)
    Schedule.objects.filter(slots__campaign=campaign).update(rerun_percent=0)
    end(campaign, {mesh[0]: 0.7}, LAST)
    alert = Alert.objects.get()
    assert (alert.state, alert.unconfirmed_code, alert.confirmation) == (State.SUSPECT, "reruns_off", None)
    assert [each.pk for each in night_of_date(alert.night).unconfirmed] == [alert.pk]


def test_the_tick_gives_runs_that_ended_to_workers_once(monkeypatch: pytest.MonkeyPatch, mesh: list[Pair]) -> None:
    sent: list[list[int]] = []
    monkeypatch.setattr(judgements, "send_on_commit", lambda task, ids: sent.append(ids))
    campaign = slot_of(mesh[:2])
    ids = list(campaign.runs.order_by("pk").values_list("pk", flat=True))
    campaign.runs.update(state="finished", started_at=timezone.now(), finished_at=timezone.now())
    assert judgements.give_waiting() == 0
    write_figures()
    assert judgements.give_waiting() == 2
    assert judgements.give_waiting() == 0
    assert sent == [ids]
    assert judgements.judge_all(ids) == 2
    assert judgements.judge_all(ids) == 0


@pytest.mark.parametrize(("tries", "seconds"), [(1, 20), (2, 40), (3, 80), (8, 2560), (50, 2560)])
def test_a_run_that_many_workers_died_with_is_given_again_ever_later(
    monkeypatch: pytest.MonkeyPatch, mesh: list[Pair], tries: int, seconds: int
) -> None:
    monkeypatch.setattr(judgements, "send_on_commit", lambda task, ids: None)
    campaign = slot_of(mesh[:1])
    campaign.runs.update(state="finished", started_at=timezone.now(), finished_at=timezone.now())
    write_figures()
    assert judgements.give_waiting() == 1
    for lacking, given in ((5, 0), (-5, 1)):
        queued_at = timezone.now() - timedelta(seconds=seconds - lacking)
        RunJudgement.objects.filter(run__campaign=campaign).update(tries=tries, queued_at=queued_at)
        assert judgements.give_waiting() == given
