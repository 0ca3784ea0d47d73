"""A few mutated outputs of each family; `bench.toolformats.mutations` tries as many as one likes."""

import random
import time
from pathlib import Path

import pytest

from bench.toolformats.mutations import by_family, tried
from benchweb.toolformats.document import read_text

_MOST_CHARACTERS = 40_000
FAMILIES = by_family(Path(__file__).parent / "outputs")


@pytest.mark.parametrize("name", FAMILIES)
def test_no_mutated_output_is_a_crash(name: str) -> None:
    _, failed = tried(FAMILIES[name], 300, random.Random(name))
    assert failed == 0


# Heads without a row, and sums: each was once read again for every other.
@pytest.mark.parametrize(
    "line",
    [
        "[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201",
        "[  1] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001",
        "[  5][TX-C]   0.00-2.00   sec  1.25 MBytes  5.24 Mbits/sec    0             sender",
        "[  1] 0.0000-2.1075 sec  1.38 MBytes  5.47 Mbits/sec",
        "sockperf[CLIENT] send on:sockperf: using recvfrom() to block on socket(s)",
        "10:00:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s",
        "10.0.0.1         31.25s    69.75GB    18.62Gb/s      9132343        0.58",
    ],
)
def test_a_line_over_and_over_takes_as_long_as_it_is(line: str) -> None:
    few, many = (min(_seconds(line, count) for _ in range(3)) for count in (500, 8_000))
    # 16 times as much: 256 times as long, were it quadratic.
    assert many < few * 64


# A line of any length: what a pattern tried again from each of its places on kept the whole web server busy.
@pytest.mark.parametrize(
    ("begin", "over_and_over", "end"),
    [
        ("", "<p ", ""),
        ("", " ", "a"),
        ('{"', '\\"', ""),
        ("| Item | Value |\n|---|---|\n| a", " ", "b"),
        ("| Item | Value |\n|---|---|\n| fio IOPS", " ", "a | 1 |"),
        ("[  5]", " ", "a"),
        ("[ ID]", " ", "a"),
        ("", "netperf -o A ", "\n1,2"),
        ("MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to 127.0.0.1 () port 0 AF_INET\n", " ", "a"),
    ],
)
def test_a_line_of_any_length_takes_as_long_as_it_is(begin: str, over_and_over: str, end: str) -> None:
    def seconds(characters: int) -> float:
        begun = time.process_time()
        text = begin + over_and_over * (characters // len(over_and_over)) + end
        for _ in range(_MOST_CHARACTERS // characters):
            read_text(f"{text}\n")
        return time.process_time() - begun

    # As many characters in all: 8 times as long, were it quadratic.
    assert min(seconds(8_000) for _ in range(3)) < 4 * min(seconds(1_000) for _ in range(3))


@pytest.mark.parametrize("over_and_over", ["<p ", " ", "a ", "[  5]  ", "netperf -o A "])
def test_a_line_longer_than_any_tools_is_told_and_not_read(over_and_over: str) -> None:
    document = read_text(f"[  5] {over_and_over * 10_000}x\n")
    assert [(line.line, line.reason) for line in document.unread] == [
        (1, "The line has over 8,192 characters: no tool's has.")
    ]


def _seconds(line: str, count: int) -> float:
    begun = time.process_time()
    read_text(f"{line}\n" * count)
    return time.process_time() - begun
