"""What the engine says of a trial is said in the reader's language."""

import re
from pathlib import Path

from django.utils import translation

from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.messages.engine_sentences import MESSAGES
from benchweb.catalog.reasons import Reason, joined
from benchweb.catalog.translation import reason_text
from benchweb.charts.run.trial.figures import label_and_unit
from benchweb.charts.run.trial.words import EVIDENCE

KINDS = Path(__file__).parents[3] / "engine/crates/kinds/src"
LIMITS = KINDS / "limits"
WATCHDOG = KINDS.parents[1] / "agent/src/serve/processes/watchdog.rs"
# What a kind says of a test of which nothing arrived.
_SILENCE = re.compile(r"fn silence\(.*?\n    \}\n", re.DOTALL)
# What engines say of a trial that failed, beside why nothing arrived.
FAILURES = {
    *("says_other_end", "says_lease_ran_out", "says_look_at_worker", "says_stopped", "says_restarted"),
    *("says_run_again", "says_link_closed"),
}
SENTENCES = [text for code, text in MESSAGES.items() if code.startswith(("limit_", "says_")) and code not in FAILURES]
AWAKE = "The sending thread was awake 99 % of its time, 45 % of it on a CPU: that end could do no more."


def test_the_engines_explanation_is_said_with_its_figures_in_the_readers_language() -> None:
    with translation.override("zh-hans"):
        assert (
            reason_text(engine_reason(AWAKE))
            == "发送线程有 99 % 的时间处于可运行状态，其中 45 % 在 CPU 上：该端已达极限。"
        )
    assert reason_text(engine_reason(AWAKE)) == AWAKE


def test_why_an_engine_gave_up_is_said_part_by_part() -> None:
    lost = "the controller was silent for longer than its lease; see whether its worker runs and reaches this engine"
    assert lost in WATCHDOG.read_text()
    with translation.override("zh-hans"):
        failed = Reason("trials_failed", failed=1, total=9)
        told = reason_text(joined([failed, engine_reason(f"the other end says: {lost}")], ": "))
    assert told == (
        "9 个测试项中 1 个失败：对端报告：控制器静默超过其租约时长；请检查其工作进程是否在运行且能连到此引擎"
    )


def test_a_documents_name_is_a_label_in_the_readers_language_and_an_unknown_one_stays_readable() -> None:
    with translation.override("zh-hans"):
        assert label_and_unit("process_cpu_seconds") == ("进程 CPU", "s")
        assert label_and_unit("new_thing_bytes") == ("New thing", "B")


def test_every_sentence_of_the_engine_is_known_to_be_translated_and_none_is_known_in_vain() -> None:
    """The engine's sources are read: a sentence that is worded anew there would stay English, without a word."""
    patterns = engine_texts()
    assert len(patterns) > 40
    # Some are the middle of a sentence.
    unknown = [text for text, pattern in patterns.items() if not any(map(pattern.search, (*SENTENCES, *EVIDENCE)))]
    assert unknown == []
    # Some follow another sentence.
    known = {text: f"… {text}" for text in (*SENTENCES, *EVIDENCE)}
    in_vain = [text for text, sentence in known.items() if not any(each.search(sentence) for each in patterns.values())]
    assert in_vain == []


def engine_texts() -> dict[str, re.Pattern[str]]:
    """Return what the engine's verdicts are made of, each with a pattern in which its marks stand for anything.

    A text may be the beginning of a sentence only. One of a single word isn't for readers.
    """
    found = {}
    sources = [file.read_text() for file in LIMITS.glob("*.rs") if not file.name.endswith("_tests.rs")]
    sources += [words for file in KINDS.rglob("*.rs") for words in _SILENCE.findall(file.read_text())]
    for source in sources:
        code = re.sub(r"//.*", "", source.split("#[cfg(test)]")[0])
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', code):
            is_said = re.search(r"[a-zµ]{2,} [a-z]", text) and text[0] not in " :"
            if is_said:
                found[text] = re.compile(".+".join(map(re.escape, re.split(r"\{[^}]*\}", text))))
    return found
