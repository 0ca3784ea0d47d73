"""What the engine says of a trial is said in the reader's language."""

from django.utils import translation

from benchweb.charts.trial_detail import label_and_unit
from benchweb.phrasebook import said

AWAKE = "The sending thread was awake 99 % of its time, 45 % of it on a CPU: that end could do no more."


def test_the_engines_explanation_is_said_with_its_figures_in_the_readers_language() -> None:
    with translation.override("zh-hans"):
        assert said(AWAKE) == "发送线程有 99 % 的时间处于唤醒状态，其中 45 % 在 CPU 上：该端已达极限。"
    assert said(AWAKE) == AWAKE


def test_a_documents_name_is_a_label_in_the_readers_language_and_an_unknown_one_stays_readable() -> None:
    with translation.override("zh-hans"):
        assert label_and_unit("process_cpu_seconds") == ("进程 CPU", "s")
        assert label_and_unit("new_thing_bytes") == ("New thing", "B")
