"""Keep a set of programs running until a signal asks for the end; standard library only.

Everything happens in one thread: the kernel ties a child's death signal to the thread that started it.
"""

import os
import selectors
import signal
import time
from collections.abc import Callable
from pathlib import Path

from benchweb.ops.running.child import Child, Program
from benchweb.ops.running.lossy_file import say
from benchweb.ops.running.processes import SetupError

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PUMP_SECONDS = 0.25
POLL_SECONDS = 0.03
CHUNK_BYTES = 65_536


class Stopping(Exception):
    """A signal asked for the end."""


class Supervisor:
    """Children in the order of their start; they are stopped in the order given to `stop`."""

    def __init__(self, logs: Path, folder: Path) -> None:
        self._logs = logs
        self._folder = folder
        self._children: dict[str, Child] = {}
        self._selector = selectors.DefaultSelector()
        self._stop_requested = False
        self._quiet = False
        self._listen_to_signals()

    def start(self, program: Program) -> Child:
        """Start a program; it is started again whenever it ends, a `once` program only when it fails."""
        child = Child(program, self._logs, self._folder)
        self._launch(child)
        self._children[program.name] = child
        return child

    def wait_for(self, condition: Callable[[], bool], *, what: str, timeout_seconds: float) -> None:
        """Look after the children until `condition` holds."""
        deadline = time.monotonic() + timeout_seconds
        while not condition():
            if time.monotonic() > deadline:
                raise SetupError(f"{what} within {timeout_seconds:g} s; the logs are in {self._logs}.")
            self.pump(POLL_SECONDS)

    def run(self, program: Program, *, timeout_seconds: float) -> None:
        """Run a `once` program to its end; a failure is the operator's to see."""
        self.wait_for_end(self.start(program), timeout_seconds=timeout_seconds)

    def wait_for_end(self, child: Child, *, timeout_seconds: float) -> None:
        """Wait for a `once` program that was started; a failure is the operator's to see."""
        try:
            self.wait_for(
                lambda: not child.is_running, what=f"{child.name} did not end", timeout_seconds=timeout_seconds
            )
        except SetupError:
            child.kill()
            raise
        finally:
            if not child.is_running:
                del self._children[child.name]
                child.close()
        if not child.ended_well:
            raise SetupError(f"{child.name} failed:\n{child.tail()}")

    def pump(self, timeout_seconds: float = PUMP_SECONDS) -> None:
        """Handle what happens in the next moment; raise Stopping once a signal asked for it."""
        for key, _ in self._selector.select(timeout_seconds):
            if isinstance(key.data, Child):
                self._read(key.fd, key.data)
            else:
                os.read(key.fd, 512)
        if self._stop_requested:
            raise Stopping
        for child in list(self._children.values()):
            self._look_after(child)

    def stop(self, order: list[str], *, overlap_seconds: dict[str, float]) -> None:
        """Stop the children one after the other, each with its own patience, the last ones last.

        `overlap_seconds` says after how long the next one is asked too, while this one still ends.
        """
        self._quiet = True
        rest = [name for name in self._children if name not in order]
        ending: list[tuple[Child, float]] = []
        for name in [*rest, *order]:
            child = self._children.get(name)
            if child is None:
                continue
            child.ask_to_stop()
            ending.append((child, time.monotonic() + child.program.patience_seconds))
            self._drain(child, time.monotonic() + overlap_seconds.get(name, child.program.patience_seconds))
            ending = [pair for pair in ending if not self._has_ended(*pair)]
        for child, deadline in ending:
            self._drain(child, deadline)
            self._has_ended(child, deadline)

    def _has_ended(self, child: Child, deadline: float) -> bool:
        """Close a child that ended, or whose time is over."""
        process = child.process
        if process is not None and process.poll() is None and time.monotonic() < deadline:
            return False
        child.kill()
        child.close()
        return True

    def _drain(self, child: Child, deadline: float) -> None:
        while child.process is not None and child.process.poll() is None and time.monotonic() < deadline:
            for key, _ in self._selector.select(POLL_SECONDS):
                if isinstance(key.data, Child):
                    self._read(key.fd, key.data)
                else:
                    os.read(key.fd, 512)

    def _look_after(self, child: Child) -> None:
        if message := child.end_if_dead():
            say(message)
        if message := child.reap():
            say(f"{message}\n{child.tail()}".rstrip())
        if child.restart_at is not None and time.monotonic() >= child.restart_at:
            try:
                self._launch(child)
            except SetupError as error:
                say(f"{error}; {child.postpone()}")

    def _launch(self, child: Child) -> None:
        self._selector.register(child.start(), selectors.EVENT_READ, child)

    def _read(self, descriptor: int, child: Child) -> None:
        try:
            data = os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return
        if not data:
            self._selector.unregister(descriptor)
            os.close(descriptor)
            return
        for line in child.log(data):
            if not self._quiet:
                say(f"{child.name} | {line}")

    def _listen_to_signals(self) -> None:
        reading, writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        # Wakes the selector at once, also when a child ends.
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in STOP_SIGNALS:
            signal.signal(number, self._ask_to_stop)
        self._selector.register(reading, selectors.EVENT_READ, None)

    def _ask_to_stop(self, *_: object) -> None:
        self._stop_requested = True
