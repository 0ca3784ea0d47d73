"""What parsers of other tools' outputs remark is said in the reader's language."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from benchweb.catalog.reasons import Reason
from benchweb.catalog.tool_reasons import tool_reason
from benchweb.catalog.translation import reason_text
from benchweb.toolformats.document import read_bytes

PARSERS = Path(__file__).parents[2] / "benchweb" / "toolformats"
ODD = Path(__file__).parents[1] / "toolformats" / "odd"
# Begin or end with whatever the tool told: such a sentence is one of several.
ONE_OF_SEVERAL = {"7: this end doesn't know it; left out.", "7 of 7 is left out: 7."}


def sentences() -> Iterator[str]:
    """Return what the parsers' sources remark, give as error or refuse with, 7 in the place of what varies."""
    for path in sorted(PARSERS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            yield from filter(None, map(written, texts_of(node)))


def texts_of(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "reading.error":
        return [node.value]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("reading.remarks.append", "ToolFormatError", "Unread"):
        return node.args[-1:]
    if isinstance(node, ast.FunctionDef) and node.name == "sentence":
        return [each.value for each in node.body if isinstance(each, ast.Return) and each.value]
    return []


def written(node: ast.expr) -> str:
    """Return a text as it stands in the source; nothing of what only a name holds."""
    if isinstance(node, ast.BoolOp):
        return written(node.values[-1])
    if isinstance(node, ast.Constant):
        return str(node.value)
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in parts)


def test_every_sentence_of_the_parsers_is_known() -> None:
    found = set(sentences()) - ONE_OF_SEVERAL
    assert len(found) >= 25
    assert [text for text in sorted(found) if not isinstance(tool_reason(text), Reason)] == []


def test_what_odd_outputs_are_told_is_known() -> None:
    """Lines that aren't read and figures that say nothing, as sentences with a code."""
    documents = [read_bytes(path.read_bytes()) for path in sorted(ODD.iterdir())]
    told = {unread.reason for document in documents for unread in document.unread}
    told |= {remark for document in documents for each in document for remark in each.remarks if "left out" in remark}
    assert len(told) > 8
    assert [text for text in sorted(told) if not isinstance(tool_reason(text), Reason)] == []


@pytest.mark.parametrize(
    ("remark", "said"),
    [
        ("Read from a report's table, not from the tool's own output.", "读自报告中的表格，而非工具自身的输出。"),
        ("Sender of 0.00 bytes: this end doesn't know it; left out.", "发送方 0.00 bytes：本端不知道该值，已略去。"),
        ("LOCAL HOST alder", "LOCAL HOST alder"),
    ],
)
def test_a_remark_is_said_in_chinese_and_a_tools_own_words_stay(remark: str, said: str) -> None:
    with translation.override("zh-hans"):
        assert reason_text(tool_reason(remark)) == said
