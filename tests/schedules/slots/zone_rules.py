"""A time zone whose rules change: files as the system's database has them, made here."""

import struct
from pathlib import Path

from benchweb.schedules.timing.localtime import zones_forget

# On the other side of the world from where anybody's law is.
ZONE = "Test/Island"


class Zones:
    """A database of zones in a folder, which holds one zone."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / ZONE

    def enact(self, rules: str, *, is_known: bool = True) -> None:
        """Let the zone have rules in POSIX's form, such as CET-1CEST,M3.5.0,M10.5.0/3; processes may not know yet."""
        self._file.parent.mkdir(exist_ok=True)
        header = b"TZif2" + bytes(15) + struct.pack(">6L", 0, 0, 0, 0, 1, 4)
        block = header + struct.pack(">lBB", 0, 0, 0) + b"LMT\0"
        self._file.write_bytes(block * 2 + f"\n{rules}\n".encode())
        if is_known:
            zones_forget()
