"""Alerts of one cause are merged, others split off: as a whole or not at all, whoever else is at it."""

import threading

import pytest
from django.db import connection

from benchweb.hosts.models import Pair
from benchweb.regressions import merging, transitions
from benchweb.regressions.models import Alert, AlertSeries, AlertTransition
from benchweb.regressions.transitions import AlertError
from tests.factories import make_alert, make_pair, make_user
from tests.regressions.judged import judged, quiet

pytestmark = pytest.mark.django_db
State = Alert.State


def fallen(factor: float = 0.8, *, series: int = 1) -> Alert:
    """Return the open alert of a new pair whose series fell."""
    pair = make_pair()
    quiet(pair, series=series)
    judged(pair, [factor] * 6, first=20, series=series)
    return Alert.objects.get(state=State.OPEN, pair=pair)


def pair_of(alert: Alert) -> Pair:
    assert alert.pair is not None
    return alert.pair


def test_the_series_go_to_the_other_alert_which_is_told_of_their_recovery_with_its_own() -> None:
    small, large, anna = fallen(0.9), fallen(0.7), make_user("anna", "secret words")
    pairs = [pair_of(small), pair_of(large)]
    merging.merge(alert_id=small.pk, into=large.pk, by=anna, comment="the same switch")
    small.refresh_from_db()
    large.refresh_from_db()
    assert (small.state, small.merged_into, small.series.count()) == (State.MERGED, large, 0)
    assert (large.state, large.series.count(), large.params["pairs"], large.pair) == (State.OPEN, 2, 2, None)
    rows = AlertTransition.objects.filter(action="merged").values_list("alert", "by", "comment", "params")
    assert list(rows) == [
        (small.pk, anna.pk, "the same switch", {"into": large.pk}),
        (large.pk, anna.pk, "the same switch", {"from": small.pk}),
    ]
    judged(pairs[0], [1.0] * 4, first=26)
    assert Alert.objects.get(pk=large.pk).state == State.OPEN
    judged(pairs[1], [1.0] * 4, first=26)
    assert Alert.objects.get(pk=large.pk).state == State.RECOVERED
    assert Alert.objects.exclude(pk__in=(small.pk, large.pk)).exclude(opened_at=None).count() == 0


def test_what_can_not_be_merged_is_refused_and_nothing_changes() -> None:
    change, absence, ended = fallen(), make_alert(), make_alert(State.FIXED)
    other = make_alert(State.SUSPECT)
    before = list(Alert.objects.order_by("pk").values())
    for source, into, word in (
        (absence, absence, "itself"),
        (absence, change, "of one kind"),
        (absence, ended, "has ended"),
        (ended, absence, "has ended"),
        (other, absence, "once it is open"),
    ):
        with pytest.raises(AlertError) as refused:
            merging.merge(alert_id=source.pk, into=into.pk, by=None)
        assert word in refused.value.message
    with pytest.raises(AlertError, match="There is no alert 999999"):
        merging.merge(alert_id=absence.pk, into=999_999, by=None)
    assert list(Alert.objects.order_by("pk").values()) == before


def test_missing_results_are_merged_too_and_what_was_merged_opens_no_more() -> None:
    one, other = make_alert(), make_alert()
    merging.merge(alert_id=one.pk, into=other.pk, by=None)
    with pytest.raises(AlertError):
        transitions.acknowledge(alert_id=one.pk, by=None)
    assert not transitions.move(one.pk, State.RECOVERED)


def test_some_series_are_split_off_with_the_state_and_each_recovers_by_itself() -> None:
    alert = fallen(0.8, series=4)
    transitions.acknowledge(alert_id=alert.pk, by=None)
    series = list(alert.series.values_list("series", flat=True))
    new = merging.split(alert_id=alert.pk, series=series[:1], by=None, comment="another cause")
    assert (new.state, new.pair, new.opened_at) == (State.ACKNOWLEDGED, alert.pair, alert.opened_at)
    assert list(new.series.values_list("series", flat=True)) == series[:1]
    assert list(alert.series.values_list("series", flat=True)) == series[1:]
    alert.refresh_from_db()
    assert (alert.params["series"], new.params["series"]) == (3, 1)
    rows = AlertTransition.objects.filter(action="split").values_list("alert", "params")
    assert list(rows) == [(alert.pk, {"into": new.pk}), (new.pk, {"from": alert.pk})]
    merging.merge(alert_id=new.pk, into=alert.pk, by=None)
    again = merging.split(alert_id=alert.pk, series=series[2:3], by=None)
    assert again.series.count() == 1
    judged(pair_of(alert), [1.0] * 4, first=26, series=4)
    assert set(Alert.objects.filter(pk__in=(alert.pk, again.pk)).values_list("state", flat=True)) == {State.RECOVERED}


def test_a_rest_that_has_recovered_already_ends_with_the_split() -> None:
    alert = fallen(0.8, series=2)
    first, second = alert.series.all()
    AlertSeries.objects.filter(pk=first.pk).update(recovered_run=first.first_bad_run)
    new = merging.split(alert_id=alert.pk, series=[second.series_id], by=None)
    assert (Alert.objects.get(pk=alert.pk).state, new.state) == (State.RECOVERED, State.OPEN)


def test_nothing_all_or_what_it_does_not_have_is_not_split_off() -> None:
    alert, other = fallen(0.8, series=2), fallen(0.8)
    own = list(alert.series.values_list("series", flat=True))
    foreign = list(other.series.values_list("series", flat=True))
    for series in ([], own, [own[0], *foreign]):
        with pytest.raises(AlertError) as refused:
            merging.split(alert_id=alert.pk, series=series, by=None)
        assert refused.value.field == "series"
    assert Alert.objects.filter(state=State.OPEN).count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_who_merge_them_crosswise_one_succeeds() -> None:
    one, other = fallen(0.8), fallen(0.7)
    refusals: list[str] = []
    barrier = threading.Barrier(2)

    def work(alert_id: int, into: int) -> None:
        barrier.wait()
        try:
            merging.merge(alert_id=alert_id, into=into, by=None)
        except AlertError as error:
            refusals.append(error.message)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=ids) for ids in ((one.pk, other.pk), (other.pk, one.pk))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refusals) == 1
    assert "has ended" in refusals[0]
    (left,) = Alert.objects.filter(state=State.OPEN)
    assert left.series.count() == 2
