"""A finding joins the alert whose cause explains it, and no other; a slot is judged anew once all of it is there."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import pytest

from benchweb.hosts.models import Host, Pair
from benchweb.hosts.services import pair_create
from benchweb.regressions import transitions
from benchweb.regressions.alert_details import episode_text
from benchweb.regressions.judge import judge_run
from benchweb.regressions.judgements import leave_unjudged
from benchweb.regressions.judging.grouping import naming_part
from benchweb.regressions.judging.slots import pairs_by_cause, regroup_slot
from benchweb.regressions.models import Alert, AlertSeries, AlertTransition
from benchweb.results.models import Series
from benchweb.results.run_summaries import write_figures
from benchweb.runs.models import Campaign, Run
from benchweb.schedules.models import Schedule
from tests.factories import make_endpoint, make_environment, make_pair
from tests.nights import add_values, measured
from tests.regressions.judged import NOISE, judged, level, night, quiet, run_of, slower_with_jitter
from tests.regressions.slots import LAST, end, end_with_losses, next_slot, quiet_with_losses, slot_of

pytestmark = pytest.mark.django_db
State = Alert.State
QUIET = 14


@pytest.fixture
def mesh() -> list[Pair]:
    """Return the twelve pairs of four hosts, of an environment; nothing is measured yet."""
    ends, environment = [make_endpoint(host_name=f"grouped-{name}") for name in "abcd"], make_environment("grouped")
    return [
        pair_create(source=source, sink=sink, environment=environment)
        for source in ends
        for sink in ends
        if source != sink
    ]


def host(name: str) -> Host:
    return Host.objects.get(name=f"grouped-{name}")


def of(mesh: Sequence[Pair], *, source: str = "", sink: str = "", either: str = "") -> list[Pair]:
    """Return the pairs of a host at one end, or at either."""
    return [
        pair
        for pair in mesh
        if pair.source.host.name == f"grouped-{source or either}" or pair.sink.host.name == f"grouped-{sink or either}"
    ]


def night_of_losses(mesh: Sequence[Pair], number: int, slow: Sequence[Pair] = (), lossy: Sequence[Pair] = ()) -> None:
    """Measure a night's rates and losses, and judge them but in the quiet nights before."""
    for pair in mesh:
        run = measured(pair, night(number), level(number, 0.6 if pair in slow else 1.0), kind="udp_stream")
        loss = (0.02 if pair in lossy else 0.0) + abs(NOISE[number % len(NOISE)]) / 100
        add_values(run, pair, night(number), loss, kind="udp_stream", metric="loss_ratio")
    write_figures()
    for run in [pair.runs.latest("pk") for pair in mesh]:
        if number < QUIET - 1:
            leave_unjudged(run)
        else:
            assert judge_run(run.pk)


def open_alerts() -> dict[str, set[str]]:
    """Return the measures of each alert that people were told of, by its host."""
    alerts = Alert.objects.filter(state=State.OPEN).select_related("host")
    return {
        alert.host.name if alert.host else "": set(alert.series.values_list("series__metric", flat=True))
        for alert in alerts
    }


def test_a_later_fault_of_another_measure_is_an_alert_of_its_own_and_told(mesh: list[Pair]) -> None:
    for number in range(QUIET):
        night_of_losses(mesh, number)
    slow = of(mesh, either="d")
    for number in range(QUIET, QUIET + 2):
        night_of_losses(mesh, number, slow)
    for number in range(QUIET + 2, QUIET + 4):
        night_of_losses(mesh, number, slow, of(mesh, sink="b"))
    assert open_alerts() == {"grouped-d": {"throughput_bps"}, "grouped-b": {"loss_ratio"}}
    for number in range(QUIET + 4, QUIET + 8):
        night_of_losses(mesh, number, (), of(mesh, sink="b"))
    assert open_alerts() == {"grouped-b": {"loss_ratio"}}
    assert Alert.objects.get(host=host("d")).state == State.RECOVERED


