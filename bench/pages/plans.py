"""The plans of pages' queries, kept as text, and the sequential scans of large tables in them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg

from bench.rig.rig import Rig

LARGE = {"results_point", "results_runfigure", "results_result", "runs_trial", "runs_run"}


class Plans:
    """Explains queries page by page."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._texts: list[str] = []

    def explain(self, page: str, queries: Sequence[str]) -> set[str]:
        """Keep the plans of a page's queries; return the large tables that one of them reads from end to end."""
        scanned: set[str] = set()
        with psycopg.connect(self._rig.database_url, autocommit=True) as connection:
            for number, statement in enumerate(queries, start=1):
                if not statement.lstrip("( \n").lower().startswith(("select", "with")):
                    continue
                [(explained,)] = connection.execute(f"explain (format json) {statement}".encode()).fetchall()
                plan = explained[0]["Plan"]
                scanned |= {table for kind, table in _scans(plan) if kind == "Seq Scan" and table in LARGE}
                lines = connection.execute(f"explain {statement}".encode()).fetchall()
                text = "\n".join(_shortened(line[0]) for line in lines)
                self._texts.append(f"== {page}, query {number}: {_shortened(statement.strip())}\n{text}\n")
        return scanned

    def write(self, file: Path, heading: str) -> None:
        """Write all plans."""
        file.write_text(f"Plans of every page's queries with {heading}, by bench.pages.\n\n" + "\n".join(self._texts))


def _scans(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield plan["Node Type"], plan.get("Relation Name", "")
    for part in plan.get("Plans", []):
        yield from _scans(part)


def _shortened(text: str) -> str:
    """Leave out what makes lines long or differ and says nothing: columns selected, lists of ids, a session's key."""
    text = re.sub(r"SELECT .*? FROM", "SELECT … FROM", text, flags=re.DOTALL)
    text = re.sub(r"'[a-z0-9]{32}'", "'…'", text)
    text = re.sub(r"\(?'?\{?(\d+, ?){5,}\d+\}?'?", "(…", text)
    return text if len(text) <= 400 else text[:400] + "…"
