"""Texts are read in a process of their own: what it finds comes over whole, and a hostile text ends it alone."""

import gzip
import os
import threading
import time
from pathlib import Path

import pytest

from benchweb.toolformats import apart
from benchweb.toolformats.apart import read_apart
from benchweb.toolformats.document import read_bytes
from benchweb.toolformats.readings import ToolDocument, ToolFormatError

FOLDERS = [Path(__file__).parent / name for name in ("outputs", "published")]
ROW = b"131072  16384     64    60.01      19.29\n"


def document(content: bytes) -> ToolDocument:
    [answer] = read_apart([content])
    assert isinstance(answer, ToolDocument)
    return answer


def test_what_is_read_apart_is_what_is_read_here() -> None:
    files = [path.read_bytes() for folder in FOLDERS for path in sorted(folder.iterdir())]
    for content, answer in zip(files, read_apart(files), strict=True):
        here = read_bytes(content)
        assert isinstance(answer, ToolDocument)
        assert (answer.unread, answer.begins) == (here.unread, here.begins)
        for reading, expected in zip(answer, here, strict=True):
            assert (reading.figures, reading.parameters) == (expected.figures, expected.parameters)
            assert (reading.error, reading.remarks, reading.began_at) == (
                expected.error,
                expected.remarks,
                expected.began_at,
            )
            assert answer.raw(reading) == here.raw(expected)[:10_001]


def test_each_file_is_answered_or_refused_by_itself() -> None:
    good, broken, other = read_apart([ROW, b"\x1f\x8bno gzip", ROW])
    assert isinstance(good, ToolDocument) and isinstance(other, ToolDocument)
    assert isinstance(broken, ToolFormatError) and "damaged" in str(broken)


def test_a_process_over_its_time_is_ended_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MOST_WAIT_SECONDS", 0.3)
    slow = gzip.compress(b"{\n" * 3_000_000)
    begun = time.monotonic()
    first, second = read_apart([slow, ROW])
    assert time.monotonic() - begun < 5
    assert isinstance(first, ToolFormatError) and "takes too long" in str(first)
    assert isinstance(second, ToolFormatError) and "before this one" in str(second)


@pytest.mark.parametrize("text", ["\U0001f600\n" * 1_000_000, "\U0001f600" * 5_200_000, "[" * 20_000_000])
def test_the_widest_texts_stay_in_their_memory(text: str) -> None:
    [answer] = read_apart([gzip.compress(text.encode(), 1)])
    assert "log says why" not in str(answer)
    assert _children() == 0


def test_files_of_one_request_have_one_bound_of_bytes() -> None:
    large = gzip.compress(b"x" * 19_000_000)
    answers = read_apart([large] * 5)
    # Three are 57 million bytes, and a fourth is over 60 MiB.
    assert [isinstance(answer, ToolDocument) for answer in answers] == [True, True, True, False, False]
    assert "together unpack to over 62,914,560 bytes" in str(answers[-1])


def test_nobody_waiting_ends_the_process() -> None:
    def is_wanted() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        read_apart([gzip.compress(b"{\n" * 3_000_000)], is_wanted)
    assert _children() == 0


def test_other_threads_go_on_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """One expression that runs for long keeps every thread of its own interpreter waiting, and none of another."""
    monkeypatch.setattr(apart, "MOST_WAIT_SECONDS", 2.0)
    slow = gzip.compress(b"{\n" * 2_000_000)
    reader = threading.Thread(target=read_apart, args=([slow],))
    reader.start()
    longest, last = 0.0, time.monotonic()
    while reader.is_alive():
        time.sleep(0.001)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    assert longest < 1.0


def _children() -> int:
    """Return how many readers of this process still run."""
    count = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            count += parent == os.getpid() and b"benchweb.toolformats.apart" in words
    return count
