"""Read and write translations as gettext's .po files, and make of them the .mo files that gettext loads.

Only what our files hold: context, plural, one form per language that has one, `fuzzy`, and which files use a text.
Standard library only, so that neither `up` nor an image needs gettext's programs.
"""

import ast
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_MAGIC = 0x950412DE
_HEADER_WORDS = 7
_WIDTH = 110


@dataclass
class Entry:
    """A text and its translation; of a text with a plural the first form is `msgstr`, the others are `forms`."""

    msgid: str
    msgstr: str = ""
    plural: str = ""
    context: str = ""
    forms: list[str] = field(default_factory=list)
    fuzzy: bool = False
    references: list[str] = field(default_factory=list)

    @property
    def is_translated(self) -> bool:
        return bool(self.msgstr) and not self.fuzzy


def read(path: Path) -> list[Entry]:
    """Read a .po file; the first entry, without a text, is its header."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    return [_parsed(block) for block in blocks if "msgid " in block]


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write a .po file."""
    path.write_text("\n".join("\n".join(_lines(entry)) + "\n" for entry in entries), encoding="utf-8")


def compiled(entries: Iterable[Entry]) -> bytes:
    """Return the .mo file's content: a table of texts, sorted, and one of translations, without a hash table."""
    pairs = sorted(_pair(entry) for entry in entries if entry.is_translated or not entry.msgid)
    tables_bytes = 8 * len(pairs)
    start = 4 * _HEADER_WORDS
    header = struct.pack("<7I", _MAGIC, 0, len(pairs), start, start + tables_bytes, 0, 0)
    texts, where = b"", start + 2 * tables_bytes
    tables = []
    for column in (0, 1):
        for pair in pairs:
            tables.append(struct.pack("<2I", len(pair[column]), where + len(texts)))
            texts += pair[column] + b"\0"
    return header + b"".join(tables) + texts


def _pair(entry: Entry) -> tuple[bytes, bytes]:
    key = f"{entry.context}\x04{entry.msgid}" if entry.context else entry.msgid
    if entry.plural:
        return f"{key}\0{entry.plural}".encode(), "\0".join([entry.msgstr, *entry.forms]).encode()
    return key.encode(), entry.msgstr.encode()


def _parsed(block: str) -> Entry:
    entry, fields = Entry(msgid=""), dict[str, str]()
    name = ""
    for line in block.splitlines():
        if line.startswith("#:"):
            entry.references += line[2:].split()
        elif line.startswith("#,"):
            entry.fuzzy = "fuzzy" in line
        elif line.startswith('"'):
            fields[name] += ast.literal_eval(line)
        elif line and not line.startswith("#"):
            name, _, text = line.partition(" ")
            fields[name] = ast.literal_eval(text)
    entry.msgid, entry.plural, entry.context = (fields.get(key, "") for key in ("msgid", "msgid_plural", "msgctxt"))
    first, *entry.forms = [text for name, text in sorted(fields.items()) if name.startswith("msgstr")]
    entry.msgstr = first
    return entry


def _lines(entry: Entry) -> Iterator[str]:
    yield from (f"#: {reference}" for reference in entry.references)
    if entry.fuzzy:
        yield "#, fuzzy"
    if entry.context:
        yield from _field("msgctxt", entry.context)
    yield from _field("msgid", entry.msgid)
    if not entry.plural:
        yield from _field("msgstr", entry.msgstr)
        return
    yield from _field("msgid_plural", entry.plural)
    for number, form in enumerate([entry.msgstr, *entry.forms]):
        yield from _field(f"msgstr[{number}]", form)


def _field(name: str, text: str) -> Iterator[str]:
    pieces = _pieces(text)
    if len(pieces) == 1:
        yield f"{name} {_quoted(pieces[0])}"
        return
    yield f'{name} ""'
    yield from map(_quoted, pieces)


def _pieces(text: str) -> list[str]:
    """Cut a text into lines: after each line break, and before a word that would make a line too long."""
    pieces = [""]
    for line in text.splitlines(keepends=True):
        for word in line.replace(" ", " \0").split("\0"):
            if pieces[-1] and (pieces[-1].endswith("\n") or len(pieces[-1]) + len(word) > _WIDTH):
                pieces.append("")
            pieces[-1] += word
    return pieces


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
