"""Fixtures with real `manage.py up` processes."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.setup.processes import Up


@pytest.fixture(scope="module")
def state() -> Iterator[Path]:
    """Return a short path for state folders: a deep one moves the sockets elsewhere."""
    folder = Path(tempfile.mkdtemp(prefix="bw-up-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def up(state: Path) -> Iterator[Callable[..., Up]]:
    """Return a function that starts `up` on a state folder; whatever still runs at the end is killed."""
    started: list[Up] = []

    def start(name: str, *options: str, port: int | None = None) -> Up:
        each = Up(state / name, options) if port is None else Up(state / name, options, port)
        started.append(each)
        return each.start()

    yield start
    for each in started:
        if each.process is not None and each.process.poll() is None:
            each.kill()
        assert each.orphans() == []