def test_an_alert_whose_series_are_all_back_takes_nothing_more(mesh: list[Pair]) -> None:
    pair, other = of(mesh, source="a")[:2]
    quiet([pair, other])
    judged(pair, [0.8] * 6, first=20)
    alert = Alert.objects.get()
    alert.series.update(recovered_run=pair.runs.latest("pk"))
    judged(other, [0.8] * 2, first=20)
    assert {each.pair for each in Alert.objects.all()} == {pair, other}


def test_a_measure_that_an_open_alert_had_none_of_is_told() -> None:
    slower_with_jitter(make_pair())
    alert = Alert.objects.get(state=State.OPEN)
    row = alert.transitions.get(action=AlertTransition.AlertAction.JOINED)
    [part] = alert.series.filter(pk__in=row.params["parts"])
    assert part.series.metric == "jitter_seconds"


def test_a_suspect_that_the_next_run_shows_again_is_open() -> None:
    pair = make_pair()
    quiet(pair)
    first, second = judged(pair, [0.8] * 2, first=20)
    alert = Alert.objects.get()
    assert (alert.state, alert.unconfirmed_code) == (State.OPEN, "")
    part = alert.series.get()
    assert (part.first_bad_run, part.rerun) == (first, second)


def test_several_pairs_of_a_host_in_one_slot_are_told_without_measuring_again(mesh: list[Pair]) -> None:
    quiet(mesh, QUIET)
    campaign = slot_of(mesh)
    Schedule.objects.filter(slots__campaign=campaign).update(rerun_percent=0)
    end(campaign, dict.fromkeys(of(mesh, either="d"), 0.7), LAST)
    alert = Alert.objects.get()
    assert (alert.state, alert.host, alert.verdict) == (State.OPEN, host("d"), "host")
    assert alert.unconfirmed_code == "reruns_off"


def test_two_hosts_that_fall_in_one_slot_are_an_alert_each(mesh: list[Pair]) -> None:
    quiet(mesh, QUIET)
    campaign = slot_of(mesh)
    Schedule.objects.filter(slots__campaign=campaign).update(rerun_percent=0)
    end(campaign, dict.fromkeys([*of(mesh, sink="b"), *of(mesh, sink="d")], 0.7), LAST)
    live = Alert.objects.filter(ended_at=None)
    assert {alert.host for alert in live} == {host("b"), host("d")}
    assert {alert.series.count() for alert in live} == {3}


def test_what_one_run_alone_showed_does_not_hold_up_an_alerts_end(mesh: list[Pair]) -> None:
    pair, other = of(mesh, source="a")[:2]
    quiet([pair, other])
    judged([pair, other], [0.8], first=20)
    judged(pair, [0.8] * 5 + [1.0] * 3, first=21)
    alert = Alert.objects.order_by("pk")[0]
    assert (alert.state, set(alert.series.values_list("series__pair", flat=True))) == (State.RECOVERED, {pair.pk})
    apart = Alert.objects.latest("pk")
    assert (apart.state, apart.pair, apart.opened_at) == (State.SUSPECT, other, None)
    judged(other, [0.8], first=28)
    apart.refresh_from_db()
    assert apart.state == State.OPEN


@pytest.mark.parametrize(
    ("bad", "causes"),
    [
        ({"either": "d"}, ["abcd"]),
        ({"sink": "b"}, ["b"]),
        ({"source": "a", "sink": "d"}, ["a", "d"]),
    ],
)
def test_few_causes_explain_what_is_bad(mesh: list[Pair], bad: Mapping[str, str], causes: list[str]) -> None:
    ids = {pair.pk for pair in of(mesh, **bad)}
    groups = pairs_by_cause(ids, mesh)
    assert len(groups) == len(causes)
    assert frozenset().union(*groups) == ids


