"""Show an author's text: paragraphs as they were typed, and tables where Markdown has some; nothing in it is markup."""

import re
from collections.abc import Iterator, Sequence

from django import template
from django.template.defaultfilters import linebreaks_filter
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()
_RULE = re.compile(r":?-{2,}:?")
_CELL_END = re.compile(r"(?<!\\)\|")


@register.filter
def prose(text: str) -> SafeString:
    """Write a text with its paragraphs and tables."""
    blocks = _blocks(text.replace("\r\n", "\n").split("\n"))
    return format_html_join("\n", "{}", ((block,) for block in blocks))


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """Return paragraphs and tables in their order."""
    plain: list[str] = []
    index = 0
    while index < len(lines):
        end = _table_end(lines, index)
        if end:
            yield from _paragraphs(plain)
            yield _table(lines[index], lines[index + 1], lines[index + 2 : end])
            plain, index = [], end
        else:
            plain.append(lines[index])
            index += 1
    yield from _paragraphs(plain)


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    text = "\n".join(lines).strip("\n")
    if text.strip():
        yield linebreaks_filter(text)


def _table_end(lines: Sequence[str], index: int) -> int:
    """Return where the table ends whose head stands at a line; 0 where none does."""
    if "|" not in lines[index] or index + 1 == len(lines) or "|" not in lines[index + 1]:
        return 0
    rule = _cells(lines[index + 1])
    if len(rule) != len(_cells(lines[index])) or not all(map(_RULE.fullmatch, rule)):
        return 0
    end = index + 2
    while end < len(lines) and "|" in lines[end]:
        end += 1
    return end


def _cells(line: str) -> list[str]:
    bare = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(bare)]


def _table(head: str, rule: str, rows: Sequence[str]) -> str:
    classes = ["num" if cell.endswith(":") else "" for cell in _cells(rule)]
    heads = format_html_join("", '<th scope="col" class="{}">{}</th>', zip(classes, _cells(head), strict=True))
    body = format_html_join("", "<tr>{}</tr>", ((_row(row, classes),) for row in rows))
    return format_html(
        '<div class="table-scroll" tabindex="0"><table class="table shared-table"><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>",
        heads,
        body,
    )


def _row(line: str, classes: Sequence[str]) -> SafeString:
    """Write a row with as many cells as the head has."""
    cells = (_cells(line) + [""] * len(classes))[: len(classes)]
    return format_html_join("", '<td class="{}">{}</td>', zip(classes, cells, strict=True))
