"""What may be why an alert's series fell: ranked by all hosts and nights, and nothing where nothing is known."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from benchweb.annotations.models import Annotation
from benchweb.hosts.models import Endpoint, Host, Pair, ProbeHour
from benchweb.hosts.services import pair_create
from benchweb.imports.models import Import
from benchweb.notifications.maintenance import maintenance_about
from benchweb.notifications.models import MaintenanceWindow
from benchweb.notifications.services import WindowValues, archive, window_create
from benchweb.plans.services import plan_update
from benchweb.regressions.models import Alert, AlertSeries
from benchweb.regressions.selectors import parts_named_first
from benchweb.regressions.why.deciding_runs import deciding_runs
from benchweb.regressions.why.evidence import Evidence, Why, why_of
from benchweb.regressions.why.neighbours import busy_spells
from benchweb.regressions.why.possible import MaintenanceSpan
from benchweb.regressions.why.sentences import chance_text, conclusion_text, evidence_text
from benchweb.results.ingest import identity_digest
from benchweb.results.models import RunFigure, Series
from benchweb.runs.models import Run
from tests.factories import make_endpoint, make_pair
from tests.regressions.fleet import (
    NAMES,
    NIGHTS,
    endpoint_of,
    fallen_alert,
    fleet_pairs,
    is_of,
    make_fleet,
    night,
    record,
)
from tests.regressions.judged import run_of


@pytest.fixture(scope="module")
def fleet(rows_of_a_module: None) -> None:
    make_fleet()


@pytest.fixture
def pairs(fleet: None, db: None) -> list[Pair]:
    return fleet_pairs()


def answer(alert: Alert, maintenance: Sequence[MaintenanceSpan] = ()) -> Why:
    why = why_of(alert, maintenance=maintenance)
    assert why is not None
    return why


def test_a_kernel_that_came_with_the_fall_stands_first_with_the_pairs_for_and_against_it(pairs: list[Pair]) -> None:
    for name in ("alder", "birch"):
        record(endpoint_of(name), "6.8.1", NIGHTS)
    # Another host took it before, and nothing happened there.
    record(endpoint_of("elm"), "6.8.1", 4)
    # Two facts that came at the same time to hosts that did not fall.
    record(endpoint_of("fir"), "6.8.0", NIGHTS, clock_source="hpet")
    record(endpoint_of("gorse"), "6.7.9", NIGHTS)
    why = answer(fallen_alert(pairs, {"alder", "birch"}))

    assert why.is_explained
    first = why.ranked[0]
    assert str(first.words) == "kernel 6.8.0 → 6.8.1"
    assert set(first.hosts.values()) == {"alder", "birch"}
    with_it = [pair for pair in pairs if is_of(pair, {"alder", "birch"})]
    assert (first.exposed.fell, first.exposed.pairs) == (len(with_it), len(with_it))
    assert (first.unexposed.fell, first.unexposed.pairs) == (0, len(pairs) - len(with_it))
    assert (first.elsewhere, first.elsewhere_unchanged) == (1, 1)
    assert first.change == pytest.approx(-0.12, abs=0.01)
    assert first.extremes is not None
    assert first.extremes[0] <= -0.12 <= first.extremes[1]
    assert first.interval is not None
    assert first.interval[0] < first.change < first.interval[1]
    assert why.happened == 3
    assert [str(each.words) for each in why.ranked if each.is_likely] == ["kernel 6.8.0 → 6.8.1"]
    assert "3 fact changes, plan versions, notes, maintenance windows and loads" in conclusion_text(why)
    assert evidence_text(first, why) == (
        "All 7 pairs with it got worse, −12.1 % to −11.8 %; none of 9 pairs without it did. "
        "The 1 other time that it came, nothing got worse."
    )
    assert chance_text(first, why).startswith("−1")
    assert "relative to the other pairs · 95 % interval" in chance_text(first, why)


def test_the_runs_that_would_tell_are_a_host_without_it_the_other_direction_and_the_host_alone(
    pairs: list[Pair],
) -> None:
    alert = fallen_alert(pairs, {"alder"})
    part = parts_named_first(alert)[0]
    pair = part.series.pair
    ends = {pair.source.host.name: pair.source, pair.sink.host.name: pair.sink}
    alder = ends.pop("alder")
    swapped = pair_create(source=pair.sink, sink=pair.source, environment=pair.environment)
    alone = pair_create(source=alder, sink=None, environment=pair.environment)
    found = {run.code: run for run in deciding_runs(alert, {alder.host_id})}
    assert set(found) == {"without", "swapped", "alone"}
    assert (found["swapped"].pair, found["alone"].pair) == (swapped, alone)
    third = found["without"].pair
    assert not is_of(third, {"alder"})
    assert is_of(third, set(ends))
    assert found["without"].plan_id == part.first_bad_run.plan_version.plan_id
    assert found["without"].seconds == 60
    for run in Run.objects.filter(pk__in=alert.series.values("first_bad_run")):
        Import.objects.create(run=run, pair=run.pair, tools=["iperf3"], digest=str(run.pk), text="")
    assert deciding_runs(alert, {alder.host_id}) == []


def test_nothing_is_named_where_nothing_happened_to_the_hosts_that_fell(pairs: list[Pair]) -> None:
    record(endpoint_of("elm"), "6.8.1", NIGHTS)
    why = answer(fallen_alert(pairs, {"alder"}))
    assert not why.is_explained
    assert why.unknown == ""
    assert why.happened == 1
    assert [evidence for evidence in why.ranked if evidence.explained.fell] == []


def hours_of(name: str, rates: dict[int, float], link_bps: float | None = 10e9) -> None:
    """Let a host carry so many bit/s in the hour in which a night's runs begin, half of it sent."""
    for number, rate in rates.items():
        ProbeHour.objects.create(
            endpoint=endpoint_of(name),
            hour=night(number).replace(minute=0, second=0, microsecond=0),
            metered=60,
            received_bps_sum=30 * rate,
            sent_bps_sum=30 * rate,
            link_bps=link_bps,
        )


