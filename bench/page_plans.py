"""The plans of pages' queries, kept as text, and the sequential scans of large tables in them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg

from bench.rig.rig import Rig

LARGE = {"results_point", "results_runfigure", "results_result", "runs_trial", "runs_run"}


class Plans:
    """Explains queries page by page."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._kept: list[str] = []

    def explain(self, page: str, queries: Sequence[Mapping[str, Any]]) -> set[str]:
        """Keep the plans of a page's queries; give the large tables that one of them reads from end to end."""
        scanned: set[str] = set()
        with psycopg.connect(self._rig.database_url, autocommit=True) as connection:
            connection.execute("set plan_cache_mode = force_generic_plan")
            for number, query in enumerate(queries, start=1):
                if not query["sql"].lstrip("( \n").lower().startswith(("select", "with")):
                    continue
                statement = _explainable(connection, f"query_{number}", query)
                plan = connection.execute(f"explain (format json) {statement}".encode()).fetchone()[0][0]["Plan"]
                scanned |= {table for kind, table in _scans(plan) if kind == "Seq Scan" and table in LARGE}
                lines = connection.execute(f"explain {statement}".encode()).fetchall()
                text = "\n".join(_shortened(line[0]) for line in lines)
                once = "" if query["types"] is None else ", planned once"
                self._kept.append(f"== {page}, query {number}{once}: {_shortened(query['sql'].strip())}\n{text}\n")
        return scanned

    def write(self, file: Path, heading: str) -> None:
        """Write all plans."""
        file.write_text(f"Plans of every page's queries with {heading}, by bench.pages.\n\n" + "\n".join(self._kept))


def _explainable(connection: psycopg.Connection[Any], name: str, query: Mapping[str, Any]) -> str:
    """Give what EXPLAIN takes: the statement, or the call of one that is prepared here for any values."""
    if query["types"] is None:
        return str(query["sql"])
    # Object id 0 leaves it to PostgreSQL to tell the type.
    types = ", ".join(
        connection.execute("select %s::oid::regtype::text", [oid]).fetchone()[0] if oid else "unknown"  # type: ignore[index]
        for oid in query["types"]
    )
    connection.execute(f"prepare {name} {f'({types})' if types else ''} as {query['sql']}".encode())
    nothing = ", ".join(["null"] * len(query["types"]))
    return f"execute {name}" + (f"({nothing})" if nothing else "")


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
