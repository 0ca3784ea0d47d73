"""Files as text: what encoding they have, gzip within bounds, HTML and terminal's marks taken off."""

import re
import time
import zlib
from collections.abc import Callable
from html.parser import HTMLParser

from benchweb.toolformats.readings import ToolFormatError

MAX_BYTES = 5 * 1024 * 1024
MAX_INFLATED_BYTES = 20 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_STEP_BYTES = 1024 * 1024
_STEP_CHARACTERS = 64 * 1024
# Twice what the slowest honest text of MAX_INFLATED_BYTES takes.
MOST_SECONDS = 10.0
# Colours and cursor moves of a terminal.
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# Keys that a terminal has echoed.
_ECHOED = re.compile(r"\^\[\[[A-D]")
# An e-mail's quote.
_QUOTE = re.compile(r"^(?:> ?)+", re.MULTILINE)
# No tool prints a number so long; one would be read at length, or be no float.
_ENDLESS_NUMBER = re.compile(r"\d{40,}")
_HTML = re.compile(r"<(?:!doctype html|html|body|pre|table|code|div|p)\b[^<>]*>", re.IGNORECASE)
_BREAKS = {"br", "p", "div", "tr", "pre", "li", "h1", "h2", "h3", "h4", "table", "section", "article"}


def text_of(content: bytes) -> str:
    """Return a file's text, unpacked where it is gzip; raise ToolFormatError when it is too large or no text."""
    if len(content) > MAX_BYTES:
        raise ToolFormatError(f"The file has {len(content):,} bytes; at most {MAX_BYTES:,} are read at once. Split it.")
    if content.startswith(_GZIP):
        content = _inflated(content)
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


def _still_wanted() -> None:
    """Go on: somebody waits for what is read."""


class Patience:
    """How much of this thread's CPU may go into a text: what takes longer is refused, whoever sent it.

    `still_wanted` is asked as well, and raises something once nobody waits for what is read.
    """

    def __init__(self, still_wanted: Callable[[], None] = _still_wanted) -> None:
        self._still_wanted = still_wanted
        self._until = time.thread_time() + MOST_SECONDS

    @property
    def is_over(self) -> bool:
        """Tell whether the time is over."""
        return time.thread_time() > self._until

    def check(self) -> None:
        """Raise ToolFormatError when the time is over."""
        self._still_wanted()
        if self.is_over:
            raise ToolFormatError("The text takes too long to read. Split it, and leave out what is no tool's output.")


def lines_of(text: str, patience: Patience) -> list[str]:
    """Return the lines of a text or HTML page without a terminal's marks and quotes; line numbers stay right."""
    plain = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").replace("\f", "\n")
    if _HTML.search(plain):
        plain = without_tags(plain, patience)
    return _ENDLESS_NUMBER.sub("nan", _QUOTE.sub("", _ECHOED.sub("", plain))).split("\n")


def without_tags(text: str, patience: Patience) -> str:
    """Return the text of an HTML page; from a tag or comment on that nothing closes, as it stands."""
    parser = _TagRemover()
    for begin in range(0, len(text), _STEP_CHARACTERS):
        parser.feed(text[begin : begin + _STEP_CHARACTERS])
        patience.check()
    # Not close(): it would look for the end of each open comment anew, up to the end of the text.
    line, column = parser.getpos()
    return "".join([*parser.pieces, "\n".join(text.split("\n")[line - 1 :])[column:]])


class _TagRemover(HTMLParser):
    """Keeps text; within a table, cells become the columns of a Markdown row."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._is_hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "style"}:
            self._is_hidden = True
        elif tag in {"td", "th"}:
            self.pieces.append("| ")
        elif tag == "br" or (tag in _BREAKS and not self._at_line_start()):
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"script", "style"}:
            self._is_hidden = False
        elif tag == "tr":
            self.pieces.append("|\n")
        elif tag in _BREAKS and not self._at_line_start():
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._is_hidden:
            self.pieces.append(data)

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
