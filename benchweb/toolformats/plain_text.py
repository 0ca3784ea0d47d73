"""Files as text: what encoding they have, gzip within bounds, HTML and terminal's marks taken off."""

import re
import time
import zlib
from collections.abc import Callable
from html import unescape

from benchweb.toolformats.readings import ToolFormatError

MAX_BYTES = 5 * 1024 * 1024
MAX_INFLATED_BYTES = 20 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_STEP_BYTES = 1024 * 1024
# Of one request's files together, unpacked.
MOST_BYTES_TOGETHER = 3 * MAX_INFLATED_BYTES
# Twice what the slowest honest text of MAX_INFLATED_BYTES takes.
MOST_SECONDS = 10.0
TAKES_TOO_LONG = "The text takes too long to read. Split it, and leave out what is no tool's output."
_TOGETHER_TOO_LARGE = f"The files together unpack to over {MOST_BYTES_TOGETHER:,} bytes. Send fewer at once."
# Colours and cursor moves of a terminal.
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# Keys that a terminal has echoed.
_ECHOED = re.compile(r"\^\[\[[A-D]|^\^C", re.MULTILINE)
# An e-mail's quote.
_QUOTE = re.compile(r"^(?:> ?)+", re.MULTILINE)
# No tool prints a number so long; one would be read at length, or be no float.
_ENDLESS_NUMBER = re.compile(r"\d{40,}")
_HTML = re.compile(r"<(?:!doctype html|html|body|pre|table|code|div|p)\b[^<>]*>", re.IGNORECASE)
_BREAKS = {"br", "p", "div", "tr", "pre", "li", "h1", "h2", "h3", "h4", "table", "section", "article"}


def text_of(content: bytes, patience: "Patience | None" = None) -> str:
    """Return a file's text, unpacked where it is gzip; raise ToolFormatError when it is too large or no text."""
    if len(content) > MAX_BYTES:
        raise ToolFormatError(f"The file has {len(content):,} bytes; at most {MAX_BYTES:,} are read at once. Split it.")
    if content.startswith(_GZIP):
        content = _inflated(content)
    if patience:
        patience.take(len(content))
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    if b"\0" in content[:4096]:
        raise ToolFormatError("The file is no text: it holds zero bytes. Only text, JSON and gzip of these are read.")
    # GBK: Windows in Chinese writes ping's output in it. What is in none of these still has its ASCII digits.
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def still_wanted() -> None:
    """Go on: somebody waits for what is read."""


class Patience:
    """How much of this thread's CPU, and how many bytes, may go into one request's texts, whoever sent them.

    `is_wanted` is asked as well, and raises something once nobody waits for what is read.
    """

    def __init__(self, is_wanted: Callable[[], None] = still_wanted) -> None:
        self._is_wanted = is_wanted
        self._until = time.thread_time() + MOST_SECONDS
        self._left_bytes = MOST_BYTES_TOGETHER

    @property
    def is_over(self) -> bool:
        """Tell whether the time is over."""
        return time.thread_time() > self._until

    def check(self) -> None:
        """Raise ToolFormatError when the time is over."""
        self._is_wanted()
        if self.is_over:
            raise ToolFormatError(TAKES_TOO_LONG)

    def take(self, size_bytes: int) -> None:
        """Count a text's bytes; raise ToolFormatError where all of them are too many."""
        self._left_bytes -= size_bytes
        if self._left_bytes < 0:
            raise ToolFormatError(_TOGETHER_TOO_LARGE)


def lines_of(text: str, patience: Patience) -> list[str]:
    """Return the lines of a text or HTML page without a terminal's marks and quotes; line numbers stay right."""
    plain = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").replace("\f", "\n")
    if _HTML.search(plain):
        plain = without_tags(plain, patience)
    return _ENDLESS_NUMBER.sub("nan", _QUOTE.sub("", _ECHOED.sub("", plain))).split("\n")


def without_tags(text: str, patience: Patience) -> str:
    """Return the text of an HTML page; from a comment on that nothing closes, as it stands.

    Each character is looked at once: eight hundred thousand tags take a second.
    """
    page = _Page()
    position = 0
    for count, tag in enumerate(_TAG.finditer(text)):
        if count % _TAGS_BETWEEN_CHECKS == 0:
            patience.check()
        if tag.start() < position:
            continue
        page.add(text[position : tag.start()])
        position = tag.end()
        if tag["comment"]:
            end = text.find("-->", position)
            if end < 0:
                break
            position = end + 3
        elif tag["name"]:
            name = tag["name"].lower()
            if name in _HIDDEN and not tag["end"]:
                closing = _HIDDEN_END.search(text, position)
                position = closing.start() if closing else len(text)
            page.tag(name, is_end=bool(tag["end"]))
    page.add(text[position:])
    return "".join(page.pieces)


_TAG = re.compile(r"<(?:(?P<comment>!--)|[!?][^<>]*>|(?P<end>/)?(?P<name>[a-zA-Z][a-zA-Z0-9]*+)[^<>]*>)")
_HIDDEN = {"script", "style"}
_HIDDEN_END = re.compile(r"</(?:script|style)\b", re.IGNORECASE)
_TAGS_BETWEEN_CHECKS = 1_000


class _Page:
    """Keeps text; within a table, cells become the columns of a Markdown row."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def add(self, text: str) -> None:
        """Keep a text between two tags, its entities as the characters that they stand for."""
        if text:
            self.pieces.append(unescape(text) if "&" in text else text)

    def tag(self, name: str, *, is_end: bool) -> None:
        """Keep what a tag says of lines and columns."""
        if name in {"td", "th"} and not is_end:
            self.pieces.append("| ")
        elif name == "tr" and is_end:
            self.pieces.append("|\n")
        elif name == "br" or (name in _BREAKS and not self._at_line_start()):
            self.pieces.append("\n")

    def _at_line_start(self) -> bool:
        return not self.pieces or self.pieces[-1].endswith("\n")


def _inflated(content: bytes) -> bytes:
    """Unpack gzip up to MAX_INFLATED_BYTES; a bomb is refused before it is unpacked."""
    inflater = zlib.decompressobj(wbits=31)
    pieces: list[bytes] = []
    size, rest = 0, content
    try:
        while rest and not inflater.eof:
            piece = inflater.decompress(rest, _STEP_BYTES)
            rest = inflater.unconsumed_tail
            size += len(piece)
            if size > MAX_INFLATED_BYTES:
                raise ToolFormatError(
                    f"Unpacked, the file is over {MAX_INFLATED_BYTES:,} bytes: more than is read at once."
                )
            pieces.append(piece)
            if not piece and not rest:
                break
    except zlib.error as error:
        raise ToolFormatError(f"The gzip file is damaged: {error}.") from error
    if not inflater.eof:
        raise ToolFormatError("The gzip file ends too early: it was cut off.")
    return b"".join(pieces)