def test_pairs_that_share_a_host_most_of_whose_pairs_are_good_are_no_hosts_fault(mesh: list[Pair]) -> None:
    first, second = of(mesh, source="a")[0], of(mesh, sink="a")[-1]
    groups = pairs_by_cause({first.pk, second.pk}, mesh)
    assert groups == [frozenset({first.pk}), frozenset({second.pk})]


def test_a_third_episode_of_a_fault_is_told_as_that() -> None:
    pair = make_pair()
    quiet(pair)
    judged(pair, ([0.8] * 4 + [1.0] * 5) * 2 + [0.8] * 2, first=20)
    alerts = list(Alert.objects.exclude(opened_at=None).order_by("pk"))
    assert [alert.state for alert in alerts] == [State.RECOVERED, State.RECOVERED, State.OPEN]
    assert episode_text(alerts[0]) == ""
    assert episode_text(alerts[2]) == f"Episode 3 since {night(20):%Y-%m-%d %H:%M} UTC"


def test_a_run_that_is_judged_after_the_next_one_is_judged_all_the_same() -> None:
    pair = make_pair()
    quiet(pair)
    first, second = run_of(pair, 20, 0.8), run_of(pair, 21, 0.8)
    assert judge_run(second.pk) and judge_run(first.pk)
    alert = Alert.objects.get()
    assert alert.state == State.OPEN


def test_an_outlier_that_is_judged_after_a_good_run_is_told_to_nobody() -> None:
    pair = make_pair()
    quiet(pair)
    outlier, good = run_of(pair, 20, 0.8), run_of(pair, 21, 1.0)
    assert judge_run(good.pk) and judge_run(outlier.pk)
    assert [alert.state for alert in Alert.objects.filter(opened_at=None)] == [State.RECOVERED]
    assert not Alert.objects.exclude(opened_at=None).exists()


def test_an_old_run_that_comes_late_is_judged_without_changing_what_is_known() -> None:
    pair = make_pair()
    quiet(pair, 62)
    judged(pair, [0.8], first=62)
    old = run_of(pair, -1, 0.8)
    assert judge_run(old.pk)
    assert Alert.objects.get().state == State.SUSPECT


@pytest.mark.parametrize("ends", [[{"sink": "b"}, {"sink": "d"}], [{"either": "a"}, {"source": "c"}], [{"sink": "d"}]])
def test_what_is_measured_again_stays_in_the_alert_that_waits_for_it(
    mesh: list[Pair], ends: list[dict[str, str]]
) -> None:
    quiet(mesh, QUIET)
    bad = {pair for which in ends for pair in of(mesh, **which)}
    end(slot_of(mesh), dict.fromkeys(bad, 0.7), LAST)
    waiting = list(Alert.objects.filter(state=State.CONFIRMING))
    assert waiting
    for alert in waiting:
        assert alert.series.filter(rerun__campaign=alert.confirmation).exists()
        assert alert.confirmation is not None
        end(alert.confirmation, dict.fromkeys(bad, 0.7), LAST + 1)
    assert not Alert.objects.filter(state=State.CONFIRMING).exists()
    assert {alert.state for alert in Alert.objects.filter(pk__in=[each.pk for each in waiting])} == {State.OPEN}


@pytest.mark.parametrize(("again", "alerts"), [(0.7, 2), (1.0, 1)])
def test_the_alert_that_people_were_told_of_takes_what_its_cause_explains_and_tells_the_end(
    again: float, alerts: int
) -> None:
    names, environment = ["ab", "cb", "ac", "ad", "ae", "bc", "cd", "de"], make_environment("grouped")
    ends = {name: make_endpoint(host_name=f"grouped-{name}") for name in "abcde"}
    pairs = [pair_create(source=ends[name[0]], sink=ends[name[1]], environment=environment) for name in names]
    quiet(pairs, QUIET)
    # The first two share a sink, and are measured again; those that share the first one's source need no re-run.
    bad = dict.fromkeys(pairs[:5], 0.7)
    campaign = slot_of(pairs)
    end_by_pair(campaign, bad, LAST)
    told = Alert.objects.get(state=State.OPEN)
    falling = {pairs[0].pk, *(pair.pk for pair in pairs[2:5])}
    assert (told.host, set(told.series.values_list("series__pair", flat=True))) == (host("a"), falling)
    for rerun in Campaign.objects.filter(runs__state="pending").distinct():
        end_by_pair(rerun, dict.fromkeys(bad, again), LAST + 1)
    for number in range(LAST + 2, LAST + 6):
        judged(pairs, [1.0], first=number)
    opened = list(Alert.objects.exclude(opened_at=None).order_by("opened_at"))
    assert (opened[0], len(opened)) == (told, alerts)
    for alert in opened:
        states = alert.transitions.exclude(action=AlertTransition.AlertAction.FOUND).values_list("to_state", flat=True)
        assert list(states)[-2:] == [State.OPEN, State.RECOVERED]


