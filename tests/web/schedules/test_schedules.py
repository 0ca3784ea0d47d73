"""Schedules: list, form, preview, page, pause, resume, run now, archive."""

import html
import re
from datetime import time, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.translation import gettext

from benchweb.hosts.models import Endpoint
from benchweb.hosts.services import host_update
from benchweb.plans.models import Plan
from benchweb.plans.services import plan_archive
from benchweb.runs.models import Campaign, Run, State
from benchweb.runs.services import LaunchError
from benchweb.schedules.models import Schedule, Slot
from tests.factories import make_endpoint, make_pair, make_plan, make_schedule

FORM = {"action": "save", "name": "nightly", "target": "pairs", "repeat": "cron", "cron": "0 2 * * *"}
FORM |= {"timezone": "Asia/Shanghai", "missed": "skip", "retries": "2", "retry_pause": "60 s"}


def filled(**fields: Any) -> dict[str, Any]:
    values = FORM | fields
    values.setdefault("plan", make_plan().pk)
    if values["target"] == "pairs":
        values.setdefault("pairs", [make_pair().pk])
    return values


def made(client: Client, **fields: Any) -> Schedule:
    response = client.post("/schedules/new", filled(**fields))
    assert response.status_code == 302, response.context["form"].errors
    schedule = Schedule.objects.get()
    assert response.headers["Location"] == f"/schedules/{schedule.pk}"
    return schedule


def test_an_empty_list_names_the_one_next_step(signed_in: Client) -> None:
    text = signed_in.get("/schedules").content.decode()
    assert "Next step: add a host." in text and "Create the first schedule" not in text
    make_pair()
    make_plan()
    text = signed_in.get("/schedules").content.decode()
    assert "Create the first schedule" in text and "Next step" not in text


def test_the_form_leads_to_the_first_plan_while_there_is_none(signed_in: Client) -> None:
    assert "No plans yet." in signed_in.get("/schedules/new").content.decode()
    make_plan()
    assert "No plans yet." not in signed_in.get("/schedules/new").content.decode()


def test_a_plan_page_leads_to_a_schedule_with_the_plan_and_its_name(signed_in: Client) -> None:
    plan = make_plan(name="sizes & rates")
    page = signed_in.get(f"/plans/{plan.pk}").content.decode()
    (address,) = re.findall(r'href="(/schedules/new[^"]*)"', page)
    form = signed_in.get(html.unescape(address)).context["form"]
    assert (form["name"].value(), form["plan"].value()) == ("sizes & rates", plan.pk)


def test_a_schedule_is_made_from_the_form(signed_in: Client, ada: User) -> None:
    pairs = [make_pair(), make_pair()]
    window = {"window_from": "02:00", "window_until": "06:00", "blackouts": "2026-12-24 to 2026-12-27"}
    schedule = made(signed_in, pairs=[pair.pk for pair in pairs], **window, deadline="30 min", max_runs="90")
    assert (schedule.name, schedule.cron, schedule.timezone) == ("nightly", "0 2 * * *", "Asia/Shanghai")
    assert schedule.target == {"pairs": [pair.pk for pair in pairs]}
    assert (str(schedule.window_from), str(schedule.window_until)) == ("02:00:00", "06:00:00")
    assert schedule.blackouts == [{"from": "2026-12-24", "until": "2026-12-27"}]
    assert (schedule.deadline_seconds, schedule.max_runs, schedule.slip_seconds) == (1800, 90, 0)
    assert schedule.created_by == ada


