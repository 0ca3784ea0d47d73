"""Make of the translations in benchweb/locale what gettext loads, in the state folder; standard library only."""

from pathlib import Path

from benchweb.ops import po_files

LOCALE = Path(__file__).resolve().parents[1] / "locale"
SOURCE = Path("LC_MESSAGES") / "django.po"


def sources() -> list[Path]:
    """Return the languages' files."""
    return sorted(LOCALE.glob(f"*/{SOURCE}"))


def compile_translations(target: Path) -> list[Path]:
    """Write a .mo file per language below `target`, each whole at once; return what was written."""
    written = []
    for source in sources():
        compiled = target / source.relative_to(LOCALE).with_suffix(".mo")
        compiled.parent.mkdir(parents=True, exist_ok=True)
        # A process that starts meanwhile must not read half a file.
        unfinished = compiled.with_suffix(".new")
        unfinished.write_bytes(po_files.compiled(po_files.read(source)))
        unfinished.replace(compiled)
        written.append(compiled)
    return written
