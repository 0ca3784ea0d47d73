"""Which environments a host is in: by its pairs, and by hand."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchweb.accounts.models import Grant, Role
from benchweb.accounts.services import token_create
from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Host, Pair
from benchweb.hosts.pairs import QUICK_ENVIRONMENT, pair_between
from benchweb.hosts.services import archive, host_update, pair_create, pair_update, restore
from benchweb.runs.models import Run
from benchweb.schedules.models import Schedule
from benchweb.schedules.services import run_now
from benchweb.schedules.targets import pairs_of
from tests.api.conftest import ApiClient
from tests.factories import make_endpoint, make_environment, make_pair, make_plan, make_schedule

pytestmark = pytest.mark.django_db


def environments_of(*pairs: Pair) -> list[list[int]]:
    ends = [end.host_id for pair in pairs for end in (pair.source, pair.sink)]
    return [Host.objects.get(pk=pk).environment_ids for pk in ends]


def leave(host: Host, *, stays_in: list[int]) -> None:
    host_update(host=host, name=host.name, description="", labels=[], uplink="", environments=stays_in)


def outside() -> list[int]:
    """Return the pairs in use in an environment that one of their hosts isn't in."""
    pairs = Pair.objects.filter(archived_at=None).select_related("source__host", "sink__host")
    return [
        pair.pk
        for pair in pairs
        if any(pair.environment_id not in end.host.environment_ids for end in (pair.source, pair.sink))
    ]


def test_a_pair_puts_its_hosts_into_its_environment_however_it_is_made() -> None:
    lab = make_pair(environment="lab")
    assert environments_of(lab) == [[lab.environment_id]] * 2
    field = make_environment("field")
    pair_update(pair=lab, environment=field, labels=[])
    assert environments_of(lab) == [[lab.environment_id, field.pk]] * 2
    ends = [make_endpoint().pk, make_endpoint().pk, lab.source_id]
    made = pairs_of({"mesh": {"endpoints": ends, "environment": field.pk}})
    pair_between(make_endpoint(), make_endpoint())
    assert len(made) == 6
    assert outside() == []


def test_a_host_leaves_an_environment_once_no_pair_in_use_is_there() -> None:
    pair = make_pair()
    host = pair.source.host
    with pytest.raises(HostsError, match=f"{host.name} has pairs in lab: archive those first."):
        leave(host, stays_in=[])
    archive(row=pair)
    leave(host, stays_in=[])
    assert environments_of(pair) == [[], [pair.environment_id]]
    with pytest.raises(HostsError, match="There is no environment 999999 in use"):
        leave(host, stays_in=[999999])


def test_what_comes_back_with_an_environment_leaves_out_hosts_that_have_left() -> None:
    gone, kept = make_pair(), make_pair()
    pair_update(pair=kept, environment=gone.environment, labels=[])
    archive(row=gone.environment)
    leave(gone.sink.host, stays_in=[])
    gone.environment.refresh_from_db()
    restore(row=gone.environment, whole=True)
    assert list(Pair.objects.filter(archived_at=None)) == [kept]
    assert outside() == []


def test_a_guess_puts_no_host_where_it_was_not_unless_it_was_nowhere() -> None:
    lab, field = make_pair(environment="lab"), make_pair(environment="field")
    between = pair_between(lab.source, field.source)
    assert between.environment.name == QUICK_ENVIRONMENT
    assert pair_between(lab.source, make_endpoint()).environment == lab.environment
    shared = make_environment("shared")
    for pair in (lab, field):
        pair_create(source=pair.sink, sink=pair.source, environment=shared)
    mesh = pairs_of({"mesh": {"endpoints": [lab.sink_id, field.sink_id]}})
    assert {pair.environment_id for pair in mesh} == {shared.pk}


def test_of_several_shared_environments_a_user_makes_pairs_in_their_own() -> None:
    first, own = make_pair(environment="first"), make_environment("own")
    Host.objects.update(environment_ids=[first.environment_id, own.pk])
    olga = User.objects.create_user("olga")
    Grant.objects.create(user=olga, role=Role.VIEWER)
    Grant.objects.create(user=olga, role=Role.EDITOR, environment=own)
    assert pair_between(first.sink, first.source, olga).environment == own