def test_a_neighbour_that_carried_far_more_than_usual_stands_with_the_pairs_on_its_uplink(pairs: list[Pair]) -> None:
    Host.objects.filter(name__in=("alder", "birch", "cedar")).update(uplink="west")
    Host.objects.filter(name__in=("elm", "fir")).update(uplink="east")
    usual = dict.fromkeys(range(NIGHTS), 4e8)
    hours_of("cedar", usual | {NIGHTS: 9e9})
    # As each night, and too little to matter: neither is a load.
    hours_of("elm", dict.fromkeys(range(NIGHTS + 1), 9e9))
    hours_of("fir", dict.fromkeys(range(NIGHTS), 1e6) | {NIGHTS: 4e8})
    why = answer(fallen_alert(pairs, {"alder", "birch"}))
    [load] = why.ranked
    load_of = "load of cedar on uplink west: 9.00 Gbit/s sent and received, usually 400 Mbit/s or less at that hour"
    assert str(load.words) == load_of
    # Chance alone can't be told from it in thirteen nights.
    assert load.p == pytest.approx(1 / 11)
    # Not its own pairs: what it carried may be what they measured.
    exposed = [pair for pair in pairs if is_of(pair, {"alder", "birch"}) and not is_of(pair, {"cedar"})]
    assert (load.exposed.fell, load.exposed.pairs) == (len(exposed), len(exposed))
    assert why.happened == 1


def test_a_neighbour_is_busy_from_its_first_busy_hour_on(pairs: list[Pair]) -> None:
    Host.objects.filter(name__in=("alder", "birch", "cedar", "dogwood")).update(uplink="west")
    Endpoint.objects.filter(host__name="cedar").update(link_bps=10e9)
    begin = night(0).replace(hour=0, minute=0, second=0, microsecond=0)
    is_busy = range(5 * 24 + 20, 6 * 24 + 3)
    rates = [9e9 if hour in is_busy else 4e8 for hour in range(8 * 24)]
    ProbeHour.objects.bulk_create(
        ProbeHour(endpoint=endpoint_of("cedar"), hour=begin + timedelta(hours=hour), metered=1, sent_bps_sum=rate)
        for hour, rate in enumerate(rates)
    )
    # Of four days nothing is usual yet, and of a link whose speed nobody knows nothing is much.
    hours_of("alder", dict.fromkeys(range(30, 33), 1e8) | {33: 9e9})
    hours_of("dogwood", dict.fromkeys(range(30, 35), 1e8) | {35: 9e9}, link_bps=None)
    # It has no hours of its own.
    hosts = {endpoint_of("birch").host_id}
    [spell] = busy_spells(hosts, begin, begin + timedelta(days=60))
    assert (spell.host, spell.uplink, spell.begins_at) == ("cedar", "west", begin + timedelta(days=5, hours=20))
    assert (spell.most_bps, spell.usual_bps) == (9e9, 4e8)
    assert busy_spells({endpoint_of("elm").host_id}, begin, begin + timedelta(days=60)) == []


def test_one_fact_on_one_host_among_many_that_change_by_chance_may_be_a_coincidence(pairs: list[Pair]) -> None:
    record(endpoint_of("alder"), "6.8.1", NIGHTS)
    for number in range(6):
        for index, name in enumerate(NAMES[2:]):
            record(endpoint_of(name), f"6.9.{number}{index}", 4 + number)
    evidence = evidence_of(answer(fallen_alert(pairs, {"alder"})), "6.8.1")
    assert (evidence.exposed.fell, evidence.unexposed.fell) == (4, 0)
    assert not evidence.is_likely


def test_what_came_again_with_the_fall_is_weighed_though_it_came_before(pairs: list[Pair]) -> None:
    for number in (1, 5, NIGHTS):
        for name in ("alder", "birch"):
            record(endpoint_of(name), "6.8.0", number, boot_id=f"boot {number}")
    evidence = evidence_of(answer(fallen_alert(pairs, {"alder", "birch"})), "rebooted")
    assert (evidence.exposed.fell, evidence.exposed.pairs) == (7, 7)
    assert (evidence.elsewhere, evidence.elsewhere_unchanged) == (1, 1)


