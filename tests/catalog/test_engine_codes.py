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
# What goes to a controller or to the other end, with its arguments.
_SENT = re.compile(
    r"(?:Failure::(?:new|internal)|Refusal::(?:new|invalid|not_found)|ParameterError::new|refused_by_kernel|malformed"
    r"|unreadable|\.fault|missing\.note|Reason::from)\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)"
)
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
    assert len(said) > 220
    named = {(code, frozenset(_PARAMETER.findall(f",{parameters}"))) for code, parameters in said}
    known = {(code, frozenset(re.findall(r"\{(\w+)\}", text))) for code, text in SENTENCES.items()}
    assert named - known == set()


def test_no_sentence_is_there_in_vain() -> None:
    code = "\n".join(sources().values())
    made = set(chain.from_iterable(names for pattern, names in _WORDS.items() if f'"{pattern}"' in code))
    made |= {f"{name}_awake" for name in made if "thread" in name}
    assert {name for name in SENTENCES.keys() - made if f'"{name}"' not in code} == set()


def test_what_a_controller_reads_has_a_code() -> None:
    """A failure, a refusal or a flow's fault in plain words would stay English on every page."""
    bare = [
        f"{path.name}: {text}"
        for path, source in sources().items()
        if path.parts[-2] != "fuzzing" and path.name != "fixture.rs"
        for call in _SENT.findall(source)
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', call)
        if re.search("[a-z]{2,} [a-z]{2,}", text)
    ]
    assert bare == []


def test_what_comes_with_a_code_is_not_searched_for_a_pattern() -> None:
    said = joined([Reason("says_other_end"), Reason("says_deleted")], ": ")
    found = engine_reason(str(said), reason_data(said))
    assert reason_data(found) == reason_data(said)
    with translation.override("zh-hans"):
        assert reason_text(found) == "对端报告：控制器删除了该会话"
    # What a name looks like a sentence stays a name.
    named = Reason("host_no_test_file", directory="/srv/a: x", why="y; z")
    assert reason_data(engine_reason(str(named), reason_data(named))) == reason_data(named)


ABOVE = Reason("admission_flows", count=9, limit=Reason("admission_token_limit", value="4", name="flows"))
NO_CONTROL = Reason(
    "setup_no_congestion_control",
    end=Reason("end_sink"),
    name='"bbr"',
    why="No such file or directory",
    available="reno cubic",
)
VANISHING = joined([Reason("fault_packets_vanish", bytes="1,472"), Reason("fault_hellos_unanswered", count=4)], "; ")


@pytest.mark.parametrize(
    ("said", "english", "chinese"),
    [
        (
            ABOVE,
            "9 flows are asked for, above this token's limit of 4 (flows= in the engine's token file); ask for fewer",
            "请求了 9 条流，超过此令牌的上限 4（引擎令牌文件中的 flows=）；请减少流数",
        ),
        (
            NO_CONTROL,
            'the sink host has no congestion control "bbr" (No such file or directory); it has: reno cubic',
            '目的端主机没有拥塞控制 "bbr"（No such file or directory）；它有：reno cubic',
        ),
        (
            VANISHING,
            "packets over 1,472 bytes don't arrive, ICMP is filtered; none of 4 UDP hellos was answered",
            "超过 1,472 字节的数据包无法到达，ICMP 被过滤；4 个 UDP 问候均无应答",
        ),
        (
            joined([Reason("flow", flow=3), Reason("flow_send_failed", why="Broken pipe")], ": "),
            "flow 3: send failed: Broken pipe",
            "流 3：发送失败：Broken pipe",
        ),
        (
            Reason(
                "parameter_above",
                name="flows",
                number="99,999",
                limit="10,000",
                kind="tcp_stream",
                range=Reason("parameter_range", low=1, high=10_000),
            ),
            "flows is 99,999, above the limit of 10,000 for tcp_stream; give a value from 1 to 10000",
            "flows 为 99,999，高于 tcp_stream 的上限 10,000；请给出从 1 到 10000 的值",
        ),
        (
            Reason("request_no_session", session='"a1"'),
            'this engine has no session "a1"; it may have been acknowledged, or waited for over 24 h',
            '此引擎没有会话 "a1"；它可能已被确认，或已等待超过 24 小时',
        ),
    ],
)
def test_what_an_engine_refuses_and_fails_by_is_said_by_its_code_and_by_its_pattern(
    said: str, english: str, chinese: str
) -> None:
    assert str(said) == english
    for found in (engine_reason(english, json.loads(json.dumps(reason_data(said)))), engine_reason(english)):
        with translation.override("zh-hans"):
            assert reason_text(found) == chinese
        with translation.override("en"):
            assert reason_text(found) == english


def test_every_sentence_is_found_again_by_its_own_pattern() -> None:
    """Engines of the last release say the same sentences without codes; no pattern takes another's place."""
    others = {}
    for code, text in SENTENCES.items():
        said = Reason(code, **dict.fromkeys(re.findall(r"\{(\w+)\}", text), "7"))
        found = engine_reason(str(said))
        if not isinstance(found, Reason) or found.code != code:
            others[code] = getattr(found, "code", None)
    assert others == {}


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
