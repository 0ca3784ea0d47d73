"""What pages and their chart data take with a million and with ten million points: `python3 -m bench.pages`.

Each size is a database of its own (as `up` sets it up), filled by generate_history, served by the real uvicorn worker.
Server time is taken by a client on loopback over one kept connection, so its own few microseconds are in it; 200
requests a page, each for another run, host, series and so on. Prints times, queries a page, sequential scans of large
tables, a series over a year beside the same rows by bare SQL, rates of ingest beside bare COPY, and bytes a point. A
virtual machine may run at half its speed for an hour: beside each page is what a fixed piece of Python takes meanwhile.
Its CPUs are kept from idling, by what runs only when nothing else wants to: waking up is the machine's time.
Keeps the plan of every query in --plans. The status is 1 when a promise of PROMISED doesn't hold at the largest size.
"""

import argparse
import json
import os
import re
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles

import psycopg

from bench.pages.addresses import PAGES, SAMPLES, Page, Samples
from bench.pages.people import fill_people
from bench.pages.plans import Plans
from bench.rig.rig import Rig
from bench.truth.ground.wakeups import awake_apart

SIZES = (1_000_000, 10_000_000)
WARM_UP = 10
# A series' chart data is set against bare SQL, and either may come at a bad moment.
ROUNDS_OF_A_YEAR = 3
# The fixed piece of work comes after so many requests, and goes round so often: some milliseconds.
WORK_EVERY, WORK_ROUNDS = 10, 10_000
# What ends an answer's head, and what tells how long the rest is.
_END, _LENGTH = b"\r\n\r\n", re.compile(rb"^content-length: *(\d+)", re.IGNORECASE | re.MULTILINE)
PROMISED = {"page_p95": 50.0, "large_page_p95": 60.0, "queries": 12}
# From so many points on the promise is the one of large histories.
LARGE_POINTS = 30_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="*", default=SIZES)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--only", default="", help="pages whose name has this in it")
    parser.add_argument("--plans", type=Path, help="a file for the plans of the largest size")
    parser.add_argument("--keep", type=Path, help="a folder for the databases, to be used again and left there")
    parser.add_argument("--no-ingest", action="store_true", help="leave out the rates of ingest")
    options = parser.parse_args()
    broken: list[str] = []
    for points in options.points:
        with Rig(keep_in=options.keep.resolve() / str(points) if options.keep else None) as rig:
            broken = measured(rig, points, options)
    print("\n" + ("\n".join(broken) if broken else "All that was promised holds at the largest size."))
    return 1 if broken else 0


def measured(rig: Rig, points: int, options: argparse.Namespace) -> list[str]:
    """Fill, measure, print; return what doesn't hold."""
    fill(rig, points)
    fill_people(rig)
    rig.run("-m", "django", "collectstatic", "--noinput", "--verbosity", "0")
    cookie = rig.run("-m", "bench.pages.queries", "log-in").strip()
    samples = {name: rig.rows(query, [options.requests]) for name, query in SAMPLES.items()}
    pages = [page for page in PAGES if options.only in page.name]
    plans = Plans(rig)
    rig.start("web")
    addresses = {page.name: [page.address(samples, number) for number in range(options.requests)] for page in pages}
    requested = json.dumps({name: address[:3] for name, address in addresses.items() if address[0]})
    queries = json.loads(rig.run("-m", "bench.pages.queries", "queries", text=requested))
    print(
        "| page | p50 ms | p95 ms | max ms | CPU ms | work ms | kB | queries | sequential scans |\n" + "|---" * 9 + "|"
    )
    broken: list[str] = []
    most_ms = PROMISED["large_page_p95" if points >= LARGE_POINTS else "page_p95"]
    with awake_apart():
        client = Client(rig.port, cookie)
        for page in pages:
            broken += row(page, addresses[page.name], client, rig, plans, queries.get(page.name, []), most_ms=most_ms)
        for page in pages:
            if page.promise == "year":
                year_of_a_series(page, samples, rig, client)
    sizes(rig)
    if not options.no_ingest:
        print(rig.run("-m", "bench.pages.ingest_rate"))
    if options.plans:
        plans.write(options.plans, f"{points:,} points")
    return broken


def fill(rig: Rig, points: int) -> None:
    """Generate, unless a kept database has points already."""
    print(f"\n## {points:,} points\n", flush=True)
    if not rig.rows("select exists (select from results_point)")[0][0]:
        begun = time.monotonic()
        output = rig.run("manage.py", "generate_history", "--points", str(points))
        print(f"{output.strip()} ({time.monotonic() - begun:.0f} s in all)\n", flush=True)


def row(
    page: Page,
    addresses: Sequence[str],
    client: "Client",
    rig: Rig,
    plans: Plans,
    queries: Sequence[list[str]],
    *,
    most_ms: float,
) -> list[str]:
    """Measure one page and print its row; return what doesn't hold."""
    if not addresses[0] or client.fetch(addresses[0])[0] == 404:
        print(f"| {page.name} | not there | | | | | | | |", flush=True)
        return []
    for address in addresses[:WARM_UP]:
        client.fetch(address)
    cpu_begun = cpu_seconds(rig)
    answers, works = [], []
    for number, address in enumerate(addresses):
        answers.append(client.fetch(address))
        if number % WORK_EVERY == 0:
            works.append(work() * 1_000)
    cpu = (cpu_seconds(rig) - cpu_begun) / len(answers) * 1_000
    if bad := {status for status, _, _ in answers if status != 200}:
        print(f"| {page.name} | answers {bad}, such as {addresses[0]} | | | | | | | |", flush=True)
        return [f"{page.name} answers {bad}"]
    times = [seconds * 1_000 for _, seconds, _ in answers]
    count = max(len(statements) for statements in queries)
    scans = plans.explain(page.name, queries[0])
    p95 = percentile(times, 95)
    size = median(size for _, _, size in answers) / 1_000
    print(
        f"| {page.name} | {median(times):.1f} | {p95:.1f} | {max(times):.1f} | {cpu:.1f} | {median(works):.1f} | "
        f"{size:.0f} | {count} | "
        f"{', '.join(sorted(scans)) or '–'} |",
        flush=True,
    )
    broken = [f"{page.name}: p95 {p95:.1f} ms"] if p95 > most_ms else []
    broken += [f"{page.name}: {count} queries"] if count > PROMISED["queries"] else []
    return broken + [f"{page.name}: a sequential scan of {table}" for table in sorted(scans)]


