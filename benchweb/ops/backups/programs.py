"""PostgreSQL's own pg_dump and pg_restore: those that `up` brings along, else the system's."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from benchweb.ops.backups.errors import BackupError
from benchweb.ops.running import postgres
from benchweb.ops.running.home import Home
from benchweb.ops.running.processes import SetupError

# Databases that a server has: to be on none that is about to be renamed.
_MAINTENANCE = ("postgres", "template1")

# What a user set for other sessions, and may name another database.
_FOR_OTHERS = ("PGOPTIONS", "PGSERVICE")


def program(name: str, server_version: int) -> Path:
    """Return a program that is no older than the server, whose version is as in 180003; raise BackupError."""
    major = server_version // 10_000
    found = list(_candidates(name))
    for path in found:
        if _major(path) >= major:
            return path
    text = f"it is version {_major(found[0])}, and the database {major}" if found else "it isn't installed"
    raise BackupError(
        f"{name} can't be used: {text}. Install PostgreSQL's client programs of version {major} or newer."
    )


def _candidates(name: str) -> Iterator[Path]:
    try:
        own = postgres.binary(name)
        if os.access(own, os.X_OK):
            yield own
    except SetupError:
        pass
    if found := shutil.which(name):
        yield Path(found)


def _major(path: Path) -> int:
    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"(\d+)", text)
    return int(found[1]) if found else 0


def database_name() -> str:
    """Return the name of the database in use."""
    return str(connection.settings_dict["NAME"])


def session(database: str = "", **options: Any) -> "psycopg.Connection[Any]":
    """Open a session of one's own, without any of the limits that pages and workers have; raise BackupError."""
    names = [database] if database else [name for name in _MAINTENANCE if name != database_name()]
    for name in names:
        try:
            text = make_conninfo(**_parameters(name), application_name="benchweb backup")
            return psycopg.connect(text, **options)
        except psycopg.OperationalError as error:
            fault = str(error).strip().splitlines()[0]
    raise BackupError(f"The database can't be reached: {fault}. Start it, or correct BENCHWEB_DATABASE_URL.")


def program_environment(database: str) -> dict[str, str]:
    """Return the environment in which PostgreSQL's programs reach a database: `ps` would show a password to all."""
    names = {"dbname": "PGDATABASE"} | {name: f"PG{name.upper()}" for name in ("host", "port", "user", "password")}
    # How to reach a server stays, such as PGSSLMODE and PGPASSFILE.
    inherited = {name: value for name, value in os.environ.items() if name not in _FOR_OTHERS}
    own = {names[name]: value for name, value in _parameters(database).items()}
    return {**inherited, **own, "PGAPPNAME": "benchweb backup", "PGCONNECT_TIMEOUT": "10", "LC_ALL": "C"}


def _parameters(database: str) -> Mapping[str, str]:
    given = connection.settings_dict
    named = {"host": "HOST", "port": "PORT", "user": "USER", "password": "PASSWORD"}
    return {"dbname": database} | {name: str(given[key]) for name, key in named.items() if given[key]}


def is_own_server() -> bool:
    """Tell whether the database is the embedded one of this machine's state folder."""
    home = Home(settings.BENCHWEB_HOME)
    return home.postgres.is_dir() and str(connection.settings_dict["HOST"]) == str(home.sockets)