def test_a_ticked_endpoint_of_a_mesh_is_shown_even_where_the_list_is_too_long(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Named, for the list is by name: host-10 comes before host-9.
    ends = [make_endpoint(host_name=f"host-{letter}").pk for letter in "abcd"]
    schedule = made(signed_in, target="mesh", endpoints=ends[2:])
    monkeypatch.setattr("benchweb.web.schedules.form_views.DISPLAYED_ENDPOINTS", 1)
    page = signed_in.get(f"/schedules/{schedule.pk}/edit")
    assert [each.pk for each in page.context["endpoints"]] == [ends[2], ends[3], ends[0]]
    assert "Too many endpoints to list" in page.content.decode()


def test_a_ticked_pair_is_shown_even_where_the_list_is_too_long(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    alder, birch, cedar = (make_pair(source=make_endpoint(host_name=name)) for name in ("alder", "birch", "cedar"))
    schedule = made(signed_in, pairs=[cedar.pk])
    monkeypatch.setattr("benchweb.web.schedules.form_views.DISPLAYED_PAIRS", 1)
    context = signed_in.get(f"/schedules/{schedule.pk}/edit").context
    assert (context["pairs"], context["is_shortened"]) == ([cedar, alder], True)
    filtered = signed_in.post("/schedules/pairs", {"q": "birch", "pairs": [cedar.pk]}).context
    assert (filtered["pairs"], filtered["is_shortened"]) == ([cedar, birch], False)


@pytest.mark.parametrize(
    ("days", "cron"),
    [
        ([], "30 2 * * *"),
        (["MON"], "30 2 * * MON"),
        (["SAT", "SUN"], "30 2 * * SAT,SUN"),
        (["MON", "TUE", "WED", "THU", "FRI"], "30 2 * * MON-FRI"),
        (["MON", "WED", "FRI"], "30 2 * * MON,WED,FRI"),
        (["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"], "30 2 * * *"),
    ],
)
def test_a_time_is_picked_with_its_days_and_shown_so_again(signed_in: Client, days: list[str], cron: str) -> None:
    schedule = made(signed_in, repeat="times", at="02:30", days=days)
    assert schedule.cron == cron
    form = signed_in.get(f"/schedules/{schedule.pk}/edit").context["form"]
    assert (form["repeat"].value(), form["at"].value()) == ("times", time(2, 30))
    assert form["days"].value() == ([] if len(days) == 7 else days)


@pytest.mark.parametrize("cron", ["0 2 1 * *", "0 2 * * 1-5", "*/5 * * * *", "0 0 2 * * *", "0 2 * * FRIL"])
def test_what_the_picker_can_not_show_stays_a_cron_expression(signed_in: Client, cron: str) -> None:
    schedule = made(signed_in, cron=cron)
    form = signed_in.get(f"/schedules/{schedule.pk}/edit").context["form"]
    assert (form["repeat"].value(), form["cron"].value()) == ("cron", schedule.cron)


def test_words_are_taken_for_a_cron_expression(signed_in: Client) -> None:
    assert made(signed_in, cron="Mondays and Thursdays at 6:30 pm").cron == "30 18 * * MON,THU"


def test_an_interval_may_be_written_as_people_do(signed_in: Client) -> None:
    schedule = made(signed_in, repeat="every", every="90 min", starts_at="2030-03-01T02:00")
    assert (schedule.cron, schedule.every) == ("", "PT5400S")
    # In the schedule's own zone, eight hours before UTC.
    assert schedule.starts_at.isoformat() == "2030-02-28T18:00:00+00:00"


def test_each_way_to_choose_pairs_becomes_its_target(signed_in: Client) -> None:
    pair = make_pair(source=make_endpoint(network_mode="terway"))
    for host in (pair.source.host, pair.sink.host):
        host_update(host=host, name=host.name, description="", labels=["nightly"], uplink="")
    ends, lab = [pair.source_id, pair.sink_id], pair.environment_id
    ways: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"target": "environment", "environment": lab}, {"environment": lab}),
        ({"target": "label", "label": "nightly"}, {"label": "nightly"}),
        ({"target": "mesh", "endpoints": ends}, {"mesh": {"endpoints": ends}}),
        (
            {"target": "modes", "source_modes": ["terway"], "sink_modes": ["host"], "modes_environment": lab},
            {"mesh": {"source_modes": ["terway"], "sink_modes": ["host"], "environment": lab}},
        ),
    ]
    for fields, target in ways:
        assert made(signed_in, **fields).target == target
        Schedule.objects.all().delete()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"),
        ({"plan": ""}, "plan"),
        ({"pairs": []}, "pairs"),
        ({"pairs": ["x"]}, "pairs"),
        ({"target": "environment"}, "environment"),
        ({"target": "label", "label": "nobody"}, "label"),
        ({"target": "mesh"}, "endpoints"),
        ({"cron": ""}, "cron"),
        ({"repeat": "times"}, "at"),
        ({"repeat": "times", "at": "25:00"}, "at"),
        ({"repeat": "times", "at": "02:00", "days": ["XYZ"]}, "days"),
        ({"cron": "every blue moon"}, "cron"),
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"repeat": "every", "every": "soon"}, "every"),
        ({"repeat": "every", "every": ""}, "every"),
        ({"timezone": "../etc/passwd"}, "timezone"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"window_from": "02:00"}, "window_until"),
        ({"window_from": "03:00", "window_until": "04:00"}, "window_from"),
        ({"starts_at": "tomorrow"}, "starts_at"),
        ({"ends_at": "2020-01-01T00:00"}, "ends_at"),
        ({"blackouts": "all day"}, "blackouts"),
        ({"max_runs": "0"}, "max_runs"),
        ({"retries": "-1"}, "retries"),
        ({"missed": "perhaps"}, "missed"),
    ],
)
def test_what_cannot_be_is_named_at_its_field_and_the_rest_is_kept(
    signed_in: Client, fields: dict[str, Any], field: str
) -> None:
    response = signed_in.post("/schedules/new", filled(**fields))
    assert list(response.context["form"].errors) == [field]
    assert Schedule.objects.count() == 0
    if field != "name":
        assert response.context["form"]["name"].value() == "nightly"