def test_what_people_were_told_of_stays_the_host_that_most_of_its_pairs_share() -> None:
    names, environment = ["ca", "cb", "cd", "ad", "bd", "ab", "ba", "dc"], make_environment("crossed")
    ends = {name: make_endpoint(host_name=f"grouped-{name}") for name in "abcd"}
    pairs = [pair_create(source=ends[name[0]], sink=ends[name[1]], environment=environment) for name in names]
    quiet(pairs, QUIET)
    campaign = slot_of(pairs)
    # Three pairs of a host in one slot need no other measurement: it is told of before the last two are judged.
    Schedule.objects.filter(slots__campaign=campaign).update(rerun_percent=0)
    end_by_pair(campaign, dict.fromkeys(pairs[:5], 0.7), LAST)
    told = Alert.objects.exclude(opened_at=None).order_by("opened_at")[0]
    assert told.host == host("c")
    assert {alert.host for alert in Alert.objects.filter(ended_at=None)} == {host("c"), host("d")}


def test_what_is_parted_off_from_an_alert_that_people_know_is_told_by_itself() -> None:
    environment = make_environment("parted")
    ends = {name: make_endpoint(host_name=f"grouped-{name}") for name in "abcdef"}
    names = ["ab", "cd", "ef", "ba", "dc", "fe"]
    pairs = [pair_create(source=ends[name[0]], sink=ends[name[1]], environment=environment) for name in names]
    quiet(pairs, QUIET)
    campaign = slot_of(pairs)
    end_by_pair(campaign, dict.fromkeys(pairs[:2], 0.7), LAST)
    first, second = Alert.objects.filter(ended_at=None).order_by("pk")
    # As if both had been taken for one cause, which people were told of.
    second.series.update(alert=first)
    second.delete()
    transitions.move(first.pk, State.OPEN)
    regroup_slot(campaign.runs.get(pair=pairs[-1]))
    parted = Alert.objects.exclude(pk=first.pk).get()
    assert parted.state == State.OPEN
    assert parted.opened_at is not None
    opening = parted.transitions.get(to_state=State.OPEN)
    assert (opening.action, opening.from_state) == (AlertTransition.AlertAction.MOVED, State.SUSPECT)


def test_what_few_of_a_hosts_pairs_show_does_not_name_its_alert() -> None:
    loss = [make_part(metric="loss_ratio", pair=number, ratio=None) for number in (1, 2, 3)]
    throughput = make_part(metric="throughput_bps", pair=3, ratio=-0.39)
    assert naming_part([*loss, throughput]).series.metric == "loss_ratio"
    both = [throughput, make_part(metric="throughput_bps", pair=2, ratio=-0.4)]
    assert naming_part([*loss, *both]) == both[1]


def make_part(*, metric: str, pair: int, ratio: float | None) -> AlertSeries:
    """Make a part that isn't stored, of a datagram stream's measure."""
    return AlertSeries(
        pk=100 * pair + len(metric),
        series=Series(pair_id=pair, kind="udp_stream", metric=metric),
        difference_ratio=ratio,
        before=0.0,
        after=1.0,
    )


