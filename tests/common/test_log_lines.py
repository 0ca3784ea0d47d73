"""Log lines as JSON objects, which say what they are about."""

import json
import logging
import threading
from collections.abc import Iterator

import pytest

from benchweb.common.log_lines import JsonLines, logged_with

# In no tree of loggers: pytest would hand its lines to its first process, which reads no half of a surrogate pair.
LOG = logging.Logger("benchweb.tests.lines")


class _Kept(logging.Handler):
    """Keeps each line."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.setFormatter(JsonLines())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture
def kept() -> Iterator[_Kept]:
    handler = _Kept()
    LOG.addHandler(handler)
    yield handler
    LOG.removeHandler(handler)


def write(text: str, *values: object) -> None:
    LOG.warning(text, *values)


def test_a_line_has_the_ids_of_what_its_thread_works_on_and_of_nothing_else(kept: _Kept) -> None:
    with logged_with(run=7):
        with logged_with(trial=70):
            write("both")
        write("run")
        other = threading.Thread(target=write, args=("other",))
        other.start()
        other.join()
    write("none")
    ids = {
        line["message"]: {key: line[key] for key in ("run", "trial") if key in line}
        for line in map(json.loads, kept.lines)
    }
    assert ids == {"both": {"run": 7, "trial": 70}, "run": {"run": 7}, "other": {}, "none": {}}


def test_whatever_is_logged_is_one_object_in_one_line(kept: _Kept) -> None:
    write('a "quote",\nanother line and %s', "\u2028 \x00 é \udcff")
    try:
        raise ValueError("two\nlines")
    except ValueError:
        LOG.exception("it failed")
    assert [len(line.splitlines()) for line in kept.lines] == [1, 1]
    first, second = map(json.loads, kept.lines)
    assert first["message"] == 'a "quote",\nanother line and \u2028 \x00 é \udcff'
    assert (first["level"], first["logger"]) == ("WARNING", "benchweb.tests.lines")
    assert first["at"].endswith("+00:00")
    assert "ValueError: two\nlines" in second["stack"]
