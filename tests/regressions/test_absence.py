"""What is missing is told once for as long as it lasts, and once when it is back."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from benchweb.hosts.models import Endpoint, Pair
from benchweb.hosts.services import pair_create
from benchweb.regressions import transitions
from benchweb.regressions.absence.missing import check_absences
from benchweb.regressions.alert_details import detail_lines
from benchweb.regressions.alert_texts import alert_title
from benchweb.regressions.concerned import concerned_by
from benchweb.regressions.judge import judge_run
from benchweb.regressions.models import Alert
from benchweb.results.run_summaries import write_figures
from benchweb.runs.services import launch
from benchweb.schedules.models import Schedule, Slot
from tests.factories import make_endpoint, make_environment, make_pair, make_schedule
from tests.nights import DAY, NIGHT, measured

pytestmark = pytest.mark.django_db
State = Alert.State


@pytest.fixture
def now() -> datetime:
    return timezone.now()


def slot(schedule: Schedule, at: datetime, state: str) -> None:
    Slot.objects.create(schedule=schedule, at=at, state=state, reason="no engine answers", claimed_at=at)


def test_slots_without_results_are_one_alert_that_ends_with_the_next_complete_one(now: datetime) -> None:
    schedule = make_schedule()
    slot(schedule, now - timedelta(hours=5), "finished")
    assert check_absences() == 0
    slot(schedule, now - timedelta(hours=4), "nonstart")
    slot(schedule, now - timedelta(hours=3), "failed")
    assert check_absences() == 1
    slot(schedule, now - timedelta(hours=2), "missed")
    assert check_absences() == 0
    alert = Alert.objects.get()
    assert (alert.kind, alert.code, alert.state) == ("absence", "slot", State.OPEN)
    assert (alert.params["slots"], alert.params["reason"]) == (3, "no engine answers")
    slot(schedule, now - timedelta(hours=1), "finished")
    assert check_absences() == 0
    assert Alert.objects.get().state == State.RECOVERED


def test_an_acknowledged_absence_stays_acknowledged_while_it_lasts(now: datetime) -> None:
    schedule = make_schedule()
    slot(schedule, now - timedelta(hours=4), "nonstart")
    assert check_absences() == 1
    transitions.expect(alert_id=Alert.objects.get().pk, by=None)
    slot(schedule, now - timedelta(hours=3), "nonstart")
    assert check_absences() == 0
    assert Alert.objects.get().state == State.EXPECTED


def test_skipped_and_cancelled_slots_are_nobodys_fault(now: datetime) -> None:
    schedule = make_schedule()
    slot(schedule, now - timedelta(hours=4), "skipped")
    slot(schedule, now - timedelta(hours=3), "cancelled")
    assert check_absences() == 0


def test_a_schedule_whose_time_passed_is_late_until_it_is_claimed(now: datetime) -> None:
    schedule = make_schedule()
    Schedule.objects.filter(pk=schedule.pk).update(next_at=now - timedelta(minutes=11))
    assert check_absences() == 1
    assert check_absences() == 0
    Schedule.objects.filter(pk=schedule.pk).update(next_at=now + timedelta(hours=1))
    check_absences()
    alert = Alert.objects.get()
    assert (alert.code, alert.state, alert.schedule) == ("late", State.RECOVERED, schedule)


def test_an_endpoint_in_use_that_is_silent_for_long_is_told_until_it_answers(now: datetime) -> None:
    pair = make_pair()
    ends = Endpoint.objects.filter(pk=pair.source_id)
    ends.update(unreachable_since=now - timedelta(minutes=14), status_reason="no route to host")
    assert check_absences() == 0
    ends.update(unreachable_since=now - timedelta(minutes=16))
    assert check_absences() == 1
    assert check_absences() == 0
    alert = Alert.objects.get()
    assert (alert.code, alert.host, alert.severity) == ("unreachable", pair.source.host, "critical")
    ends.update(unreachable_since=None)
    check_absences()
    assert Alert.objects.get().state == State.RECOVERED


def test_runs_that_finish_with_nothing_received_are_one_alert_of_their_pair() -> None:
    pair = make_pair()
    for number, value in enumerate((1e9, 0.0, 0.0, 1e9)):
        run = measured(pair, NIGHT + number * DAY, value)
        write_figures()
        judge_run(run.pk)
        states = list(Alert.objects.values_list("code", "state", "params"))
        assert (
            states
            == [
                [],
                [("nothing", "open", {"runs": 1})],
                [("nothing", "open", {"runs": 2})],
                [("nothing", "recovered", {"runs": 2})],
            ][number]
        )


@pytest.mark.parametrize(
    ("kind", "metric", "value", "opened"),
    [
        ("tcp_rr", "latency_p50_seconds", 14e-6, []),
        ("ping", "loss_ratio", 1.0, ["nothing"]),
        ("ping", "loss_ratio", 0.5, []),
    ],
)
def test_a_result_without_its_headline_is_nothing_received_only_where_all_was_lost(
    kind: str, metric: str, value: float, opened: list[str]
) -> None:
    run = measured(make_pair(), NIGHT, value, kind=kind, metric=metric)
    write_figures()
    assert judge_run(run.pk)
    assert list(Alert.objects.values_list("code", flat=True)) == opened


def test_slots_that_are_skipped_again_and_again_are_one_alert_that_says_what_to_change(now: datetime) -> None:
    schedule = make_schedule()
    for number in range(9, 0, -1):
        slot(schedule, now - timedelta(minutes=number), "skipped" if number % 2 else "finished")
        check_absences()
    alert = Alert.objects.get()
    assert (alert.code, alert.state) == ("skipped", State.OPEN)
    assert alert_title(alert) == f"Schedule {schedule}: 3 of the latest 6 slots skipped"
    lines = detail_lines(alert, concerned_by(alert))
    assert "Its runs take longer than its slots are apart: make the interval longer, or the plan shorter." in lines
    for number in range(6):
        slot(schedule, now + timedelta(seconds=number), "finished")
        check_absences()
    assert Alert.objects.get().state == State.RECOVERED


def test_a_dead_host_and_the_slots_that_it_spoils_are_one_alert(now: datetime) -> None:
    pair = make_pair()
    schedule = make_schedule(target={"pairs": [pair.pk]})
    since = now - timedelta(minutes=3)
    slot(schedule, now - timedelta(minutes=9), "finished")
    Endpoint.objects.filter(pk=pair.sink_id).update(unreachable_since=since, status_reason="connection refused")
    for minutes in (2, 1):
        slot(schedule, now - timedelta(minutes=minutes), "nonstart")
        check_absences()
    alert = Alert.objects.get()
    assert (alert.code, alert.state, alert.host, alert.severity) == (
        "unreachable",
        State.OPEN,
        pair.sink.host,
        "critical",
    )
    assert alert_title(alert) == f"{pair.sink} is unreachable: 2 slots without complete results"
    Endpoint.objects.filter(pk=pair.sink_id).update(unreachable_since=None)
    check_absences()
    assert Alert.objects.get().state == State.RECOVERED
    # What fails although all hosts answer again has a cause of its own.
    slot(schedule, timezone.now(), "failed")
    check_absences()
    assert Alert.objects.latest("pk").code == "slot"


def test_a_slot_that_a_silent_host_does_not_explain_is_an_alert_of_its_own(now: datetime) -> None:
    pairs = [make_pair(), make_pair()]
    schedule = make_schedule(target={"pairs": [pair.pk for pair in pairs]})
    Endpoint.objects.filter(pk=pairs[0].sink_id).update(unreachable_since=now - timedelta(minutes=3))
    slot(schedule, now - timedelta(minutes=1), "nonstart")
    assert check_absences() == 1
    assert Alert.objects.get().code == "slot"


def test_an_incomplete_slot_names_the_host_or_pair_that_explains_which_runs_it_lacks(now: datetime) -> None:
    environment, ends = make_environment("lacking"), [make_endpoint(host_name=f"lacking-{name}") for name in "abcd"]
    pairs = [
        pair_create(source=source, sink=sink, environment=environment)
        for source in ends
        for sink in ends
        if source != sink
    ]
    schedule = make_schedule(target={"pairs": [pair.pk for pair in pairs]})

    def ended_without(lacking: Sequence[Pair]) -> Alert:
        campaign = launch(plan=schedule.plan, pairs=pairs, user=None)
        campaign.runs.update(state="finished")
        campaign.runs.filter(pair__in=lacking).update(state="failed")
        Slot.objects.create(schedule=schedule, at=timezone.now(), claimed_at=now, campaign=campaign, state="failed")
        check_absences()
        return Alert.objects.select_related("host", "pair", "schedule").latest("pk")

    into_d = [pair for pair in pairs if pair.sink == ends[3]]
    alert = ended_without(into_d)
    assert alert.host == ends[3].host
    assert alert_title(alert) == f"Host lacking-d: 1 slot of schedule {schedule} without complete results"
    assert ended_without(into_d).host == ends[3].host
    # Another cause since: the stretch is of neither.
    again = ended_without([pair for pair in pairs if pair.sink == ends[0]])
    assert (again.pk, again.host) == (alert.pk, None)
    assert alert_title(again) == f"Schedule {schedule}: 3 slots without complete results"
    for lacking, place in ((pairs[:1], (None, pairs[0])), (pairs, (None, None))):
        Alert.objects.all().delete()
        Slot.objects.all().delete()
        alert = ended_without(lacking)
        assert (alert.host, alert.pair) == place


def test_a_slot_that_fails_beside_a_known_dead_host_for_another_reason_is_told(now: datetime) -> None:
    pairs = [make_pair(), make_pair()]
    schedule = make_schedule(target={"pairs": [pair.pk for pair in pairs]})
    Endpoint.objects.filter(pk__in=[pair.sink_id for pair in pairs]).update(
        unreachable_since=now - timedelta(minutes=9)
    )
    slot(schedule, now - timedelta(minutes=5), "nonstart")
    assert check_absences() == 2
    Endpoint.objects.filter(pk=pairs[0].sink_id).update(unreachable_since=None)
    slot(schedule, now + timedelta(minutes=1), "nonstart")
    check_absences()
    assert Alert.objects.latest("pk").code == "slot"


def test_skipped_slots_that_somebody_takes_as_they_are_stay_so_until_none_is(now: datetime) -> None:
    schedule = make_schedule()
    for number in range(9, 0, -1):
        slot(schedule, now - timedelta(minutes=number), "skipped" if number % 2 else "finished")
    assert check_absences() == 1
    transitions.expect(alert_id=Alert.objects.get().pk, by=None)
    later = timezone.now()
    for number in range(12):
        slot(schedule, later + timedelta(minutes=number + 1), "skipped" if number % 2 else "finished")
        assert check_absences() == 0
    for number in range(12, 26):
        slot(schedule, later + timedelta(minutes=number + 1), "skipped" if number % 2 and number > 19 else "finished")
        check_absences()
    assert Alert.objects.count() == 2
