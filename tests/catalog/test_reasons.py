"""A reason is a code with parameters: stored as such, and said in the reader's language."""

import copy
import json
import pickle
import re
from pathlib import Path

import pytest
from django.utils import translation

from benchweb.catalog import engine_reasons
from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.messages import MESSAGES
from benchweb.catalog.reasons import Reason, joined, reason_data, reason_fields, reason_of, reason_of_error
from benchweb.catalog.translation import reason_text
from benchweb.ops.management.commands.list_reasons import reasons_table

FAILED = Reason("trials_failed", failed=1, total=12)
ENGINE = Reason("engine", name="b (host)", address="10.0.0.2:7410")


def silent(end: str, at: str) -> Reason:
    return Reason("end_silent", end=end, unreachable_since=at)


@pytest.mark.parametrize(
    ("reason", "english", "chinese"),
    [
        (FAILED, "1 of 12 trials failed", "12 个测试项中 1 个失败"),
        (
            Reason("event_run_ended_because", state=Reason("state_failed"), reason=FAILED),
            "Run failed: 1 of 12 trials failed",
            "运行失败：12 个测试项中 1 个失败",
        ),
        (
            Reason("queued", position=Reason("position_2"), resource=Reason("host", host="alpha")),
            "second in the queue of host alpha",
            "在主机 alpha 的队列中排第二",
        ),
        (
            Reason(
                "slot_hosts_silent",
                silent=joined(
                    [
                        silent("a (host)", "2026-11-24 21:12"),
                        silent("b", "2026-11-24 21:13"),
                        Reason("and_more", left=1_003),
                    ],
                    "; ",
                ),
            ),
            "No pair can run: a (host) has given no valid answer since 2026-11-24 21:12 UTC; b has given no "
            "valid answer since 2026-11-24 21:13 UTC; and 1,003 more.",
            "没有测试对可以运行：a (host) 自 2026-11-24 21:12 UTC 起没有有效应答；"
            "b 自 2026-11-24 21:13 UTC 起没有有效应答；另有 1,003 项。",
        ),
        (
            # A name that is a word of ours stays a name.
            Reason("host_unreachable", host="failed", since="02:00 UTC"),
            "host failed has given no valid answer since 02:00 UTC",
            "主机 failed 自 02:00 UTC 起没有有效应答",
        ),
        (
            joined(
                [
                    Reason("slot_runs_ended", total=12, ends=Reason("count_failed", count=1)),
                    Reason("slot_run_reason", run=5, reason=FAILED),
                ]
            ),
            "Of 12 runs 1 failed. Run 5: 1 of 12 trials failed",
            "共 12 次运行：1 次失败。运行 5：12 个测试项中 1 个失败",
        ),
        (
            Reason("engine_refused_token", engine=ENGINE),
            "The engine of b (host) (10.0.0.2:7410) refused the token: "
            "enter the token of its token file on the host's page.",
            "b (host) 的引擎 (10.0.0.2:7410) 拒绝了令牌：请在主机页面输入其令牌文件中的令牌。",
        ),
        ("nobody ever wrote this", "nobody ever wrote this", "nobody ever wrote this"),
        ("", "", ""),
    ],
)
def test_a_reason_is_said_in_the_readers_language_and_stored_in_english(
    reason: str, english: str, chinese: str
) -> None:
    with translation.override("zh-hans"):
        assert reason_text(reason) == chinese
    with translation.override("en"):
        assert reason_text(reason) == english
    assert str(reason) == english


def test_what_was_stored_is_the_same_reason_again() -> None:
    reason = Reason("engine_unreachable", engine=ENGINE, error="timed out")
    fields = reason_fields("reason", reason)
    stored = json.loads(json.dumps(fields["reason_data"]))
    assert stored == {
        "code": "engine_unreachable",
        "params": {
            "engine": {"code": "engine", "params": {"name": "b (host)", "address": "10.0.0.2:7410"}},
            "error": "timed out",
        },
    }
    again = reason_of(fields["reason"], stored)
    assert isinstance(again, Reason)
    assert (again, again.params) == (reason, reason.params)
    assert reason_data(pickle.loads(pickle.dumps(reason))) == reason_data(copy.deepcopy(again)) == stored


@pytest.mark.parametrize(
    "data", [None, {}, [], "text", {"code": "gone_since"}, {"code": "trials_failed", "params": {}}, {"params": {}}]
)
def test_rows_without_a_reason_that_is_known_keep_their_sentence(data: object) -> None:
    assert reason_of("as it was written", data) == "as it was written"
    assert reason_data("as it was written") is None


def test_what_an_error_was_raised_with_is_its_reason() -> None:
    assert reason_of_error(ValueError(FAILED)) is FAILED
    assert reason_of_error(ValueError("plain")) == "plain"
    assert reason_of_error(KeyError()) == ""


def test_no_parameter_is_taken_for_a_pattern_and_what_cannot_be_stored_is_taken_out() -> None:
    reason = Reason("host_unreachable", host="{since}\0{0}", since="02:00 UTC")
    assert str(reason) == "host {since}\ufffd{0} has given no valid answer since 02:00 UTC"
    with translation.override("zh-hans"):
        assert reason_text(reason) == "主机 {since}\ufffd{0} 自 02:00 UTC 起没有有效应答"


def test_an_engines_sentences_are_found_again_part_by_part() -> None:
    text = "nothing arrived: of 1,000 datagrams sent none was received; see whether a firewall is between"
    found = engine_reason(text)
    assert str(found) == text
    with translation.override("zh-hans"):
        assert not re.search("[a-z]{2,}", reason_text(found))
    assert engine_reason("nobody wrote this: at all") == "nobody wrote this: at all"


@pytest.mark.parametrize("times", [4, 100])
def test_what_no_engine_says_is_looked_at_part_by_part_once(times: int) -> None:
    text = "one: two, three; four. " * times
    engine_reasons._reason.cache_clear()
    assert engine_reason(text) == text
    # Without memory each joint would double the work: thirteen parts follow each other in 91 ways.
    assert engine_reasons._reason.cache_info().misses <= 200


def test_a_reason_within_many_is_whole_and_one_that_can_not_be_read_leaves_the_sentence() -> None:
    reason = Reason("state_failed")
    for run in range(12):
        reason = Reason("slot_run_reason", run=run, reason=reason)
    assert str(reason_of("", reason_data(reason))).endswith("Run 0: failed")
    data = reason_data(Reason("slot_run_reason", run=1, reason=FAILED))
    assert data is not None
    data["params"]["reason"]["code"] = "gone_since"
    assert reason_of("Run 1: as it was written", data) == "Run 1: as it was written"


def test_rows_of_the_same_joint_are_one_row() -> None:
    row = joined(["a", joined(["b", joined(["c", FAILED], "; ")], "; ")], "; ")
    assert isinstance(row, Reason)
    assert row.params == {"parts": ["a", "b", "c", FAILED], "joint": "; "}


def test_codes_are_words_that_scripts_can_go_by() -> None:
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", code) for code in MESSAGES)


def test_the_documentation_lists_every_code() -> None:
    documented = Path(__file__).parents[2] / "docs" / "api.md"
    assert documented.read_text(encoding="utf-8").rstrip().endswith(reasons_table()), "run manage.py list_reasons"
