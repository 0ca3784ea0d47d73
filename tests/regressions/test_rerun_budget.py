"""A schedule's time for re-runs goes first to what is worst and new; people may spend beyond it."""

from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from benchweb.accounts.models import Role
from benchweb.accounts.roles.grants import role_set
from benchweb.hosts.models import Pair
from benchweb.hosts.services import pair_create
from benchweb.regressions.judging.budget import rerun_budget
from benchweb.regressions.measuring import measure_again_anyway
from benchweb.regressions.models import Alert, AlertTransition
from benchweb.regressions.transitions import AlertError
from benchweb.runs.models import Campaign, Run
from benchweb.runs.services import launch
from benchweb.schedules.models import Schedule
from tests.factories import make_endpoint, make_environment
from tests.regressions.judged import judged, quiet
from tests.regressions.slots import LAST, end, judged_in_turn, next_slot, slot_of

pytestmark = pytest.mark.django_db
State = Alert.State


def apart(count: int) -> list[Pair]:
    """Make pairs that share no host, with twenty quiet nights behind them: nothing is a control of another."""
    environment = make_environment("apart")
    pairs = [pair_create(source=make_endpoint(), sink=make_endpoint(), environment=environment) for _ in range(count)]
    quiet(pairs)
    return pairs


@pytest.fixture(scope="module")
def ten_ids(rows_of_a_module: None) -> list[int]:
    return [pair.pk for pair in apart(10)]


@pytest.fixture
def ten(ten_ids: list[int], db: None) -> list[Pair]:
    """Return ten such pairs anew: a slot of theirs takes ten minutes."""
    ends = ("environment", "source__host", "sink__host")
    return list(Pair.objects.filter(pk__in=ten_ids).select_related(*ends).order_by("pk"))


def slot_with(pairs: Sequence[Pair], percent: int) -> Campaign:
    """Launch a slot whose schedule gives a share of its time to re-runs."""
    campaign = slot_of(pairs, seconds=50)
    Schedule.objects.filter(slots__campaign=campaign).update(rerun_percent=percent)
    return campaign