def test_what_came_to_every_host_has_nothing_to_be_compared_with(pairs: list[Pair]) -> None:
    for name in NAMES:
        record(endpoint_of(name), "6.8.1", NIGHTS)
    why = answer(fallen_alert(pairs, {"alder"}))
    assert not why.is_explained
    assert evidence_of(why, "6.8.1").unexposed.pairs == 0
    assert "there is no pair without it" in evidence_text(evidence_of(why, "6.8.1"), why)


def test_a_measure_that_is_not_judged_and_pairs_that_are_no_worse_are_said_to_be(pairs: list[Pair]) -> None:
    alert = fallen_alert(pairs, {"alder"})
    at, pair = night(NIGHTS), pairs[0]
    for metric in ("throughput_bps", "retransmitted_segments"):
        alert.series.all().delete()
        series = Series.objects.get_or_create(
            pair=pair if metric != "throughput_bps" else pairs[5],
            kind="tcp_stream",
            metric=metric,
            identity={},
            identity_digest=identity_digest({}),
        )[0]
        run = Run.objects.filter(pair=series.pair, started_at=at).get()
        AlertSeries.objects.create(
            alert=alert, series=series, segment_key=metric, before=1.0, after=2.0, first_bad_run=run
        )
        expected = "no_fall" if metric == "throughput_bps" else "unjudged"
        assert answer(alert).unknown == expected


def test_a_run_of_nothing_does_not_change_the_scale(pairs: list[Pair]) -> None:
    alert = fallen_alert(pairs, {"alder"})
    RunFigure.objects.filter(series__pair=pairs[4], at=night(3)).update(median=0.0)
    assert answer(alert).is_share


def evidence_of(why: Why, words: str) -> Evidence:
    return next(evidence for evidence in why.ranked if words in str(evidence.words))


def test_a_plans_new_version_and_a_note_are_possible_causes(pairs: list[Pair]) -> None:
    alert = fallen_alert(pairs, {"alder"})
    at = night(NIGHTS) - timedelta(hours=1)
    notes = {
        text: Annotation.objects.create(text=text, at=at, host=endpoint_of("alder").host)
        for text in ("after", "switch replaced")
    }
    # What is written of a fall once it is seen explains nothing.
    Annotation.objects.filter(pk=notes["switch replaced"].pk).update(created_at=at)
    kinds = {evidence.kind: evidence for evidence in answer(alert).ranked}
    assert str(kinds["note"].words) == "switch replaced"
    assert kinds["note"].exposed.fell == kinds["note"].exposed.pairs == 4
    pair = alert.series.select_related("series").earliest("pk").series.pair_id
    run = Run.objects.filter(pair=pair).latest("started_at")
    earlier = run.plan_version
    plan_update(
        plan=earlier.plan,
        name=earlier.plan.name,
        steps=earlier.steps,
        repetitions=earlier.repetitions + 1,
        order=earlier.order,
    )
    later = earlier.plan.versions.latest("number")
    Run.objects.filter(pair=pair).exclude(pk=run.pk).update(plan_version=earlier)
    Run.objects.filter(pk=run.pk).update(plan_version=later)
    plan = next(evidence for evidence in answer(alert).ranked if evidence.kind == "plan")
    assert str(plan.words).endswith("version 2")


def test_maintenance_that_began_before_the_fall_is_a_possible_cause_and_what_was_taken_back_is_none(
    pairs: list[Pair],
) -> None:
    begins = night(NIGHTS) - timedelta(hours=1)
    alder, birch = (endpoint_of(name).host for name in ("alder", "birch"))
    Host.objects.filter(pk__in=[alder.pk, birch.pk]).update(labels=["rack 7"])
    ends = begins + timedelta(minutes=30)
    window_create(WindowValues(name="new switch", host_label="rack 7", begins_at=begins, ends_at=ends))
    archive(row=window_create(WindowValues(name="called off", host=alder, begins_at=begins, ends_at=ends)))
    MaintenanceWindow.objects.filter(name="called off").update(archived_at=begins - timedelta(days=1))
    alert = fallen_alert(pairs, {"alder", "birch"})
    (cause,) = answer(alert, maintenance_about([alert])).ranked
    assert (cause.kind, str(cause.words)) == ("maintenance", "maintenance: new switch")
    assert set(cause.hosts.values()) == {"alder", "birch"}
    assert cause.is_likely
    assert (cause.exposed.fell, cause.unexposed.fell) == (7, 0)


def test_of_too_few_runs_before_nothing_can_be_told(pairs: list[Pair]) -> None:
    fresh = make_pair(source=endpoint_of("alder"), sink=make_endpoint(host_name="ivy"))
    alert = fallen_alert(pairs, {"alder"})
    part = alert.series.select_related("series").first()
    assert part is not None
    run = run_of(fresh, 0)
    series = run.figures.get().series
    alert.series.exclude(pk=part.pk).delete()
    type(part).objects.filter(pk=part.pk).update(series=series)
    assert answer(alert).unknown == "too_few"


def test_an_absence_has_no_evidence(pairs: list[Pair]) -> None:
    alert = fallen_alert(pairs, {"alder"})
    alert.series.all().delete()
    assert why_of(alert) is None