def test_enter_in_the_filter_saves_nothing(signed_in: Client) -> None:
    response = signed_in.post("/schedules/new", filled(action="preview", q="alder"))
    assert response.context["pair_text"] == "alder"
    assert Schedule.objects.count() == 0


def test_over_a_thousand_runs_a_slot_are_asked_for_by_their_number(signed_in: Client) -> None:
    values = filled(target="mesh", endpoints=[make_endpoint().pk for _ in range(33)])
    response = signed_in.post("/schedules/new", values)
    assert "1,056 runs" in response.content.decode()
    assert Schedule.objects.count() == 0
    signed_in.post("/schedules/new", values | {"confirm_runs": "1056"})
    assert Schedule.objects.get().confirmed_runs == 1056


def preview(client: Client, **fields: Any) -> Any:
    return client.post("/schedules/preview", FORM | fields).context["preview"]


def test_the_preview_reads_the_rule_aloud_and_gives_ten_times_before_a_plan_is_chosen(signed_in: Client) -> None:
    found = preview(signed_in)
    assert found.words == "At 02:00 every day"
    assert [at.hour for at in found.slots] == [18] * 10
    assert (found.faults, found.feasibility) == ([], None)


def test_the_preview_shows_times_in_the_schedules_zone_and_the_readers(signed_in: Client) -> None:
    signed_in.cookies["zone"] = "America%2FNew_York"
    text = signed_in.post("/schedules/preview", FORM).content.decode()
    first = preview(signed_in).slots[0]
    assert f"{first + timedelta(hours=8):%a %-d %b} 02:00" in text
    # 18:00 UTC: 13:00 or, in summer, 14:00 in New York.
    assert " 13:00<" in text or " 14:00<" in text


def test_the_preview_shows_each_time_once_to_a_reader_in_the_schedules_zone(signed_in: Client) -> None:
    signed_in.cookies["zone"] = "Asia%2FShanghai"
    text = signed_in.post("/schedules/preview", FORM).content.decode()
    assert text.count(" 02:00<") == 10
    assert "Your time" not in text