def work() -> float:
    """Do what pages are made of, calls, dictionaries and texts, without any page; return the seconds that it took."""
    begun = time.perf_counter()
    counts: dict[str, int] = {}
    for number in range(WORK_ROUNDS):
        key = f"a{number & 255}"
        counts[key] = counts.get(key, 0) + len(key.split("1"))
    return time.perf_counter() - begun


def year_of_a_series(page: Page, samples: Samples, rig: Rig, client: "Client") -> None:
    """Print what a year of one series takes as chart data, and the same rows by bare SQL, turn and turn about."""
    bare: list[float] = []
    data: list[float] = []
    statement = (
        "select at, value, run_id, trial_id from results_point "
        "where series_id = %s and at > now() - interval '365 days' order by at, trial_id"
    )
    with psycopg.connect(rig.database_url, autocommit=True) as connection:
        for number, (*_, series) in enumerate([*samples["series"]] * ROUNDS_OF_A_YEAR):
            begun = time.perf_counter()
            rows = connection.execute(statement, [series]).fetchall()
            bare.append((time.perf_counter() - begun) * 1_000)
            status, seconds, _ = client.fetch(page.address(samples, number))
            if status != 200:
                print(f"\nA series' chart data answers {status}.")
                return
            data.append(seconds * 1_000)
    ratio, p95 = median(data) / median(bare), percentile(data, 95)
    print(
        f"\nOne series over a year ({len(rows):,} points): chart data p50 {median(data):.1f} ms, p95 {p95:.1f} ms; "
        f"its rows by bare SQL p50 {median(bare):.1f} ms, p95 {percentile(bare, 95):.1f} ms; ratio {ratio:.1f}"
    )


def sizes(rig: Rig) -> None:
    """Print bytes a point: of its own table, and of all that came with it."""
    tables = ("results_point", "results_runfigure", "results_result", "runs_trial", "runs_run")
    stored = rig.rows(
        "select relname, pg_table_size(oid), pg_indexes_size(oid), reltuples::bigint from pg_class "
        "where relname = any(%s) order by 4 desc",
        [list(tables)],
    )
    points = next(count for name, _, _, count in stored if name == "results_point")
    print("\n| table | rows | bytes a row | of that indexes | bytes a point |\n|---|---|---|---|---|")
    for name, table, indexes, count in stored:
        print(
            f"| {name} | {count:,} | {(table + indexes) / count:.0f} | {indexes / count:.0f} | "
            f"{(table + indexes) / points:.0f} |"
        )
    whole = rig.rows("select pg_database_size(current_database())")[0][0]
    print(f"\nThe whole database: {whole / 1e9:.2f} GB, {whole / points:.0f} bytes a point.", flush=True)


def cpu_seconds(rig: Rig) -> float:
    """Return what the web and the database have used: on a busy machine the one figure that holds elsewhere."""
    ticks = 0
    web, postmaster = rig.running["web"].pid, rig.running["postgres"].pid
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(folder.name) == web or int(fields[1]) == postmaster:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def percentile(values: Sequence[float], rank: int) -> float:
    return quantiles(values, n=100, method="inclusive")[rank - 1] if len(values) > 1 else values[0]


class Client:
    """One kept connection with a session's cookie.

    By its socket: http.client takes a tenth of a millisecond to read headers, which would count as the server's.
    """

    def __init__(self, port: int, cookie: str) -> None:
        self._server = ("127.0.0.1", port)
        self._connection = socket.create_connection(self._server, timeout=60)
        self._used_at = time.monotonic()
        self._headers = f"Host: 127.0.0.1:{port}\r\nCookie: sessionid={cookie}\r\nAccept-Encoding: gzip\r\n\r\n"

    def fetch(self, address: str) -> tuple[int, float, int]:
        """Return status, seconds and bytes."""
        # The server ends connections that were silent for five seconds; a new one is made before the time is taken.
        if time.monotonic() - self._used_at > 3:
            self._connection.close()
            self._connection = socket.create_connection(self._server, timeout=60)
        self._used_at = time.monotonic()
        request = f"GET {address} HTTP/1.1\r\n{self._headers}".encode()
        begun = time.perf_counter()
        self._connection.sendall(request)
        answer = b""
        while _END not in answer:
            answer += self._more()
        head, _, content = answer.partition(_END)
        length = _LENGTH.search(head)
        if length is None:
            raise RuntimeError(f"{address} answers without a length: {head!r}")
        missing = int(length[1]) - len(content)
        while missing > 0:
            missing -= len(self._more())
        return int(head.split(b" ", 2)[1]), time.perf_counter() - begun, int(length[1])

    def _more(self) -> bytes:
        received = self._connection.recv(1 << 20)
        if not received:
            raise RuntimeError("the server closed the connection in the middle of an answer")
        return received


if __name__ == "__main__":
    sys.exit(main())