def test_a_schedule_goes_on_when_who_saved_it_loses_the_role() -> None:
    lab = make_pair(environment="lab")
    olga = User.objects.create_user("olga")
    Grant.objects.create(user=olga, role=Role.EDITOR, environment=lab.environment)
    mesh = {"endpoints": [lab.source_id, lab.sink_id], "environment": lab.environment_id}
    api = ApiClient(_secret(olga))
    body = {"name": "nightly", "plan": make_plan().pk, "mesh": mesh, "cron": "0 3 * * *"}
    assert api.post("/schedules", body).status_code == 201
    Grant.objects.all().delete()
    run_now(Schedule.objects.get())
    assert (Run.objects.count(), outside()) == (2, [])


def test_a_mesh_that_an_editor_saved_is_retimed_by_an_operator_and_not_turned_elsewhere() -> None:
    lab, field = make_pair(environment="lab"), make_pair(environment="field")
    mesh = {"endpoints": [lab.source_id, lab.sink_id], "environment": lab.environment_id}
    schedule = make_schedule(target={"mesh": mesh})
    olga = User.objects.create_user("olga")
    Grant.objects.create(user=olga, role=Role.VIEWER)
    Grant.objects.create(user=olga, role=Role.OPERATOR, environment=lab.environment)
    api = ApiClient(_secret(olga))
    assert api.patch(f"/schedules/{schedule.pk}", {"cron": "0 4 * * *", "mesh": mesh}).status_code == 200
    wider = mesh | {"endpoints": [lab.source_id, lab.sink_id, field.source_id]}
    assert api.patch(f"/schedules/{schedule.pk}", {"mesh": wider}).status_code == 403
    modes = {"source_modes": ["host"], "sink_modes": ["host"], "environment": lab.environment_id}
    assert api.patch(f"/schedules/{schedule.pk}", {"mesh": modes}).status_code == 403
    schedule.refresh_from_db()
    assert schedule.target == {"mesh": mesh}


def test_rest_and_page_name_a_host_s_environments_and_change_them(admin_client: Client) -> None:
    lab, field = make_environment("lab"), make_environment("field")
    api = ApiClient(_secret(User.objects.get(username="admin")))
    made = api.post("/hosts", {"name": "a", "environments": [field.pk, lab.pk]}).json()
    assert made["environments"] == [lab.pk, field.pk]
    path = f"/hosts/{made['id']}"
    assert api.patch(path, {"description": "x"}).json()["environments"] == [lab.pk, field.pk]
    assert api.patch(path, {"environments": [lab.pk]}).json()["environments"] == [lab.pk]
    assert api.patch(path, {"environments": [999]}).json()["errors"][0]["field"] == "environments"
    assert f'<a href="/environments/{lab.pk}">lab</a>' in admin_client.get(path).content.decode()
    admin_client.post(f"{path}/edit", {"name": "a", "environments": [field.pk]})
    assert Host.objects.get().environment_ids == [field.pk]
    admin_client.post(f"{path}/edit", {"name": "a"})
    assert "In no environment" in admin_client.get(path).content.decode()


def test_a_refusal_names_the_host_and_says_where_a_role_is_missing() -> None:
    lab, field = make_pair(environment="lab"), make_pair(environment="field")
    olga = User.objects.create_user("olga")
    Grant.objects.create(user=olga, role=Role.VIEWER)
    Grant.objects.create(user=olga, role=Role.EDITOR, environment=lab.environment)
    body = {"source": field.source_id, "sink": field.sink_id, "environment": lab.environment_id}
    host = field.source.host.name
    said = ApiClient(_secret(olga)).post("/pairs", body).json()["detail"]
    assert said.startswith(f"This call needs the role editor in an environment of the host {host};")
    client = Client()
    client.force_login(olga)
    page = client.post("/pairs/new", body).content.decode()
    assert f"This needs the role Editor in an environment of the host {host}. Nothing was changed." in page


def _secret(user: User) -> str:

    return token_create(user=user, name="script")[1]
