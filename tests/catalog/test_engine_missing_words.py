"""What the engine says that a host doesn't tell is said in the reader's language."""

import json

import pytest
from django.utils import translation

from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.messages.engine_sentences import MESSAGES, REASONS_FILE
from benchweb.catalog.translation import reason_text
from benchweb.hosts.facts.shapes import facts_fault
from benchweb.web.facts.page import facts_groups

# As engines send it: of what only the kernel says there is no code.
LINES = ["speed of eth0: the driver tells none", "/proc/meminfo: No such file or directory (os error 2)"]
CODES = [{"code": "missing_speed", "params": {"interface": "eth0"}}, None]


def missing(document: dict[str, object]) -> list[str]:
    with translation.override("zh-hans"):
        return [reason_text(line) for group in facts_groups(document) for _, line in group.lines]


def test_a_line_is_said_with_the_interface_it_is_about_by_its_code_and_by_its_pattern() -> None:
    told = ["eth0 的速率：驱动未提供", "/proc/meminfo: No such file or directory"]
    assert missing({"missing": LINES, "missing_data": CODES}) == told
    assert missing({"missing": LINES}) == told


@pytest.mark.parametrize(
    "codes", [[], CODES[:1], [*CODES, *CODES], [None, {"code": "of_a_newer_engine"}], [{"params": {}}, {}]]
)
def test_codes_that_do_not_fit_the_lines_leave_the_lines(codes: list[object]) -> None:
    assert [line.split(" (")[0] for line in missing({"missing": LINES, "missing_data": codes})] == [
        "eth0 的速率：驱动未提供",
        "/proc/meminfo: No such file or directory",
    ]


def test_codes_of_another_shape_are_a_fault_of_the_facts() -> None:
    assert facts_fault({"missing": LINES, "missing_data": CODES}) == ""
    assert facts_fault({"missing": LINES, "missing_data": ["missing_speed"]}).startswith("missing_data.0")


def test_what_older_engines_said_is_known_still() -> None:
    former = "speed of eth0: the one that the driver tells bounds nothing"
    assert "missing_speed_bound" in MESSAGES
    assert "missing_speed_bound" not in json.loads(REASONS_FILE.read_text(encoding="utf-8"))
    with translation.override("zh-hans"):
        assert reason_text(engine_reason(former)).startswith("eth0 的速率")
