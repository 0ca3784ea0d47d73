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
from collections.abc import Iterator, Sequence
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
    with _spinning(["nice", "-n", "39"], is_apart=False):
        yield


@contextmanager
def awake_apart() -> Iterator[None]:
    """Keep every CPU from idling by what runs only when nothing else wants to, whatever session that is of.

    A virtual CPU that idles is given away: its next wake-up may then be late by hundreds of milliseconds.
    """
    with _spinning(["chrt", "--idle", "0"], is_apart=True):
        yield


@contextmanager
def _spinning(low: Sequence[str], *, is_apart: bool) -> Iterator[None]:
    """Spin on every CPU, in the session's own group or in one of the lowest level apart from it."""
    # Also where this process is killed they end with it.
    turn = "turns=0; while [ $turns -lt 100000 ]; do turns=$((turns + 1)); done"
    spin = f"while kill -0 {os.getpid()} 2>/dev/null; do {turn}; done"
    if is_apart:
        spin = f"echo 19 >{AUTOGROUP} 2>/dev/null; {spin}"
    with ExitStack() as stack:
        for cpu in os.sched_getaffinity(0):
            words = [*low, "taskset", "-c", str(cpu), "sh", "-c", spin]
            spinner = stack.enter_context(subprocess.Popen(words, start_new_session=is_apart))
            stack.callback(spinner.kill)
        yield
