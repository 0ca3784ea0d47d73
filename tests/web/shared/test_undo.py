"""What is taken away says so with a button that undoes it."""

import re

from django.test import Client
from django.utils import timezone

from benchweb.accounts.models import SavedView
from benchweb.annotations.models import Annotation
from benchweb.annotations.services import annotation_create
from benchweb.hosts.endpoints.services import endpoint_create
from benchweb.hosts.models import Endpoint, Environment, Host, Pair
from benchweb.hosts.services import archive
from benchweb.plans.models import Plan
from benchweb.schedules.models import Schedule
from tests.factories import make_endpoint, make_pair, make_plan, make_schedule

Row = Endpoint | Environment | Pair | Plan | Schedule
_TOAST = re.compile(r'<div class="toast">\s*<span>(.*?)</span>\s*<form method="post" action="(.*?)">', re.DOTALL)


def undo(client: Client, page: str) -> str:
    """Press the one button that undoes; return what was told beside it."""
    [(text, address)] = _TOAST.findall(page)
    client.post(address.replace("&amp;", "&"))
    return str(text)


def is_archived(row: Row) -> bool:
    """Tell whether a row is archived in the database."""
    row.refresh_from_db()
    return row.archived_at is not None


def test_a_host_comes_back_with_what_was_archived_with_it_and_nothing_else(signed_in: Client) -> None:
    host = make_endpoint(host_name="alder").host
    earlier = endpoint_create(host=host, control_address="127.0.0.1:2", name="old", same_machine=True)
    archive(row=earlier)
    pair = make_pair(source=host.endpoints.get(archived_at=None))
    page = signed_in.post(f"/hosts/{host.pk}/archive", follow=True).content.decode()
    assert not Pair.objects.filter(pk=pair.pk, archived_at=None).exists()
    assert undo(signed_in, page) == "Archived: host alder. You can restore it from the archive."
    assert Host.objects.get(pk=host.pk).archived_at is None
    assert [each.pk for each in Endpoint.objects.filter(host=host, archived_at=None)] == [pair.source_id]
    assert Pair.objects.filter(pk=pair.pk, archived_at=None).exists()


def test_environments_endpoints_pairs_plans_and_schedules_come_back(signed_in: Client) -> None:
    pair, plan, schedule = make_pair(), make_plan(), make_schedule()
    rows: dict[str, Row] = {
        f"/environments/{pair.environment_id}": pair.environment,
        f"/endpoints/{pair.source_id}": pair.source,
        f"/pairs/{pair.pk}": pair,
        f"/plans/{plan.pk}": plan,
        f"/schedules/{schedule.pk}": schedule,
    }
    for address, row in rows.items():
        page = signed_in.post(f"{address}/archive", follow=True).content.decode()
        assert is_archived(row)
        undo(signed_in, page)
        assert not is_archived(row)
        assert not is_archived(pair)


def test_a_note_comes_back(signed_in: Client) -> None:
    note = annotation_create(text="new switch", at=timezone.now())
    page = signed_in.post(f"/history/notes/{note.pk}/remove?over=7d", follow=True).content.decode()
    assert undo(signed_in, page) == "The note is removed."
    assert Annotation.objects.get().archived_at is None


def test_a_saved_view_comes_back(signed_in: Client) -> None:
    signed_in.post("/views/save", {"name": "loss & delay", "path": "/history?kind=tcp_rr&over=7d"})
    page = signed_in.post(f"/views/{SavedView.objects.get().pk}", {"action": "remove"}, follow=True).content.decode()
    assert not SavedView.objects.exists()
    assert undo(signed_in, page) == "The view loss &amp; delay is removed."
    view = SavedView.objects.get()
    assert (view.name, view.path) == ("loss & delay", "/history?kind=tcp_rr&over=7d")


def test_an_undo_that_can_not_be_says_why_and_changes_nothing(signed_in: Client) -> None:
    host = make_endpoint(host_name="alder").host
    page = signed_in.post(f"/hosts/{host.pk}/archive", follow=True).content.decode()
    make_endpoint(host_name="alder")
    undo(signed_in, page)
    assert Host.objects.get(pk=host.pk).archived_at is not None
    assert not Endpoint.objects.filter(host=host, archived_at=None).exists()
    assert "has this name now" in signed_in.get("/hosts").content.decode()


def archived_together(client: Client, where: str, rows: list[int]) -> str:
    """Archive rows that are ticked in a list, and confirm it; return the list with the toast."""
    return client.post(f"/{where}/archive", {"rows": rows, "confirmed": "1"}, follow=True).content.decode()


def test_several_hosts_come_back_with_the_pairs_between_them(signed_in: Client) -> None:
    pair = make_pair(source=make_endpoint(host_name="alder"), sink=make_endpoint(host_name="birch"))
    hosts = [pair.source.host_id, pair.sink.host_id]
    gone = archived_together(signed_in, "hosts", hosts)
    assert is_archived(pair)
    assert undo(signed_in, gone) == "Archived: 2 hosts. You can restore them from the archive."
    assert Host.objects.filter(pk__in=hosts, archived_at=None).count() == len(hosts)
    assert Endpoint.objects.filter(host__in=hosts, archived_at=None).count() == len(hosts)
    assert not is_archived(pair)


def test_several_pairs_and_plans_come_back(signed_in: Client) -> None:
    pairs, plans = [make_pair(), make_pair()], [make_plan(name="sizes"), make_plan(name="rates")]
    for where, rows in (("pairs", pairs), ("plans", plans)):
        gone = archived_together(signed_in, where, [row.pk for row in rows])
        assert [is_archived(row) for row in rows] == [True, True]
        undo(signed_in, gone)
        assert [is_archived(row) for row in rows] == [False, False]


def test_of_several_what_can_not_come_back_is_named_and_the_others_do(signed_in: Client) -> None:
    hosts = [make_endpoint(host_name=name).host for name in ("alder", "birch")]
    gone = archived_together(signed_in, "hosts", [host.pk for host in hosts])
    make_endpoint(host_name="alder")
    undo(signed_in, gone)
    assert [Host.objects.get(pk=host.pk).archived_at is None for host in hosts] == [False, True]
    assert "has this name now" in signed_in.get("/hosts").content.decode()
