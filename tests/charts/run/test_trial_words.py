"""What the engine says of a trial is said in the reader's language."""

import re
from pathlib import Path

from django.utils import translation

from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.reasons import Reason, joined
from benchweb.catalog.translation import reason_text
from benchweb.charts.run.figures import label_and_unit
from benchweb.charts.run.trial.words import EVIDENCE

LIMITS = Path(__file__).parents[3] / "engine/crates/kinds/src/limits"
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


def test_every_figure_of_the_engines_evidence_is_known_to_be_translated_and_none_is_known_in_vain() -> None:
    """The engine's sources are read: a figure that is named anew there would stay English, without a word."""
    patterns = engine_texts()
    assert len(patterns) > 20
    assert [text for text, pattern in patterns.items() if not any(map(pattern.fullmatch, EVIDENCE))] == []
    assert [text for text in EVIDENCE if not any(pattern.fullmatch(text) for pattern in patterns.values())] == []


def engine_texts() -> dict[str, re.Pattern[str]]:
    """Return what the evidence of the engine's verdicts is called, with a pattern in which marks stand for anything.

    One of a single word isn't for readers.
    """
    found = {}
    for file in LIMITS.glob("*.rs"):
        if file.name.endswith("_tests.rs"):
            continue
        code = re.sub(r"//.*", "", file.read_text().split("#[cfg(test)]")[0])
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', code):
            if re.search(r"[a-zµ]{2,} [a-z{]", text):
                found[text] = re.compile(".+".join(map(re.escape, re.split(r"\{[^}]*\}", text))))
    return found
