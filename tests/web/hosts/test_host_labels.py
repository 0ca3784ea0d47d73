"""Labels of several hosts at once, which compare sets, rules and schedules choose by."""

from django.test import Client

from benchweb.hosts.models import Host
from benchweb.hosts.naming import MAXIMUM_LABELS
from tests.factories import make_endpoint


def labels_of(*hosts: Host) -> list[list[str]]:
    return [Host.objects.get(pk=host.pk).labels for host in hosts]


def test_ticked_hosts_get_a_label_and_lose_it(signed_in: Client) -> None:
    first, second, other = (make_endpoint().host for _ in range(3))
    Host.objects.filter(pk=first.pk).update(labels=["rack-7"])
    ticked = {"rows": [first.pk, second.pk], "label": " rack-7 ", "back": "/hosts?q=host"}
    answer = signed_in.post("/hosts/label", ticked | {"action": "label"})
    assert answer["Location"] == "/hosts?q=host"
    assert labels_of(first, second, other) == [["rack-7"], ["rack-7"], []]
    assert "The labels of 2 hosts are changed." in signed_in.get("/hosts").content.decode()
    signed_in.post("/hosts/label", ticked | {"action": "unlabel"})
    assert labels_of(first, second) == [[], []]


def test_no_label_and_one_too_many_are_refused(signed_in: Client) -> None:
    full, free = make_endpoint(host_name="full").host, make_endpoint().host
    Host.objects.filter(pk=full.pk).update(labels=[f"label-{n}" for n in range(MAXIMUM_LABELS)])
    rows = {"rows": [full.pk, free.pk], "action": "label"}
    for label, message in (("", "A label has 1 to 60"), ("a,b", "has a comma"), ("one more", "full has 20 labels")):
        page = signed_in.post("/hosts/label", rows | {"label": label}, follow=True).content.decode()
        assert message in page
    assert labels_of(free) == [[]]
    page = signed_in.post("/hosts/label", {"action": "label", "label": "x"}, follow=True).content.decode()
    assert "Nothing is selected" in page
