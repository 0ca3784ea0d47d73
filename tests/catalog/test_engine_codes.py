"""What engines say has a code: the sentences are in one file, which both sides read, and each place names its code."""

import json
import re
from itertools import chain
from pathlib import Path

import pytest
from django.utils import translation

from benchweb.catalog.engine_reasons import PATTERNS_UNTIL, engine_reason
from benchweb.catalog.messages.engine_sentences import REASONS_FILE
from benchweb.catalog.reasons import Reason, joined, reason_data
from benchweb.catalog.translation import reason_text

PROJECT = Path(__file__).parents[2]
SENTENCES: dict[str, str] = json.loads(REASONS_FILE.read_text(encoding="utf-8"))
_SAID = re.compile(r'reason!\(\s*"(\w+)"((?:[^()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*)\)')
_PARAMETER = re.compile(r"[,(]\s*(\w+) = ")
# The names of a code that is made of words, such as limit_{what}_{threads}.
_WORDS = {
    "limit_{what}_{threads}": [
        f"limit_{end}_{threads}" for end in ("sending", "receiving") for threads in ("thread", "threads")
    ],
    "limit_{name}_{what}": [f"limit_{end}_{what}" for end in ("sender", "receiver") for what in ("quota", "cpuset")],
}


def sources() -> dict[Path, str]:
    """Return the engine's sources without their tests."""
    return {
        path: path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
        for path in sorted((PROJECT / "engine" / "crates").glob("*/src/**/*.rs"))
        if not path.stem.endswith("tests")
    }


def test_every_code_of_the_engine_has_a_sentence_with_its_parameters() -> None:
    said = [match.groups() for text in sources().values() for match in _SAID.finditer(text)]
    assert len(said) > 60
    named = {(code, frozenset(_PARAMETER.findall(f",{parameters}"))) for code, parameters in said}
    known = {(code, frozenset(re.findall(r"\{(\w+)\}", text))) for code, text in SENTENCES.items()}
    assert named - known == set()


def test_no_sentence_is_there_in_vain() -> None:
    code = "\n".join(sources().values())
    made = set(chain.from_iterable(names for pattern, names in _WORDS.items() if f'"{pattern}"' in code))
    made |= {f"{name}_awake" for name in made if "thread" in name}
    # Facts tell theirs as sentences: test_engine_missing_words.py.
    needed = {name for name in SENTENCES if not name.startswith("missing_")}
    assert {name for name in needed - made if f'"{name}"' not in code} == set()


def test_what_comes_with_a_code_is_not_searched_for_a_pattern() -> None:
    said = joined([Reason("says_other_end"), Reason("says_deleted")], ": ")
    found = engine_reason(str(said), reason_data(said))
    assert reason_data(found) == reason_data(said)
    with translation.override("zh-hans"):
        assert reason_text(found) == "对端报告：控制器删除了该会话"
    # What a name looks like a sentence stays a name.
    named = Reason("host_no_test_file", directory="/srv/a: x", why="y; z")
    assert reason_data(engine_reason(str(named), reason_data(named))) == reason_data(named)


@pytest.mark.parametrize(
    "data",
    [
        {"code": "of_a_newer_engine", "params": {}},
        {"code": "says_stopped", "params": {}},
        {"code": "says_nothing_arrived", "params": {}},
        {"code": "joined", "params": {"parts": "x", "joint": 7}},
        {"code": ["says_no_byte"]},
        {"code": "says_no_byte", "params": {"more": "x" * 10_000}},
        [1],
        "says_no_byte",
    ],
)
def test_a_code_that_does_not_make_the_sentence_leaves_the_sentence(data: object) -> None:
    """A newer engine words it anew, and anything may come over the network."""
    assert reason_data(engine_reason("no byte of the stream was received", data)) == {
        "code": "says_no_byte",
        "params": {},
    }
    assert reason_data(engine_reason("as nobody knows", data)) is None


def test_the_patterns_go_with_the_release_that_is_named() -> None:
    """When this fails: take engine_reason's patterns out, for engines of before the codes are supported no more."""
    version = re.search(r'^version = "([\d.]+)"', (PROJECT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version is not None
    assert tuple(map(int, version[1].split("."))) < tuple(map(int, PATTERNS_UNTIL.split(".")))
