"""Every output printed in three published reports, read as it stands there; what is expected was typed by hand."""

from pathlib import Path

import pytest

from benchweb.toolformats.document import read_bytes
from benchweb.toolformats.readings import Reading, ToolDocument

FOLDER = Path(__file__).parent / "published"
# netperf's sizes: message bytes, 10^6 bits/s received.
TCP_STREAM = (
    (1, 0.31), (64, 19.29), (128, 34.05), (256, 55.68), (512, 87.81), (1024, 143.09), (1500, 172.20), (2048, 231.84),
    (4096, 503.50), (9000, 682.53), (16384, 802.42), (32768, 711.28), (65536, 738.58),
)  # fmt: skip
# Message bytes, messages sent, 10^6 bits/s sent, messages received, 10^6 bits/s received.
UDP_STREAM = (
    (1, 880003, 0.12, 390643, 0.05),
    (64, 864814, 7.38, 466202, 3.98),
    (128, 890806, 15.20, 374021, 6.38),
    (256, 882767, 30.13, 367756, 12.55),
    (512, 878454, 59.97, 373699, 25.51),
    (1024, 871595, 119.00, 347187, 47.40),
    (1500, 661325, 132.26, 156413, 31.28),
    (2048, 658672, 179.85, 167678, 45.79),
    (4096, 548315, 299.44, 183692, 100.32),
    (9000, 324823, 389.76, 123200, 147.83),
    (16384, 219354, 479.16, 55659, 121.58),
    (32768, 129571, 566.07, 39248, 171.47),
)


def document(name: str) -> ToolDocument:
    read = read_bytes((FOLDER / name).read_bytes())
    assert read.unread == ()
    return read


def of_test(read: ToolDocument, test: str) -> list[Reading]:
    return [reading for reading in read if reading.test == test]


def test_netperf_streams_by_size() -> None:
    readings = of_test(document("netperf_sizes.md"), "TCP_STREAM")
    found: list[object] = [(r.parameters["message_size_bytes"], r.value("throughput_bps")) for r in readings]
    assert found == [(size, pytest.approx(rate * 1e6)) for size, rate in TCP_STREAM]
    assert {reading.parameters["sink_socket_buffer_bytes"] for reading in readings} == {131072}
    assert {reading.parameters["source_socket_buffer_bytes"] for reading in readings} == {16384}
    assert [reading.figures[0].digits for reading in readings[:3]] == [2, 4, 4]


def test_netperf_datagrams_sent_and_received() -> None:
    readings = of_test(document("netperf_sizes.md"), "UDP_STREAM")
    metrics = ("sent_packets", "send_throughput_bps", "received_packets", "throughput_bps")
    found: list[object] = [
        (r.parameters["message_size_bytes"], *(r.value(metric) for metric in metrics)) for r in readings
    ]
    assert found == [
        (size, sent, pytest.approx(sent_rate * 1e6), received, pytest.approx(rate * 1e6))
        for size, sent, sent_rate, received, rate in UDP_STREAM
    ]
    assert readings[0].value("errors") == 0
    assert readings[0].value("lost_packets") == 880003 - 390643


@pytest.mark.parametrize(("test", "rate"), [("TCP_RR", 2041.68), ("TCP_CRR", 726.03), ("UDP_RR", 1890.80)])
def test_netperf_transactions(test: str, rate: float) -> None:
    [reading] = of_test(document("netperf_sizes.md"), test)
    assert reading.value("transactions_per_second") == rate
    assert (reading.parameters["request_size_bytes"], reading.parameters["response_size_bytes"]) == (1, 1)
    assert reading.kind == test.lower()


def test_iperf3_at_both_ends() -> None:
    server, client, udp_server, udp_client = [r for r in document("four_tools.md") if r.tool == "iperf3"]
    assert server.value("throughput_bps") == 14.8e9
    assert server.value("send_throughput_bps") is None
    assert "doesn't know" in server.remarks[0]
    assert client.value("send_throughput_bps") == client.value("throughput_bps") == 14.9e9
    assert client.value("retransmits") == 170
    assert client.value("sent_bytes") == pytest.approx(17.3 * 2**30)
    assert (client.parameters["source_address"], client.parameters["sink_address"]) == (
        "192.168.30.134",
        "192.168.30.133",
    )
    assert (server.parameters["source_address"], server.parameters["sink_address"]) == (
        "192.168.30.134",
        "192.168.30.133",
    )
    fifth = client.intervals[4].figures
    assert [(each.metric, each.value) for each in fifth] == [
        ("transferred_bytes", pytest.approx(1.90 * 2**30)),
        ("throughput_bps", 16.3e9),
        ("retransmits", 119),
        ("congestion_window_bytes", pytest.approx(1.03 * 2**20)),
    ]
    for reading in (udp_server, udp_client):
        assert reading.kind == "udp_stream"
        assert reading.value("jitter_seconds") == pytest.approx(6e-6)
        assert (reading.value("lost_packets"), reading.value("total_packets")) == (0, 897)
    assert udp_server.value("throughput_bps") is None
    assert udp_client.value("send_throughput_bps") == 1.04e6
    # 0/0 datagrams: nothing is known of loss.
    assert [each.metric for each in udp_server.intervals[-1].figures] == ["transferred_bytes", "throughput_bps"]