def test_the_preview_says_whether_it_fits_with_a_picture(signed_in: Client) -> None:
    pair = make_pair(source=make_endpoint(host_name="alder"))
    found = preview(signed_in, plan=make_plan().pk, pairs=[pair.pk])
    assert (found.feasibility.runs, found.feasibility.fits) == (1, True)
    assert [row.lane.label for row in found.picture.lanes] == ["host alder", f"host {pair.sink.host.name}"]
    short = {"window_from": "02:00", "window_until": "02:05"}
    plan = make_plan(steps=[{"kind": "tcp_stream", "params": {"duration_seconds": 600}}])
    too_long = preview(signed_in, plan=plan.pk, pairs=[pair.pk], **short)
    assert too_long.feasibility.fits is False
    assert too_long.feasibility.reason


@pytest.mark.parametrize(
    ("fields", "anchor"),
    [
        ({"cron": "0 0 30 2 *"}, "id_cron"),
        ({"timezone": "Mars/Olympus"}, "id_timezone"),
        ({"repeat": "every", "every": "soon"}, "id_every"),
        ({"ends_at": "2020-01-01T00:00"}, "id_ends_at"),
    ],
)
def test_the_preview_names_the_field_at_fault(signed_in: Client, fields: dict[str, Any], anchor: str) -> None:
    assert [fault.anchor for fault in preview(signed_in, **fields).faults] == [anchor]


def test_the_preview_finds_no_fault_in_what_is_not_typed_yet(signed_in: Client) -> None:
    assert preview(signed_in, name="", plan="").faults == []


def test_an_edit_shows_what_was_saved_and_changes_it(signed_in: Client) -> None:
    schedule = make_schedule(
        every="PT90M",
        timezone="Europe/Berlin",
        blackouts=[{"from": "12:00", "until": "13:00"}],
        deadline_seconds=600,
        window={"from": "22:00", "until": "06:00"},
    )
    form = signed_in.get(f"/schedules/{schedule.pk}/edit").context["form"]
    shown = {name: form[name].value() for name in ("repeat", "every", "blackouts", "deadline", "target", "pairs")}
    assert shown == {
        "repeat": "every",
        "every": "1 h 30 min",
        "blackouts": "12:00 to 13:00",
        "deadline": "10 min",
        "target": "pairs",
        "pairs": schedule.target["pairs"],
    }
    sent = {name: value for name in form.fields if (value := form[name].value()) not in (None, "")}
    sent |= {"action": "save", "name": "other", "window_from": "22:00", "window_until": "06:00"}
    signed_in.post(f"/schedules/{schedule.pk}/edit", sent)
    changed = Schedule.objects.get()
    assert changed.name == "other"
    same = ("every", "timezone", "blackouts", "deadline_seconds", "window_from", "window_until", "target", "starts_at")
    # The start keeps its seconds: the slots stay where they were.
    assert {name: getattr(changed, name) for name in same} == {name: getattr(schedule, name) for name in same} | {
        "every": "PT5400S"
    }
    assert changed.next_at == schedule.next_at


def test_the_list_shows_next_slot_last_result_and_rate(signed_in: Client) -> None:
    schedule = make_schedule()
    now = timezone.now()
    for days, state in ((3, "finished"), (2, "finished"), (1, "missed")):
        at = now - timedelta(days=days)
        Slot.objects.create(schedule=schedule, at=at, state=state, reason="", claimed_at=at)
    (row,) = signed_in.get("/schedules").context["rows"]
    assert (row.when, row.target) == ("At 02:00 every day", "1 pair")
    assert row.last.slot.state == "missed"
    assert (row.rate.finished, row.rate.total) == (2, 3)


