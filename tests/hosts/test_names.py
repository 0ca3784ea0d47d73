"""Names of hosts and environments: one spelling, one row in use, found however they are typed."""

import unicodedata

import pytest
from django.db import IntegrityError, transaction

from benchweb.hosts.errors import HostsError
from benchweb.hosts.models import Environment, Host
from benchweb.hosts.selectors import environments_matching, hosts_matching, pairs_matching
from benchweb.hosts.services import (
    archive,
    environment_create,
    environment_update,
    host_create,
    host_update,
    restore,
)
from benchweb.plans.selectors import plans_matching
from benchweb.web.search.page import found, parsed
from tests.factories import make_endpoint, make_pair, make_plan, make_schedule

DECOMPOSED = unicodedata.normalize("NFD", "Zürich-é")


@pytest.mark.parametrize("spelling", ["db1", "DB1", " db1 ", "d\u200bb1", "ｄｂ１"])
def test_a_name_in_use_is_refused_in_every_spelling(db: None, spelling: str) -> None:
    host, zone = host_create(name="db1"), environment_create(name="db1")
    with pytest.raises(HostsError, match="has this name") as caught:
        host_create(name=spelling)
    assert (caught.value.field, caught.value.other) == ("name", host)
    with pytest.raises(HostsError, match="has this name") as caught:
        environment_create(name=spelling)
    assert (caught.value.field, caught.value.other) == ("name", zone)
    assert (Host.objects.count(), Environment.objects.count()) == (1, 1)


def test_renaming_to_a_name_in_use_is_refused_and_to_its_own_is_not(db: None) -> None:
    host, other = host_create(name="db1"), host_create(name="db2")
    with pytest.raises(HostsError) as caught:
        host_update(host=other, name="DB1", description="", labels=[], uplink="")
    assert caught.value.other == host
    host_update(host=other, name="Db2", description="", labels=[], uplink="")
    zone = environment_create(name="lab")
    environment_update(environment=zone, name="LAB", description="")
    assert list(Host.objects.values_list("name", "name_key")) == [("Db2", "db2"), ("db1", "db1")]
    assert Environment.objects.get().name == "LAB"


def test_an_archived_hosts_name_is_free_and_its_restoring_names_who_has_it(db: None) -> None:
    old = host_create(name="db1")
    archive(row=old)
    new = host_create(name="DB1")
    with pytest.raises(HostsError, match="rename one of the two") as caught:
        restore(row=old)
    assert caught.value.other == new
    host_update(host=old, name="db1-old", description="", labels=[], uplink="")
    assert restore(row=old)


def test_the_database_refuses_what_no_service_looked_at(db: None) -> None:
    host_create(name="db1")
    with pytest.raises(IntegrityError), transaction.atomic():
        Host.objects.bulk_create([Host(name="DB1")])


@pytest.mark.parametrize("typed", [DECOMPOSED, "ZÜRICH", "zürich", "zu\u0308r", "\u200bZürich-É "])
def test_hosts_pairs_and_environments_are_found_however_they_are_typed(db: None, typed: str) -> None:
    pair = make_pair(source=make_endpoint(host_name=DECOMPOSED), environment=DECOMPOSED)
    assert list(hosts_matching(text=typed)) == [pair.source.host]
    assert list(pairs_matching(text=typed)) == [pair]
    assert list(environments_matching(text=typed)) == [pair.environment]
    assert {"hosts", "pairs", "environments"} <= {group.key for group in found(parsed(typed), most=5)}


@pytest.mark.parametrize("typed", [DECOMPOSED, "ZÜRICH", "zu\u0308r", "\u200bZürich-É "])
def test_plans_and_schedules_are_found_however_they_are_typed(db: None, typed: str) -> None:
    plan = make_plan(name=DECOMPOSED)
    make_schedule(name=DECOMPOSED, plan=plan)
    assert list(plans_matching(text=typed)) == [plan]
    assert {group.key for group in found(parsed(typed), most=5)} == {"plans", "schedules"}


def test_plans_schedules_endpoints_and_labels_are_stored_in_one_form(db: None) -> None:
    pair = make_pair(source=make_endpoint(name=f" {DECOMPOSED}"))
    host_update(host=pair.source.host, name="a", description="", labels=[DECOMPOSED, "Zürich-é"], uplink=DECOMPOSED)
    host = Host.objects.get(pk=pair.source.host_id)
    assert (pair.source.name, host.labels, host.uplink) == ("Zürich-é", ["Zürich-é"], "Zürich-é")
    plan = make_plan(name=DECOMPOSED)
    assert (plan.name, make_schedule(name=DECOMPOSED, plan=plan).name) == ("Zürich-é", "Zürich-é")
