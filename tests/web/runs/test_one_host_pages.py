"""Pages of a run of one host: nothing there is the source's, for there is no sink."""

import pytest
from django.test import Client

from benchweb.catalog import catalog
from benchweb.hosts.pairs import pair_of_host
from tests.factories import make_endpoint
from tests.reports.scene import finished_run
from tests.sharing.scene import shared

pytestmark = pytest.mark.django_db
METRICS = {"iops": 100.0, "source_cpu_ratio": 0.5}


def test_its_pages_and_its_share_link_speak_of_the_host(signed_in: Client) -> None:
    window = {"source": {"window_seconds": 1.0}}
    facts = {"kernel": "6.1.0", "hostname": "alone"}
    pair = pair_of_host(make_endpoint(host_name="alone"))
    run = finished_run(pair, [{"kind": "disk_io", "params": {}}], METRICS, hosts=window, source=facts)
    _share, path_of_share = shared(run)
    for path in (f"/runs/{run.pk}", f"/runs/{run.pk}/trials/1", path_of_share):
        page = signed_in.get(path).content.decode()
        assert "alone" in page, path
        assert "source host" not in page.lower(), path
        assert '<span class="meta">source</span>' not in page, path
    assert "CPU use" in signed_in.get(f"/runs/{run.pk}/trials/1").content.decode()


def test_a_test_of_two_hosts_says_whose_cpu_it_was() -> None:
    kinds = catalog().kinds
    assert kinds["tcp_stream"].metrics["source_cpu_ratio"].label == "CPU use, source host"
    assert kinds["disk_io"].metrics["source_cpu_ratio"].label == "CPU use"