def test_netperf_among_others() -> None:
    stream, first, second = [r for r in document("four_tools.md") if r.tool == "netperf"]
    assert stream.parameters["message_size_bytes"] == 46
    assert stream.value("throughput_bps") == pytest.approx(960.44e6)
    assert (first.value("sent_packets"), first.value("received_packets")) == (9295295, 7720000)
    assert (second.value("sent_packets"), second.value("received_packets")) == (14362435, 11855222)


def test_sar_rows_and_average() -> None:
    first, second = [r for r in document("four_tools.md") if r.tool == "sar"]
    assert first.parameters["interface"] == "enp65s0f0"
    assert len(first.intervals) == len(second.intervals) == 20
    assert first.intervals[0].at == "06:06:01 PM"
    assert next(iter(first.intervals[0].figures)).value == 83469.00
    assert first.value("nic_rx_packets_per_second") == 84746.30
    assert first.value("nic_rx_bytes_per_second") == pytest.approx(123107.55 * 1024)
    assert first.value("nic_tx_bytes_per_second") == pytest.approx(406.67 * 1024)
    assert second.value("nic_rx_packets_per_second") == 394321.04
    assert second.value("nic_rx_multicast_packets_per_second") == 2.55


def test_wrk_with_errors_of_sockets() -> None:
    [reading] = [r for r in document("four_tools.md") if r.tool == "wrk"]
    expected = {
        "latency_mean_seconds": 2.91e-3,
        "latency_stddev_seconds": 15.42e-3,
        "latency_max_seconds": 953.75e-3,
        "latency_within_stddev_ratio": 0.9558,
        "thread_requests_per_second_mean": 31680,
        "thread_requests_per_second_stddev": 16560,
        "thread_requests_per_second_max": 66900,
        "thread_requests_within_stddev_ratio": 0.6964,
        "requests": 176317,
        "received_bytes": 41.73 * 2**20,
        "connect_errors": 8983,
        "read_errors": 0,
        "write_errors": 0,
        "timeout_errors": 0,
        "requests_per_second": 17456.94,
        "received_bytes_per_second": 4.13 * 2**20,
    }
    assert {each.metric: each.value for each in reading.figures} == pytest.approx(expected)
    assert (reading.parameters["threads"], reading.parameters["connections"]) == (4, 10000)


def test_a_servers_baseline() -> None:
    read = document("server_baseline.md")
    memory = {(r.test, each.part): each.value for r in read if r.tool in {"mbw", "stream"} for each in r.figures}
    assert memory["mbw 单核", "固定大小拷贝"] == pytest.approx(5585.34 * 2**20)
    assert memory["mbw 多核", "随机块大小拷贝"] == pytest.approx(38353.94 * 2**20)
    assert memory["stream 单线程", "Triad"] == pytest.approx(13210.9e6)
    assert memory["stream 多线程", "Scale"] == pytest.approx(55923.1e6)
    disks = {r.test: r for r in read if r.tool == "fio"}
    assert len(disks) == 14
    assert disks["4k 随机写深度1"].value("iops", "随机写 IOPS") == 317.55
    assert disks["128k 顺序读深度32"].value("bytes_per_second", "顺序读带宽") == pytest.approx(206527.82 * 1024)
    ping = {r.test: {each.metric: each.value for each in r.figures} for r in read if r.tool == "ping"}
    assert ping["空载的 ping"] == pytest.approx(
        {
            "latency_min_seconds": 0.04e-3,
            "latency_mean_seconds": 0.04e-3,
            "latency_max_seconds": 0.15e-3,
            "latency_mdev_seconds": 0.01e-3,
            "loss_ratio": 0,
        }
    )
    nic = {r.test: {each.metric: each.value for each in r.figures} for r in read if r.tool == "netperf"}
    assert nic["32B 文件 UDP"] == pytest.approx(
        {"send_throughput_bps": 842.75e6, "loss_ratio": 0.7876, "throughput_bps": 179.05e6}
    )
    assert sum(len(r.figures) for r in read) == 14 + 3 * 10 + 6 * 4 + 9 + 16


def test_the_mixed_rows_break_littles_law_and_no_others() -> None:
    remarks = {
        r.test: [each for each in r.remarks if each.startswith("Little's law")] for r in document("server_baseline.md")
    }
    broken = {test: found[0] for test, found in remarks.items() if found}
    assert list(broken) == ["4k 混合读写深度1", "4k 混合读写深度32", "32k 混合读写深度32", "64k 混合读写深度64"]
    assert "172.4 in flight, but the depth is 1" in broken["4k 混合读写深度1"]
    assert "1,991 in flight, but the depth is 32" in broken["4k 混合读写深度32"]
