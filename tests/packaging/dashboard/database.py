"""A database on the tests' server, reached as the operator reaches the one of its container."""

import subprocess
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict

from benchweb.ops.running import postgres


class Database:
    """One database, and a folder to run programs in."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.host = str(conninfo_to_dict(settings.DATABASE_URL)["host"])
        self._folder = folder

    def run(self, words: list[str]) -> int:
        """Run a command with the server's own programs."""
        environment = {"PATH": f"{postgres.binary('psql').parent}:/usr/bin:/bin", "PGHOST": self.host}
        return subprocess.run(words, check=False, cwd=self._folder, env=environment, timeout=120).returncode

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Run one statement and commit it."""
        with psycopg.connect(settings.DATABASE_URL, dbname=self.name) as connection:
            return connection.execute(statement).fetchall()