@pytest.mark.parametrize(("query", "names"), [("q=morn", ["morning"]), ("paused=1", ["evening"]), ("q=sizes", 2)])
def test_the_list_filters_in_the_url(signed_in: Client, query: str, names: int | list[str]) -> None:
    make_schedule(name="morning")
    evening = make_schedule(name="evening")
    signed_in.post(f"/schedules/{evening.pk}/pause")
    found = [row.schedule.name for row in signed_in.get(f"/schedules?{query}").context["rows"]]
    assert (found if isinstance(names, list) else len(found)) == names


def test_the_preview_names_the_hosts_that_give_no_usable_answer(signed_in: Client) -> None:
    pair = make_pair(source=make_endpoint(host_name="alder"))
    plan = make_plan()
    assert preview(signed_in, plan=plan.pk, pairs=[pair.pk]).feasibility.silent_hosts == []
    Endpoint.objects.filter(pk=pair.source_id).update(status="unreachable")
    found = preview(signed_in, plan=plan.pk, pairs=[pair.pk]).feasibility
    assert (found.silent_hosts, found.hosts) == (["alder"], 2)
    text = signed_in.post("/schedules/preview", filled(plan=plan.pk, pairs=[pair.pk])).content.decode()
    assert "1 of its 2 hosts gave no valid answer at the last probe (alder)" in text
    others = [make_pair(source=make_endpoint(host_name=f"birch-{number}")).pk for number in range(7)]
    Endpoint.objects.filter(host__name__startswith="birch").update(status="refused")
    text = signed_in.post("/schedules/preview", filled(plan=plan.pk, pairs=[pair.pk, *others])).content.decode()
    assert "8 of its 16 hosts gave no valid answer" in text
    assert "birch-4, …)" in text


def test_the_preview_of_a_paused_schedule_says_that_its_times_do_not_come(signed_in: Client) -> None:
    schedule = make_schedule()
    address = f"/schedules/preview?schedule={schedule.pk}"
    assert "Paused: nothing runs" not in signed_in.post(address, filled()).content.decode()
    signed_in.post(f"/schedules/{schedule.pk}/pause")
    plan = Plan.objects.first()
    assert plan is not None
    text = signed_in.post(address, filled(plan=plan.pk, pairs=schedule.target["pairs"])).content.decode()
    assert "Paused: nothing runs until it is resumed" in text


def test_pause_and_resume(signed_in: Client) -> None:
    schedule = make_schedule()
    signed_in.post(f"/schedules/{schedule.pk}/pause")
    page = signed_in.get(f"/schedules/{schedule.pk}").content.decode()
    assert "no slots until it is resumed" in page
    assert "the schedule has ended" not in page
    assert "If resumed now:" in signed_in.get(f"/schedules/{schedule.pk}/outlook").content.decode()
    assert Schedule.objects.get().paused_at is not None
    signed_in.post(f"/schedules/{schedule.pk}/resume")
    assert Schedule.objects.get().paused_at is None


def test_run_now_ends_on_the_campaigns_page_and_shows_as_a_slot(signed_in: Client) -> None:
    schedule = make_schedule()
    response = signed_in.post(f"/schedules/{schedule.pk}/run")
    campaign = Campaign.objects.get()
    assert response.headers["Location"] == f"/campaigns/{campaign.pk}"
    (row,) = signed_in.get(f"/schedules/{schedule.pk}").context["rows"]
    assert (row.slot.campaign, row.summary.total, row.summary.whole) == (campaign, 1, 0)
    Run.objects.update(state=State.FINISHED)
    assert signed_in.get(f"/schedules/{schedule.pk}").context["rows"][0].summary.whole == 1
    Run.objects.update(state=State.FAILED, reason="the sink's engine went away")
    for address in (f"/schedules/{schedule.pk}", "/schedules"):
        assert "the sink&#x27;s engine went away" in signed_in.get(address).content.decode()


