"""The supervisor's own troubles, with real children: none ends another, and what ended is started again."""

import http.server
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import FileIO
from pathlib import Path

import pytest

from benchweb.ops.running import programs
from benchweb.ops.running.child import Child, Program
from benchweb.ops.running.home import PROJECT, write_atomically
from benchweb.ops.running.liveness import Liveness, Watch
from benchweb.ops.running.lossy_file import LossyFile, console
from benchweb.ops.running.processes import SetupError, is_alive
from benchweb.ops.running.supervisor import STOP_SIGNALS, Supervisor
from tests.setup.processes import free_port

PATIENCE_SECONDS = 120


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    """Return one whose logs are in `tmp_path`; its children are stopped afterwards."""
    before = {number: signal.getsignal(number) for number in (*STOP_SIGNALS, signal.SIGCHLD)}
    supervisor = Supervisor(tmp_path, PROJECT)
    yield supervisor
    supervisor.stop([], overlap_seconds={})
    signal.set_wakeup_fd(-1)
    for number, handler in before.items():
        signal.signal(number, handler)


def shell(script: str, *, name: str = "child", before: Callable[[], None] = lambda: None) -> Program:
    return Program(name=name, command=lambda: ["sh", "-c", script], before=before)


def until(supervisor: Supervisor, condition: Callable[[], bool]) -> None:
    supervisor.wait_for(condition, what="It did not happen", timeout_seconds=PATIENCE_SECONDS)


def pid_of(child: Child) -> int:
    return child.process.pid if child.process else 0


def test_lines_that_find_no_room_are_lost_and_counted_and_the_log_goes_on(small_disk: Callable[[str], Path]) -> None:
    disk = small_disk("64k")
    log = LossyFile(lambda: FileIO(disk / "log", "a"))
    for number in range(2_000):
        log.write(f"{number:063d}\n".encode())
    assert (disk / "log").stat().st_size == 64 * 1024
    (disk / "log").write_bytes(b"")
    log.write(b"again\n")
    assert (disk / "log").read_text() == (
        f"\n({2_000 - 1024} lines could not be written here: No space left on device)\nagain\n"
    )


def test_a_console_that_nobody_reads_holds_up_nothing() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        held = console(stream)
        for _ in range(2_000):
            held.write(b"x" * 99 + b"\n")
        first = os.read(reading, 1_000_000)
        held.write(b"again\n")
        said = os.read(reading, 1_000_000).decode()
    os.close(reading)
    assert (
        said
        == f"\n({2_000 - len(first) // 100} lines could not be written here: its reader doesn't take them)\nagain\n"
    )


def test_a_console_that_is_closed_ends_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        console(stream).write(b"to nobody\n")
    console(None).write(b"to nobody\n")


def test_a_start_that_fails_is_told_and_tried_again(supervisor: Supervisor, capfd: pytest.CaptureFixture[str]) -> None:
    faults: list[Exception] = []

    def before() -> None:
        if faults:
            raise faults.pop()

    other = supervisor.start(shell("sleep 1000", name="other"))
    child = supervisor.start(shell("sleep 1000", before=before))
    lasting, first = pid_of(other), pid_of(child)
    faults += [
        SetupError("The program is missing."),
        OSError(28, "No space left on device"),
        BlockingIOError(11, "Try"),
    ]
    os.kill(first, signal.SIGKILL)
    until(supervisor, lambda: pid_of(child) not in (0, first))
    assert (pid_of(other), faults) == (lasting, [])
    said = capfd.readouterr().err
    assert "child can't be started: [Errno 11] Try; starting it again in 1 s\n" in said
    assert "child can't be started: [Errno 28] No space left on device; starting it again in 2 s\n" in said
    assert "The program is missing.; starting it again in 4 s\n" in said


def test_a_program_that_is_missing_at_the_first_start_is_the_operators_to_see(supervisor: Supervisor) -> None:
    with pytest.raises(SetupError, match=r"child can't be started: .*No such file or directory: '/nonexistent'"):
        supervisor.start(Program(name="child", command=lambda: ["/nonexistent"]))


def test_a_command_that_takes_too_long_is_not_left_running(supervisor: Supervisor, tmp_path: Path) -> None:
    program = replace(shell(f"echo $$ > {tmp_path}/pid; exec sleep 1000"), once=True)
    with pytest.raises(SetupError, match=r"child did not end within 2 s"):
        supervisor.run(program, timeout_seconds=2)
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_a_file_that_finds_no_room_is_named_and_leaves_nothing(small_disk: Callable[[str], Path]) -> None:
    disk = small_disk("64k")
    (disk / "filler").write_bytes(b"\0" * 65_536)
    with pytest.raises(SetupError, match=r"runtime\.json can't be written \(No space left on device\)"):
        write_atomically(disk / "runtime.json", "{}")
    assert [path.name for path in disk.iterdir()] == ["filler"]


def test_a_web_server_that_hangs_is_killed_and_started_again(
    supervisor: Supervisor, capfd: pytest.CaptureFixture[str]
) -> None:
    program = programs.web(free_port())
    assert program.watch is not None
    port = program.watch.port
    web = supervisor.start(replace(program, watch=Watch(port, period_seconds=0.5, timeout_seconds=3, patience=3)))
    until(supervisor, lambda: is_live(port))
    first = pid_of(web)
    os.kill(first, signal.SIGSTOP)
    until(supervisor, lambda: pid_of(web) not in (0, first))
    until(supervisor, lambda: is_live(port))
    assert re.search(
        r"^web gave no answer to /livez for \d+ s: it is killed\n"
        r"web ended with signal SIGKILL; starting it again in \d",
        capfd.readouterr().err,
        re.MULTILINE,
    )


def test_a_server_that_takes_nobody_counts_as_dead_and_one_that_answers_again_does_not() -> None:
    statuses = [200, 503, 503, 400, 503, 503, 503]
    with answering(statuses) as port:
        liveness = Liveness(Watch(port, period_seconds=0, patience=3))
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while not liveness.is_dead():
            assert time.monotonic() < give_up_at
    assert statuses == []


def test_in_a_container_the_program_ends_with_the_server_that_hangs() -> None:
    with answering([200, 200, 503, 503]) as port:
        done = watched(port, "sleep", "1000")
    assert done.returncode == 128 + signal.SIGKILL
    assert re.fullmatch(r"The server gave no answer to /livez for \d+ s: it is killed\.\n", done.stderr)


def test_in_a_container_the_program_ends_as_its_server_does() -> None:
    assert watched(free_port(), "sh", "-c", "exit 7").returncode == 7


def is_live(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/livez", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def answering(statuses: list[int]) -> Iterator[int]:
    """Serve these statuses, one after the other, on the port that it gives."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(statuses.pop(0))
            self.end_headers()

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def watched(port: int, *words: str) -> "subprocess.CompletedProcess[str]":
    program = "import sys; from benchweb.ops.running import watched; from benchweb.ops.running.liveness import Watch; "
    program += f"sys.exit(watched.main(sys.argv[1:], Watch({port}, period_seconds=0.1, patience=2)))"
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