def end_by_pair(campaign: Campaign, factors: Mapping[Pair, float], number: int) -> None:
    """End a campaign's runs one after the other in the order of their pairs, each judged before the next has ended."""
    end_in_turn(campaign.runs.order_by("pair"), factors, night(number), number)


def end_in_turn(runs: Iterable[Run], factors: Mapping[Pair, float], at: datetime, number: int) -> None:
    """End runs that began at a time, each judged before the next has ended."""
    for run in runs:
        Run.objects.filter(pk=run.pk).update(state="finished", started_at=at, finished_at=at + timedelta(minutes=1))
        run.trials.all().delete()
        add_values(run, run.pair, at, level(number, factors.get(run.pair, 1.0)))
        write_figures()
        assert judge_run(run.pk)


def test_a_fault_that_a_control_met_just_before_is_found_in_the_slots_own_run(mesh: list[Pair]) -> None:
    # Of so few runs one that was as bad makes it usual.
    quiet(mesh, QUIET)
    into = of(mesh, sink="d")
    bad, at = dict.fromkeys(into, 0.6), night(LAST)
    campaign = slot_of(mesh)
    runs = list(campaign.runs.order_by("pair"))
    end_in_turn([run for run in runs if run.pair == into[0]], bad, at, LAST)
    again = Campaign.objects.exclude(pk=campaign.pk).get(runs__state="pending", runs__pair=into[0])
    assert again.runs.filter(pair__in=into).count() == 2
    end_in_turn(again.runs.order_by("pair"), bad, at + timedelta(minutes=2), LAST)
    assert Alert.objects.get(state=State.OPEN).host == host("d")
    end_in_turn([run for run in runs if run.pair != into[0]], bad, at + timedelta(minutes=4), LAST)
    told = Alert.objects.exclude(opened_at=None).get()
    assert {part.series.pair for part in told.series.all()} == set(into)


def test_a_host_two_of_whose_three_sending_pairs_are_bad_is_the_cause(mesh: list[Pair]) -> None:
    bad = {pair.pk for pair in of(mesh, source="c")[:2]}
    assert pairs_by_cause(bad, mesh) == [frozenset(bad)]


@pytest.mark.parametrize("turn", range(3))
def test_two_hosts_at_fault_in_one_slot_are_two_alerts_and_the_pair_between_them_is_in_both(
    mesh: list[Pair], turn: int
) -> None:
    quiet_with_losses(mesh)
    slow, lossy = dict.fromkeys(of(mesh, source="c"), 0.6), of(mesh, sink="d")
    # Whatever order the runs end in.
    campaign = slot_of([*mesh[4 * turn :], *mesh[: 4 * turn]])
    end_with_losses(campaign, LAST, slow=slow, lossy=lossy)
    for again in Campaign.objects.filter(runs__state="pending").distinct():
        end_with_losses(again, LAST + 1, slow=slow, lossy=lossy)
    assert open_alerts() == {"grouped-c": {"throughput_bps", "packets_per_second"}, "grouped-d": {"loss_ratio"}}
    [between] = [pair for pair in lossy if pair in slow]
    assert AlertSeries.objects.filter(series__pair=between, alert__state=State.OPEN).count() == 3
    assert Alert.objects.exclude(opened_at=None).count() == 2


def test_a_suspect_of_the_slot_before_does_not_keep_a_slot_from_being_judged_by_its_causes(mesh: list[Pair]) -> None:
    quiet_with_losses(mesh)
    campaign = slot_of(mesh)
    Schedule.objects.filter(slots__campaign=campaign).update(rerun_percent=0)
    [early] = [pair for pair in of(mesh, source="a") if pair.sink.host == host("d")]
    end_with_losses(campaign, LAST, slow={early: 0.9}, lossy=())
    slow, lossy = {early: 0.9} | dict.fromkeys(of(mesh, source="c"), 0.6), of(mesh, sink="d")
    following = next_slot(Schedule.objects.get(), mesh, LAST + 1)
    end_with_losses(following, LAST + 1, slow=slow, lossy=lossy)
    told = open_alerts()
    assert told.keys() == {"grouped-c", "grouped-d"}
    assert "loss_ratio" not in told["grouped-c"]