def states(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """Return the state of each pair's alert and why it is not measured again."""
    alerts = {alert.pair_id: alert for alert in Alert.objects.filter(ended_at=None)}
    return [(alerts[pair.pk].state, alerts[pair.pk].unconfirmed_code) for pair in pairs]


def test_a_worse_suspect_takes_the_place_of_a_rerun_that_has_not_begun(ten: list[Pair]) -> None:
    campaign = slot_with(ten, 11)
    first, small, large, *_ = judged_in_turn(campaign, ten)
    # Of ten minutes one more re-run may be, beside the first; the third is worse than the second.
    end(campaign, {first: 0.86, small: 0.95, large: 0.9}, LAST)
    assert states([first, small, large]) == [
        (State.CONFIRMING, ""),
        (State.SUSPECT, "gave_way"),
        (State.CONFIRMING, ""),
    ]
    gone = Run.objects.get(
        pair=small, campaign__slot=None, state="cancelled", started_at=None, plan_version=campaign.plan_version
    )
    assert gone.reason == "gave way to a re-run that was needed more"
    row = AlertTransition.objects.filter(alert__pair=small).latest("pk")
    assert (row.to_state, row.params) == (State.SUSPECT, {"code": "gave_way"})


def test_a_smaller_suspect_takes_the_place_of_none(ten: list[Pair]) -> None:
    campaign = slot_with(ten, 11)
    first, large, small, *_ = judged_in_turn(campaign, ten)
    end(campaign, {first: 0.86, small: 0.95, large: 0.9}, LAST)
    assert states([first, large, small]) == [
        (State.CONFIRMING, ""),
        (State.CONFIRMING, ""),
        (State.SUSPECT, "budget_spent"),
    ]


def test_a_rerun_that_has_begun_gives_way_to_none(ten: list[Pair]) -> None:
    campaign = slot_with(ten, 11)
    schedule = Schedule.objects.get(slots__campaign=campaign)
    first, small, *others = judged_in_turn(campaign, ten)
    end(campaign, {first: 0.86, small: 0.95}, LAST)
    reruns = Run.objects.filter(campaign__slot=None, plan_version=campaign.plan_version)
    assert reruns.update(state="running") == 2
    end(next_slot(schedule, others[:1], LAST + 1), {others[0]: 0.9}, LAST + 1)
    assert states([first, small, others[0]]) == [
        (State.CONFIRMING, ""),
        (State.CONFIRMING, ""),
        (State.SUSPECT, "budget_spent"),
    ]
    assert reruns.filter(state="cancelled").count() == 0


def test_what_came_back_gives_way_to_what_is_new(ten: list[Pair]) -> None:
    known = ten[0]
    for number in range(LAST, LAST + 8):
        judged(known, [0.8 if number < LAST + 4 else 1.0], first=number)
    assert Alert.objects.get().state == State.RECOVERED
    campaign = slot_with(ten, 1)
    new = judged_in_turn(campaign, ten)[-1]
    assert judged_in_turn(campaign, [known, new]) == [known, new]
    end(campaign, {known: 0.85, new: 0.9}, LAST + 8)
    assert states([known, new]) == [(State.SUSPECT, "gave_way"), (State.CONFIRMING, "")]


def test_a_suspect_that_found_no_time_is_measured_again_once_there_is_some(ten: list[Pair]) -> None:
    campaign = slot_with(ten, 5)
    schedule = Schedule.objects.get(slots__campaign=campaign)
    first, worse, small, *others = judged_in_turn(campaign, ten)
    end(campaign, {first: 0.86, worse: 0.9, small: 0.95}, LAST)
    assert states([worse, small]) == [(State.SUSPECT, "budget_spent")] * 2
    # With these seven runs there is time for one.
    end(next_slot(schedule, others, LAST + 1), {}, LAST + 1)
    end(next_slot(schedule, others, LAST + 2), {}, LAST + 2)
    assert states([worse, small]) == [(State.CONFIRMING, ""), (State.SUSPECT, "budget_spent")]


def test_a_run_by_hand_confirms_what_found_no_time(ten: list[Pair], django_user_model: type[User]) -> None:
    campaign = slot_with(ten, 1)
    plan = campaign.plan_version.plan
    first, lacking, *_ = judged_in_turn(campaign, ten)
    end(campaign, {first: 0.86, lacking: 0.9}, LAST)
    assert states([lacking]) == [(State.SUSPECT, "budget_spent")]
    end(launch(plan=plan, pairs=[lacking], user=admin(django_user_model)), {lacking: 0.9}, LAST + 1)
    assert states([lacking]) == [(State.OPEN, "")]


def admin(model: type[User], name: str = "ada") -> User:
    return model.objects.create_superuser(name)


def lacking_alert(ten: list[Pair]) -> Alert:
    """Return a suspect of which the schedule's time is spent."""
    campaign = slot_with(ten, 1)
    first, lacking, *_ = judged_in_turn(campaign, ten)
    end(campaign, {first: 0.86, lacking: 0.9}, LAST)
    return Alert.objects.get(pair=lacking)


def test_somebody_measures_a_suspect_again_beyond_the_schedules_time(
    ten: list[Pair], django_user_model: type[User]
) -> None:
    alert, ada = lacking_alert(ten), admin(django_user_model)
    assert alert.schedule is not None
    before = rerun_budget(alert.schedule)
    measure_again_anyway(alert_id=alert.pk, by=ada, comment="before the release")
    alert.refresh_from_db()
    assert alert.confirmation is not None
    assert (alert.state, alert.unconfirmed_code, alert.confirmation.created_by) == (State.CONFIRMING, "", ada)
    row = alert.transitions.latest("pk")
    assert (row.by, row.comment, row.params) == (ada, "before the release", {"campaign": alert.confirmation.pk})
    assert rerun_budget(alert.schedule) == before
    assert alert.pair is not None
    end(alert.confirmation, {alert.pair: 0.9}, LAST + 1)
    alert.refresh_from_db()
    assert (alert.state, alert.verdict) == (State.OPEN, "pair")
    with pytest.raises(AlertError, match="only a suspect of a change"):
        measure_again_anyway(alert_id=alert.pk, by=ada)


def test_somebody_who_may_not_run_there_measures_nothing_again(ten: list[Pair], django_user_model: type[User]) -> None:
    alert, viewer = lacking_alert(ten), django_user_model.objects.create_user("vera")
    admin(django_user_model)
    role_set(user=viewer, role=Role.VIEWER)
    campaigns = Campaign.objects.count()
    with pytest.raises(PermissionDenied):
        measure_again_anyway(alert_id=alert.pk, by=viewer)
    alert.refresh_from_db()
    assert (alert.state, Campaign.objects.count()) == (State.SUSPECT, campaigns)


def test_the_time_that_is_left_is_known_beforehand(ten: list[Pair]) -> None:
    campaign = slot_with(ten, 20)
    schedule = Schedule.objects.get(slots__campaign=campaign)
    before = rerun_budget(schedule)
    assert (before.allowed_seconds, before.left_seconds, before.is_first_left) == (0, 0, True)
    first, second, *_ = judged_in_turn(campaign, ten)
    end(campaign, {first: 0.86, second: 0.9}, LAST)
    (rerun,) = Run.objects.filter(pair=second, campaign__slot=None, state="pending")
    end(rerun.campaign, {second: 0.9}, LAST + 1)
    after = rerun_budget(schedule)
    # Of ten minutes a fifth; the second re-run took a minute of it, the first none.
    assert (after.allowed_seconds, after.left_seconds) == (120, 60)
    assert (after.is_first_left, after.is_critical_left) == (False, True)
