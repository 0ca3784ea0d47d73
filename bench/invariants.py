"""Ask bench/invariants.sql of a database: `python3 -m bench.invariants [--database URL]`; status 1 when one breaks.

It reads only.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import psycopg

QUERY = (Path(__file__).parent / "invariants.sql").read_text()


@dataclass(frozen=True)
class Broken:
    """A rule that doesn't hold."""

    rule: str
    times: int
    first_ids: list[int]

    def __str__(self) -> str:
        return f"{self.rule}: {self.times} times, such as {self.first_ids}"


def broken_rules(database_url: str) -> list[Broken]:
    """Return the rules that don't hold; none when all is as it must be."""
    with psycopg.connect(database_url) as connection:
        return [Broken(*row) for row in connection.execute(QUERY.encode()).fetchall()]


def main() -> int:
    """Print what is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", help="its URL; else the one that BENCHWEB_HOME's `up` runs on")
    url = parser.parse_args().database
    if not url:
        from benchweb import settings

        url = settings.DATABASE_URL
    broken = broken_rules(url)
    print("\n".join(map(str, broken)) or "Every rule holds.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
