"""Read and write the translations in benchweb/locale, and make of them what gettext loads, in the state folder."""

import re
from pathlib import Path

import polib

LOCALE = Path(__file__).resolve().parents[1] / "locale"
SOURCE = Path("LC_MESSAGES") / "django.po"
_WIDTH = 112
_REFERENCES = re.compile(r"^#: (.+)$", re.MULTILINE)


def sources() -> list[Path]:
    """Return the languages' files."""
    return sorted(LOCALE.glob(f"*/{SOURCE}"))


def read(source: Path) -> polib.POFile:
    """Return the texts of a language's file."""
    return polib.pofile(str(source), wrapwidth=_WIDTH)


def write(source: Path, texts: polib.POFile) -> None:
    """Write a language's file, a line for each file that uses a text: two branches seldom touch the same lines."""
    written = str(texts).removeprefix("#\n")
    source.write_text(_REFERENCES.sub(lambda found: "#: " + found[1].replace(" ", "\n#: "), written), encoding="utf-8")


def compile_translations(target: Path) -> list[Path]:
    """Write a .mo file per language below `target`, each whole at once; return what was written."""
    written = []
    for source in sources():
        compiled = target / source.relative_to(LOCALE).with_suffix(".mo")
        compiled.parent.mkdir(parents=True, exist_ok=True)
        # A process that starts meanwhile must not read half a file.
        unfinished = compiled.with_suffix(".new")
        unfinished.write_bytes(read(source).to_binary())
        unfinished.replace(compiled)
        written.append(compiled)
    return written
