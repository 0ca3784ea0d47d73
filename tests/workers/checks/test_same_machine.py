"""One engine entered as two hosts: its check says so and pins nothing, until it is insisted on."""

from collections.abc import Callable

import pytest

from benchweb.hosts.models import Endpoint, Host
from tests.factories import make_endpoint
from tests.processes import Engine
from workers.checks import check

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_engine_that_is_another_host_is_told_and_not_pinned(engine: Callable[..., Engine]) -> None:
    running = engine()
    first = make_endpoint(host_name="db1", control_address=running.control, token=running.token)
    check.check(first.pk)
    # The same engine by another name.
    second = make_endpoint(
        control_address=running.control.replace("127.0.0.1", "localhost"), token=running.token, same_machine=False
    )
    check.check(second.pk)
    second.refresh_from_db()
    assert (second.status, second.fingerprint, second.seen_fingerprint) == ("refused", "", running.fingerprint)
    assert f"The engine of host db1 ({first.host_id}) has this certificate" in second.status_reason
    Endpoint.objects.filter(pk=second.pk).update(same_machine=True)
    check.check(second.pk)
    second.refresh_from_db()
    assert (second.status, second.fingerprint) == ("answered", running.fingerprint)
    assert Host.objects.get(pk=second.host_id).machine == first.host


def test_two_engines_of_one_machine_are_told_by_their_boot_id(engine: Callable[..., Engine]) -> None:
    first, second = (
        make_endpoint(control_address=each.control, token=each.token, same_machine=False)
        for each in (engine("a"), engine("b"))
    )
    for endpoint in (first, second):
        check.check(endpoint.pk)
    assert set(Endpoint.objects.values_list("status", flat=True)) == {"answered"}
    assert Host.objects.get(pk=second.host_id).machine == first.host