def test_a_test_that_is_bad_again_is_told_where_another_was_so_by_chance(mesh: list[Pair]) -> None:
    quiet_with_losses(mesh)
    lossy = of(mesh, sink="d")
    campaign = slot_of(mesh)
    end_with_losses(campaign, LAST, slow={lossy[0]: 0.7}, lossy=lossy)
    for again in Campaign.objects.filter(runs__state="pending").distinct():
        end_with_losses(again, LAST + 1, slow={}, lossy=lossy)
    assert open_alerts().keys() == {"grouped-d"}
    alert = Alert.objects.get(state=State.OPEN)
    assert (alert.params["metric"], alert.params["pairs"]) == ("loss_ratio", 3)


def test_a_test_that_a_rerun_gave_no_answer_of_is_not_measured_again_at_once(mesh: list[Pair]) -> None:
    quiet_with_losses(mesh)
    campaign, [first, *_others] = slot_of(mesh), of(mesh, sink="d")
    end_with_losses(campaign, LAST, slow={first: 0.7}, lossy=[first])
    again = Campaign.objects.get(runs__state="pending", runs__pair=first)
    # Of the stream alone, which is as before.
    end_in_turn(again.runs.order_by("pair"), {}, night(LAST) + timedelta(minutes=2), LAST + 1)
    alert = Alert.objects.get(ended_at=None)
    assert (alert.state, alert.unconfirmed_code) == (State.SUSPECT, "in_doubt")
    assert not Run.objects.filter(state="pending").exists()
    # The next run tells.
    following = next_slot(Schedule.objects.get(), mesh, LAST + 2)
    end_with_losses(following, LAST + 2, slow={}, lossy=[first])
    alert.refresh_from_db()
    lasting = alert.series.filter(recovered_run=None)
    assert (alert.state, [part.series.metric for part in lasting]) == (State.OPEN, ["loss_ratio"])


def test_a_test_that_alone_of_many_is_bad_again_stays_a_suspect_and_the_next_run_tells(mesh: list[Pair]) -> None:
    quiet_with_losses(mesh)
    campaign, [first, *_others] = slot_of(mesh), of(mesh, sink="d")
    end_with_losses(campaign, LAST, slow={first: 0.7}, lossy=[first], late=[first])
    again = Campaign.objects.get(runs__state="pending", runs__pair=first)
    end_with_losses(again, LAST + 1, slow={}, lossy=[first])
    alert = Alert.objects.get(ended_at=None)
    lasting = alert.series.filter(recovered_run=None)
    assert (alert.state, alert.unconfirmed_code) == (State.SUSPECT, "in_doubt")
    assert [part.series.metric for part in lasting] == ["loss_ratio"]
    assert not Run.objects.filter(state="pending").exists()
    following = next_slot(Schedule.objects.get(), mesh, LAST + 2)
    end_with_losses(following, LAST + 2, slow={}, lossy=[first])
    alert.refresh_from_db()
    assert alert.state == State.OPEN


def test_a_control_that_another_alert_of_the_slot_explains_names_no_host(mesh: list[Pair]) -> None:
    quiet(mesh, QUIET)
    [link] = [pair for pair in of(mesh, source="a") if pair.sink.host == host("b")]
    bad = dict.fromkeys([link, *of(mesh, sink="c")], 0.6)
    campaign = slot_of(mesh)
    Schedule.objects.filter(slots__campaign=campaign).update(rerun_percent=100)
    end(campaign, bad, LAST)
    while again := Campaign.objects.filter(runs__state="pending").first():
        end(again, bad, LAST + 1)
    told = Alert.objects.exclude(opened_at=None)
    assert {(alert.host, alert.pair) for alert in told} == {(host("c"), None), (None, link)}
