"""Quick wake-ups on a busy machine: others' work must not keep a process waiting whose latency is measured.

No real-time scheduler: the policy stays that of everybody. Where Linux groups processes by session (autogroup), nice
levels count only within a session, so the session's own level is raised too, and put back afterwards.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

AUTOGROUP = Path("/proc/self/autogroup")
CALL_NUMBERS = {"x86_64": 314, "aarch64": 274, "riscv64": 274}
SLICE_NANOSECONDS = 100_000
NICE = -20


@contextmanager
def quick() -> Iterator[None]:
    """Give this process, its children and its session precedence while the block runs."""
    attributes = struct.pack("=IIQiIQQQ", 48, os.SCHED_OTHER, 0, NICE, 0, SLICE_NANOSECONDS, 0, 0)
    call = CALL_NUMBERS.get(platform.machine())
    library = ctypes.CDLL(None, use_errno=True)
    if call is None or library.syscall(call, os.getpid(), attributes, 0) != 0:
        print(f"no short slices here: {os.strerror(ctypes.get_errno())}", file=sys.stderr)
    before = AUTOGROUP.read_text().rsplit(maxsplit=1)[-1] if AUTOGROUP.exists() else None
    if before is not None:
        AUTOGROUP.write_text(str(NICE))
    try:
        yield
    finally:
        if before is not None:
            AUTOGROUP.write_text(before)


@contextmanager
def awake() -> Iterator[None]:
    """Keep every CPU from idling, at the lowest level of this session: whoever is woken runs at once."""
    with ExitStack() as stack:
        for cpu in os.sched_getaffinity(0):
            words = ["nice", "-n", "39", "taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]
            spinner = stack.enter_context(subprocess.Popen(words))
            stack.callback(spinner.kill)
        yield


@contextmanager
def awake_apart() -> Iterator[None]:
    """Keep every CPU from idling by what runs only when nothing else wants to, whatever session that is of.

    A virtual CPU that idles is given away: its next wake-up may then be late by hundreds of milliseconds.
    """
    spin = "echo 19 >/proc/self/autogroup 2>/dev/null; while :; do :; done"
    with ExitStack() as stack:
        for cpu in os.sched_getaffinity(0):
            words = ["chrt", "--idle", "0", "taskset", "-c", str(cpu), "sh", "-c", spin]
            spinner = stack.enter_context(subprocess.Popen(words, start_new_session=True))
            stack.callback(spinner.kill)
        yield