def test_why_run_now_launched_nothing_is_kept_in_english_and_read_in_chinese(signed_in: Client) -> None:
    schedule = make_schedule(plan=make_plan(name="old"))
    plan_archive(plan=schedule.plan)
    signed_in.cookies["language"] = "zh-hans"
    signed_in.post(f"/schedules/{schedule.pk}/run")
    slot = Slot.objects.get()
    assert (slot.state, slot.reason) == ("nonstart", "Plan old is archived: restore it, or choose another.")
    text = signed_in.get(f"/schedules/{schedule.pk}").content.decode()
    assert "计划 old 已归档：请恢复它，或选择另一个。" in text


def test_a_launch_that_breaks_off_in_a_chinese_page_is_kept_in_english(
    signed_in: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise LaunchError("pairs", gettext("Choose at least one pair to run the plan on."))

    monkeypatch.setattr("benchweb.runs.services.launch", refuse)
    schedule = make_schedule()
    signed_in.cookies["language"] = "zh-hans"
    signed_in.post(f"/schedules/{schedule.pk}/run")
    assert Slot.objects.get().reason == "Choose at least one pair to run the plan on."


@pytest.mark.parametrize(
    ("language", "cron", "told"),
    [
        ("en", "0 2 13 * FRI", "At 02:00 on the 13th of every month or on Friday"),
        ("en", "0 2 31 * *", "use L for the last day of every month."),
        ("en", "0 24 * * *", "&#x27;24&#x27; in the hour: write 0 to 23."),
        ("zh-hans", "0 2 13 * FRI", "每月 13 日或每星期五 02:00"),
        ("zh-hans", "0 24 * * *", "时字段中的 &#x27;24&#x27;：请写 0 至 23。"),
        ("zh-hans", "TZ=UTC 0 2 * * *", "表达式指定的时区为 UTC"),
    ],
)
def test_the_preview_says_an_expression_and_its_faults_in_the_reader_s_language(
    signed_in: Client, language: str, cron: str, told: str
) -> None:
    signed_in.cookies["language"] = language
    assert told in signed_in.post("/schedules/preview", filled(cron=cron)).content.decode()


def test_a_schedule_is_saved_as_typed_and_its_page_says_it(signed_in: Client) -> None:
    schedule = made(signed_in, cron="0 22-4 31 * *")
    assert schedule.cron == "0 22-23,0-4 31 * *"
    page = signed_in.get(f"/schedules/{schedule.pk}").content.decode()
    assert "Every hour from 22:00 to 04:00 on the 31st of every month" in page
    assert "use L for the last day of every month." in page


def test_a_zone_that_is_no_place_is_refused_with_what_to_write(signed_in: Client) -> None:
    text = signed_in.post("/schedules/new", filled(timezone="right/Asia/Shanghai")).content.decode()
    assert "is a variant of Asia/Shanghai for old systems: write Asia/Shanghai." in text
    assert "right/Asia/Tokyo" not in text and Schedule.objects.count() == 0


def test_the_order_of_runs_is_chosen_and_said_on_the_page(signed_in: Client) -> None:
    schedule = made(signed_in, arrangement="rounds")
    assert schedule.arrangement == "rounds"
    assert "in rounds: each pair once, then all again" in signed_in.get(f"/schedules/{schedule.pk}").content.decode()
    edit = signed_in.get(f"/schedules/{schedule.pk}/edit").content.decode()
    assert '<option value="rounds" selected>' in edit
    kept = filled(arrangement="together", plan=schedule.plan_id, pairs=schedule.target["pairs"])
    refused = signed_in.post(f"/schedules/{schedule.pk}/edit", kept)
    assert "2 to 32 pairs with one sink" in str(refused.context["form"].errors["arrangement"])
    schedule.refresh_from_db()
    assert schedule.arrangement == "rounds"


def test_a_running_campaign_is_named_and_cancelled_on_the_schedules_page(signed_in: Client) -> None:
    schedule = made(signed_in, overlap="skip")
    assert schedule.overlap == "skip"
    page = f"/schedules/{schedule.pk}"
    assert "Cancel running" not in signed_in.get(page).content.decode()
    signed_in.post(f"{page}/run")
    Slot.objects.update(at=timezone.now() - timedelta(minutes=5))
    text = signed_in.get(page).content.decode()
    assert "Cancel running" in text and f"campaign {Campaign.objects.get().pk}</a>" in text
    text = signed_in.post(f"{page}/run", follow=True).content.decode()
    assert "has not ended: wait for it, or cancel it first." in text
    signed_in.post(f"{page}/cancel")
    assert Run.objects.get().state == "cancelled"


def test_a_run_that_goes_on_after_a_pause_is_named(signed_in: Client) -> None:
    schedule = make_schedule()
    signed_in.post(f"/schedules/{schedule.pk}/run")
    Run.objects.update(state="running")
    Slot.objects.update(at=timezone.now() - timedelta(minutes=5))
    waits = signed_in.post(f"/schedules/{schedule.pk}/run", follow=True).content.decode()
    campaign = Campaign.objects.get().pk
    assert f"Waits until campaign {campaign} has ended." in waits and "1 slot queued behind it" in waits
    text = signed_in.post(f"/schedules/{schedule.pk}/pause", follow=True).content.decode()
    assert f"Campaign {campaign} is still running: cancel it to stop it now." in text
    assert "The schedule was paused before its turn came." in text


def test_skipped_slots_are_told_beside_the_success_rate(signed_in: Client) -> None:
    schedule = make_schedule()
    for minute, state in enumerate(("finished", "skipped", "skipped")):
        at = timezone.now() - timedelta(minutes=minute + 1)
        Slot.objects.create(schedule=schedule, at=at, state=state, reason=f"because {state}", claimed_at=at)
    response = signed_in.get(f"/schedules/{schedule.pk}?state=skipped")
    assert [row.slot.state for row in response.context["rows"]] == ["skipped", "skipped"]
    assert "2 skipped, not counted" in response.content.decode()
    assert "2 skipped" in signed_in.get("/schedules").content.decode()


def test_the_slots_filter_by_state_and_tell_the_reason(signed_in: Client) -> None:
    schedule = make_schedule()
    for day, state in enumerate(("finished", "nonstart")):
        at = timezone.now() - timedelta(days=day + 1)
        Slot.objects.create(schedule=schedule, at=at, state=state, reason=f"because {state}", claimed_at=at)
    response = signed_in.get(f"/schedules/{schedule.pk}?state=nonstart")
    assert [row.slot.state for row in response.context["rows"]] == ["nonstart"]
    assert "because nonstart" in response.content.decode()


def test_an_old_slots_time_is_said_again_only_to_a_reader_in_another_zone(signed_in: Client) -> None:
    schedule = make_schedule()
    at = timezone.now().replace(second=0, microsecond=0) - timedelta(days=3)
    Slot.objects.create(schedule=schedule, at=at, state="missed", reason="because", claimed_at=at)
    Schedule.objects.update(timezone="Asia/Shanghai")
    signed_in.cookies["zone"] = "Asia%2FShanghai"
    assert " here" not in signed_in.get(f"/schedules/{schedule.pk}").content.decode()
    signed_in.cookies["zone"] = "Asia%2FTokyo"
    assert f"{at + timedelta(hours=9):%H:%M} here" in signed_in.get(f"/schedules/{schedule.pk}").content.decode()


def test_an_archived_schedule_leaves_the_list_and_comes_back(signed_in: Client) -> None:
    schedule = make_schedule()
    assert "Kept, with campaigns, runs and results: 0 slots." in (
        signed_in.get(f"/schedules/{schedule.pk}/archive").content.decode()
    )
    signed_in.post(f"/schedules/{schedule.pk}/archive")
    assert signed_in.get("/schedules").context["rows"] == []
    signed_in.post(f"/schedules/{schedule.pk}/restore")
    assert len(signed_in.get("/schedules").context["rows"]) == 1
