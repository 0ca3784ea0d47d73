"""A trial's page: every figure, what limited it, both hosts' windows, flows and course."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from benchweb.results.ingest import ResultInvalid, ingest, parsed_result
from benchweb.results.models import Result
from benchweb.runs.models import Run, State
from tests.factories import make_run

pytestmark = pytest.mark.django_db
LIMIT = {
    "direction": "forward",
    "by": "sender_cpu",
    "summary": "The sending thread used 99 % of its core.",
    "evidence": [{"what": "busiest core of the sender", "value": 0.99, "unit": "ratio", "threshold": 0.95}],
}
DOCUMENT: dict[str, Any] = {
    "kind": "tcp_stream",
    "metrics": {"throughput_bps": 16.3e9, "nic_rx_packets_per_second": 728000.0},
    "flags": ["background_traffic"],
    "limits": [LIMIT],
    "hosts": {
        "source": {
            "seconds": 1.0,
            "process_cpu_seconds": 0.97,
            "cores": [{"busy": 0.99, "softirq": 0.02}, {"busy": 0.05}],
            "interfaces": [{"name": "eth0", "carries_test": True, "rx_packets": 1200, "tx_bytes": 2037500000}],
            "background": {"seconds": 10.0, "rx_bps": 1.5e6},
        }
    },
    "flows": [{"index": 0, "bytes": 2037500000, "source_tcp": {"retransmits": 3, "rtt_seconds": 0.000125}}],
    "intervals": [
        {"start_seconds": 0.0, "end_seconds": 0.5, "metrics": {"throughput_bps": 16e9}, "warmup": False},
        {"start_seconds": 0.5, "end_seconds": 1.0, "metrics": {"throughput_bps": 17e9, "retransmits": 3}},
    ],
}


@pytest.fixture
def reader(client: Client, django_user_model: Any) -> Client:
    client.force_login(django_user_model.objects.create_user("reader"))
    return client


def finished(document: dict[str, Any] | None = None) -> Run:
    run = make_run()
    result = parsed_result("tcp_stream", document or DOCUMENT)
    assert ingest(trial=run.trials.get(), result=result, state=State.FINISHED)
    Run.objects.filter(pk=run.pk).update(state=State.FINISHED)
    return run


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)).replace("&#x27;", "'")


def test_the_page_says_what_limited_the_trial_with_its_evidence(reader: Client) -> None:
    text = text_of(reader.get(f"/runs/{finished().pk}/trials/1").content.decode())
    assert "Limited by the sender's CPU . The sending thread used 99 % of its core." in text
    assert "busiest core of the sender 99.0 % 95.0 %" in text


def test_what_the_host_did_before_the_session_is_no_part_of_the_window(reader: Client) -> None:
    text = text_of(reader.get(f"/runs/{finished().pk}/trials/1").content.decode())
    window, before = text.split("Source host over the measured window")[1].split("Before the session")
    assert "Process CPU 970 ms" in window and "Background" not in window
    assert "Background rx 1.50 Mbit/s" in before and "Background look back 10.0 s" in before


def test_a_trial_is_told_with_its_message_size_though_its_plan_leaves_it_at_the_default(reader: Client) -> None:
    run = finished()
    assert "message_size_bytes" not in run.trials.get().params
    text = text_of(reader.get(f"/runs/{run.pk}/trials/1").content.decode())
    assert "message size 16 KiB" in text


def test_every_metric_flag_host_figure_and_flow_is_there_with_its_unit(reader: Client) -> None:
    text = text_of(reader.get(f"/runs/{finished().pk}/trials/1").content.decode())
    assert "Throughput, received 16.3 Gbit/s" in text
    assert "Interface packets received, sink host 728 k pkt/s" in text
    assert "background_traffic other traffic was on the interface" in text
    assert "Process CPU 970 ms" in text
    assert "Background rx 1.50 Mbit/s" in text
    assert "Background look back 10.0 s" in text and "Window 1.00 s" in text
    assert "eth0 (carried the test) 1.20 k pkt 1.90 GiB" in text
    assert "Source retransmits" in text and "125 µs" in text


def test_what_a_row_lacks_is_missing_and_not_zero(reader: Client) -> None:
    page = reader.get(f"/runs/{finished().pk}/trials/1").content.decode()
    second_core = page.split('<th scope="row">1</th>')[1].split("</tr>")[0]
    assert second_core.count('class="missing"') == 1
    assert "5.00" in second_core


def test_the_course_is_a_chart_for_each_quantity(reader: Client) -> None:
    run = finished()
    charts = reader.get(f"/runs/{run.pk}/trials/1/charts.json").json()["charts"]
    assert [chart["title"] for chart in charts] == ["Throughput over time", "Retransmits over time"]
    assert [(point["x"], point["y"]) for point in charts[0]["series"][0]["points"]] == [(0.5, 16e9), (1.0, 17e9)]
    missing = charts[1]["series"][0]["points"][0]
    assert (missing["y"], missing["reason"]) == (None, "not measured in this interval")


def test_the_run_page_says_what_limited_its_results_and_links_to_trials(reader: Client) -> None:
    run = finished()
    page = reader.get(f"/runs/{run.pk}").content.decode()
    assert "the sender's CPU" in text_of(page)
    assert f'href="/runs/{run.pk}/trials/1"' in page


def test_a_trial_without_a_result_says_what_will_be_there(reader: Client) -> None:
    page = reader.get(f"/runs/{make_run().pk}/trials/1").content.decode()
    assert "appear here when the trial has a result" in page


def test_a_trial_that_is_not_there_is_not_found(reader: Client) -> None:
    assert reader.get(f"/runs/{make_run().pk}/trials/2").status_code == 404


def test_limits_that_are_none_are_refused_and_nothing_is_stored() -> None:
    with pytest.raises(ResultInvalid, match=r"can't be read at limits.0.direction: Field required"):
        finished(DOCUMENT | {"limits": [{"by": "sender_cpu"}]})
    assert not Result.objects.exists()


def test_a_trial_page_costs_the_same_queries_whatever_its_document(
    reader: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    small, large = finished(DOCUMENT | {"flows": []}), finished(DOCUMENT | {"flows": DOCUMENT["flows"] * 300})
    for run in (small, large):
        # Session with its user, run, trial, result, the trials before and after.
        with django_assert_num_queries(7):
            assert reader.get(f"/runs/{run.pk}/trials/1").status_code == 200


def test_the_page_tells_the_addresses_and_what_was_changed_on_the_way(reader: Client) -> None:
    addresses = {"family": "ipv4", "source": "10.0.0.1", "sink": "198.51.100.7", "source_seen_by_sink": "203.0.113.9"}
    page = reader.get(f"/runs/{finished(DOCUMENT | {'addresses': addresses}).pk}/trials/1").content.decode()
    text = text_of(page)
    assert "Address family IPv4" in text and "Source address 10.0.0.1" in text and "Sink address 198.51.100.7" in text
    assert "Source address as the sink saw it (NAT) 203.0.113.9" in text
    assert "Sink&#x27;s own address" not in page
    older = text_of(reader.get(f"/runs/{finished().pk}/trials/1").content.decode())
    assert "Address family" not in older


def test_replies_from_another_address_are_told_with_it(reader: Client) -> None:
    document = DOCUMENT | {"flags": ["replies_from_elsewhere"], "reply_addresses": ["192.0.2.254"]}
    text = text_of(reader.get(f"/runs/{finished(document).pk}/trials/1").content.decode())
    assert "replies_from_elsewhere replies to the probes came from another address than was asked" in text
    assert "(from 192.0.2.254)" in text


@pytest.mark.parametrize(
    ("ceiling", "flags", "is_labelled"), [(9e8, [], True), (2e9, [], False), (None, ["sent_beyond_link"], True)]
)
def test_what_the_link_cannot_carry_was_handed_to_the_kernel(
    reader: Client, ceiling: float | None, flags: list[str], is_labelled: bool
) -> None:
    metrics = {"throughput_bps": 9e8, "send_throughput_bps": 1.4e9} | (
        {"payload_ceiling_bps": ceiling} if ceiling else {}
    )
    document = DOCUMENT | {"metrics": metrics, "flags": flags}
    text = text_of(reader.get(f"/runs/{finished(document).pk}/trials/1").content.decode())
    label = "Throughput, sent handed to the kernel; more than the link can carry 1.40 Gbit/s"
    assert (label in text) is is_labelled


def test_intervals_tell_each_ends_interface_per_second_as_sar_does(reader: Client) -> None:
    counted = {"name": "eth0", "rx_packets": 500, "tx_packets": 1_000, "rx_bytes": 50_000, "tx_bytes": 1_500_000}
    intervals = [
        {
            "start_seconds": 0.0,
            "end_seconds": 0.5,
            "metrics": {"throughput_bps": 16e9},
            "interfaces": {"source": counted},
        },
        {"start_seconds": 0.5, "end_seconds": 1.0, "metrics": {"throughput_bps": 16e9}},
    ]
    run = finished(DOCUMENT | {"intervals": intervals})
    page = reader.get(f"/runs/{run.pk}/trials/1").content.decode()
    head, first, second = (
        page.split('aria-labelledby="course-title"')[-1].split("<h2>Intervals</h2>")[1].split("<tr>")[1:4]
    )
    assert "Interface packets received, source host" in head and "sink host" not in head
    assert "1.00 k pkt/s 2.00 k pkt/s 100 kB/s 3.00 MB/s" in text_of(first)
    assert second.count('class="missing"') == 4
    rows = reader.get(f"/runs/{run.pk}/trials/1/intervals.csv").getvalue().decode().splitlines()
    assert rows[0].endswith("source_interface_name,source_interface_rx_packets,source_interface_tx_packets,"
                            "source_interface_rx_bytes,source_interface_tx_bytes")  # fmt: skip
    assert rows[1].endswith("eth0,500,1000,50000,1500000") and rows[2].endswith(",,,,")
