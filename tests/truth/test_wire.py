"""The wire of bench.truth does what it is told, and counts what it did: its own figures beside those of its ends."""

import hashlib
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.truth.ground.sockets import opened
from bench.truth.ground.topology import SINK_ADDRESS, SINK_ADDRESS_V6, SOURCE_ADDRESS, Failed
from bench.truth.ground.wire import PROGRAM, Wire
from tests.truth.conftest import Joined, Spaces

pytestmark = pytest.mark.needs("Rust", "network namespaces")

DATAGRAM_BYTES = 958
FRAME_BYTES = DATAGRAM_BYTES + 8 + 20 + 14
# From Linux's in.h; Python has no names for them.
IP_MTU_DISCOVER, IP_MTU, NEVER_FRAGMENT, MAY_FRAGMENT = 10, 14, 2, 0
BUFFER_BYTES = 8 << 20
QUIET_SECONDS = 0.3


@contextmanager
def datagrams(spaces: Spaces) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Return a sender at the left that is connected to a receiver at the right."""
    with (
        opened(spaces[1], socket.AF_INET, socket.SOCK_DGRAM, SINK_ADDRESS) as receiver,
        opened(spaces[0], socket.AF_INET, socket.SOCK_DGRAM, SOURCE_ADDRESS) as sender,
    ):
        # Forced, as a limit of the machine's would drop what the wire delivered.
        receiver.setsockopt(socket.SOL_SOCKET, 33, BUFFER_BYTES)
        sender.connect(receiver.getsockname())
        yield sender, receiver


def send_numbered(sender: socket.socket, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        sender.send(number.to_bytes(4, "big") + bytes(DATAGRAM_BYTES - 4))


def arrived(receiver: socket.socket) -> list[int]:
    """Read the numbers of all that arrives until it is quiet."""
    receiver.settimeout(QUIET_SECONDS)
    numbers = []
    try:
        while True:
            numbers.append(int.from_bytes(receiver.recv(2_000)[:4], "big"))
    except TimeoutError:
        return numbers


def test_a_delay_of_each_way_is_kept_within_a_millisecond(joined: Joined, spaces: Spaces) -> None:
    took = []
    with joined(forward="delay=30ms", backward="delay=50ms"), datagrams(spaces) as (sender, receiver):
        for _ in range(20):
            began = time.perf_counter()
            sender.send(b"ping")
            receiver.sendto(b"pong", receiver.recvfrom(10)[1])
            sender.recv(10)
            took.append(time.perf_counter() - began)
    # The machine may be busy with other tests; the wire is never early.
    assert 0.080 <= min(took) < 0.081


def test_the_log_has_the_time_of_each_packet_in_and_out(joined: Joined, spaces: Spaces) -> None:
    with joined(both="delay=5ms", is_logged=True) as wire, datagrams(spaces) as (sender, receiver):
        for number in range(50):
            send_numbered(sender, 1, number)
            time.sleep(0.002)
        assert arrived(receiver) == list(range(50))
        wire.end()
        packets = list(wire.packets("forward", "udp", DATAGRAM_BYTES))
    assert [int.from_bytes(packet.start[:4], "big") for packet in packets] == list(range(50))
    delays = [packet.departed - packet.arrived for packet in packets]
    assert 5_000_000 <= min(delays) < 6_000_000


def test_a_rate_is_kept_within_a_hundredth_and_its_queue_drops_the_rest(joined: Joined, spaces: Spaces) -> None:
    with joined(forward="rate=8Mbit,queue=100kB", is_logged=True) as wire, datagrams(spaces) as (sender, receiver):
        for first in range(0, 1_200, 10):
            send_numbered(sender, 10, first)
            time.sleep(0.005)
        numbers = arrived(receiver)
        wire.end()
        packets = [packet for packet in wire.packets("forward", "udp") if packet.fate == "delivered"]
        counts = wire.report.of("forward", "udp")
    seconds = (packets[-1].departed - packets[0].departed) / 1e9
    assert (len(packets) - 1) * FRAME_BYTES * 8 / seconds == pytest.approx(8e6, rel=0.01)
    assert counts.delivered == len(numbers)
    assert counts.queue_full == 1_200 - len(numbers) > 0
    # The queue was full when the last came: what came out afterwards is what it held.
    assert 95 <= sum(packet.departed > packets[-1].arrived for packet in packets) <= 101


def test_losses_and_duplicates_are_those_that_the_receiver_sees(joined: Joined, spaces: Spaces) -> None:
    with joined(forward="loss=1/7,duplicate=1/5") as wire, datagrams(spaces) as (sender, receiver):
        send_numbered(sender, 700)
        numbers = arrived(receiver)
        counts = wire.counts().of("forward", "udp")
    assert sorted(set(range(700)) - set(numbers)) == list(range(6, 700, 7))
    assert (counts.offered, counts.lost, counts.duplicated) == (700, 100, 120)
    assert counts.delivered == len(numbers) == 720


def test_bursts_of_loss_are_counted_and_a_seed_gives_the_same_again(joined: Joined, spaces: Spaces) -> None:
    runs = []
    for _ in range(2):
        with joined(forward="loss=10%,burst=5", seed=9) as wire, datagrams(spaces) as (sender, receiver):
            send_numbered(sender, 1_000)
            runs.append(arrived(receiver))
            assert wire.counts().of("forward", "udp").lost == 1_000 - len(runs[-1])
    assert runs[0] == runs[1]
    assert 20 <= 1_000 - len(runs[0]) <= 300


def test_every_tenth_overtakes_those_before_it(joined: Joined, spaces: Spaces) -> None:
    with joined(forward="delay=50ms,reorder=1/10,early=30ms") as wire, datagrams(spaces) as (sender, receiver):
        for number in range(100):
            send_numbered(sender, 1, number)
            time.sleep(0.001)
        numbers = arrived(receiver)
        assert wire.counts().of("forward", "udp").reordered == 10
    assert sorted(numbers) == list(range(100))
    late = [number for place, number in enumerate(numbers) if number < max(numbers[: place + 1])]
    assert late
    assert not {number for number in late if number % 10 == 9}


def test_an_outage_of_one_way_begins_and_ends_at_once(joined: Joined, spaces: Spaces) -> None:
    with joined() as wire, datagrams(spaces) as (sender, receiver):
        send_numbered(sender, 10)
        assert len(arrived(receiver)) == 10
        wire.outage(begins=True, way="forward")
        send_numbered(sender, 20, 10)
        assert arrived(receiver) == []
        wire.outage(begins=False)
        send_numbered(sender, 30, 30)
        assert arrived(receiver) == list(range(30, 60))
        assert wire.counts().of("forward", "udp").outage == 20


def test_a_described_outage_counts_from_the_start_signal(joined: Joined, spaces: Spaces) -> None:
    with joined(forward="outage=0-0.3s") as wire, datagrams(spaces) as (sender, receiver):
        time.sleep(0.4)
        wire.start()
        send_numbered(sender, 5)
        assert arrived(receiver) == []
        send_numbered(sender, 5)
        assert arrived(receiver) == list(range(5))


def test_a_packet_above_the_mtu_is_told_to_its_sender_by_either_ip(joined: Joined, spaces: Spaces) -> None:
    with joined(both="mtu=1300") as wire, datagrams(spaces) as (sender, receiver):
        sender.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, NEVER_FRAGMENT)
        sender.send(bytes(1_272))
        sender.send(bytes(1_273))
        assert arrived(receiver) == [0]
        assert sender.getsockopt(socket.IPPROTO_IP, IP_MTU) == 1_300
        with opened(spaces[0], socket.AF_INET6, socket.SOCK_DGRAM) as sender_v6:
            sender_v6.connect((SINK_ADDRESS_V6, 9))
            sender_v6.send(bytes(1_300))
            time.sleep(QUIET_SECONDS)
            assert sender_v6.getsockopt(socket.IPPROTO_IPV6, 24) == 1_300
        assert wire.counts().of("forward", "udp").too_big == 2


def test_a_black_hole_tells_nothing(joined: Joined, spaces: Spaces) -> None:
    with joined(both="mtu=1300,too_big=silent") as wire, datagrams(spaces) as (sender, receiver):
        sender.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, NEVER_FRAGMENT)
        sender.send(bytes(1_273))
        assert arrived(receiver) == []
        assert sender.getsockopt(socket.IPPROTO_IP, IP_MTU) == 1_500
        assert wire.counts().of("forward", "udp").too_big == 1


def test_what_may_be_cut_is_cut_and_fragments_may_be_blocked(joined: Joined, spaces: Spaces) -> None:
    message = bytes(range(256)) * 5
    with joined(both="mtu=600") as wire, datagrams(spaces) as (sender, receiver):
        sender.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, MAY_FRAGMENT)
        sender.send(message)
        assert receiver.recv(2_000) == message
        wire.change("mtu=0,block=fragments")
        sender.send(message)
        sender.send(bytes(5_000))
        assert len(receiver.recv(6_000)) == len(message)
        assert arrived(receiver) == []
        assert wire.counts().of("forward", "udp").blocked == 4


def test_a_blocked_port_is_silent_and_others_pass(joined: Joined, spaces: Spaces) -> None:
    with joined() as wire, datagrams(spaces) as (sender, receiver):
        wire.change(f"block=udp:{receiver.getsockname()[1]}+icmp", way="forward")
        send_numbered(sender, 3)
        assert arrived(receiver) == []
        wire.change("block=tcp", way="forward")
        send_numbered(sender, 3)
        assert arrived(receiver) == [0, 1, 2]
        with opened(spaces[0], socket.AF_INET, socket.SOCK_STREAM) as stream:
            stream.settimeout(QUIET_SECONDS)
            with pytest.raises(TimeoutError):
                stream.connect((SINK_ADDRESS, 9))


def test_tcp_is_carried_whole_over_a_bad_wire(joined: Joined, spaces: Spaces) -> None:
    payload = hashlib.sha256(b"wire").digest() * 30_000
    received = bytearray()

    def receive(listener: socket.socket) -> None:
        stream, _ = listener.accept()
        with stream:
            while piece := stream.recv(65_536):
                received.extend(piece)

    with (
        joined(both="delay=1ms..3ms,loss=1/97,duplicate=1%,reorder=1%,rate=200Mbit") as wire,
        opened(spaces[1], socket.AF_INET, socket.SOCK_STREAM, SINK_ADDRESS) as listener,
        opened(spaces[0], socket.AF_INET, socket.SOCK_STREAM) as stream,
    ):
        listener.listen()
        reader = threading.Thread(target=receive, args=[listener])
        reader.start()
        stream.connect(listener.getsockname())
        stream.sendall(payload)
        stream.close()
        reader.join(timeout=20)
        counts = wire.counts().of("forward", "tcp")
    assert bytes(received) == payload
    assert counts.lost and counts.duplicated and counts.reordered


def test_a_wrong_word_is_refused_and_changes_nothing(joined: Joined) -> None:
    with joined(both="delay=1ms") as wire:
        assert_refused(wire, "delay=2ms,los=1", '"los" is none of delay')
        assert_refused(wire, "outage=5", "no FROM-UNTIL")
    words: list[str | Path] = [PROGRAM, "a:x", "b:x", "--forward", "rate=fast"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert '"fast" is no number' in done.stderr


def assert_refused(wire: Wire, settings: str, why: str) -> None:
    with pytest.raises(Failed, match=why):
        wire.change(settings)
