"""Strangers who mean ill beside people at work: what the latter wait for, and what the former leave behind.

    python3 -m bench.strangers [--minutes 10] [--settings up|compose] [--only KIND …]

A rig of its own on 127.0.0.1: `manage.py up` with its demo, or the image's command in docker-compose.yml's environment
behind a proxy. A reader's pages, a token's calls, probes and a log-in go on all the time; strangers come in every other
round, all kinds at once. Ends with status 1 when the p95 of pages and calls beside them is over 3 times that without
(medians of the rounds), when any request of those at work failed, or when something is left behind.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence

from bench.strangers.crowd import KINDS, Crowd
from bench.strangers.installation import ByCompose, ByUp, Installation
from bench.strangers.leftovers import Reading, faults, reading, refused_afterwards
from bench.strangers.readers import CALLS, LOG_INS, PAGES, PROBES, Noted, Readers
from benchweb.ops.running.home import PROJECT

MOST_RATIO = 3.0
ROUND_SECONDS, SETTLE_SECONDS, REST_SECONDS = 20.0, 6.0, 60.0
# Time for 1,200 connections before those at work are timed, and for the process to tell what it was answered.
ARRIVAL_SECONDS, FAREWELL_SECONDS = 2.0, 30.0
_SHOWN_FAILURES = 5


def main() -> int:
    """Measure and print."""
    arguments = _arguments()
    with (ByUp if arguments.settings == "up" else ByCompose)() as site:
        return asyncio.run(_measured(site, arguments.minutes * 60, arguments.only))


async def _measured(site: Installation, seconds: float, only: list[str]) -> int:
    readers = Readers(site)
    await readers.log_in()
    # Everything is loaded, and each thread has been used once.
    await asyncio.gather(*(readers.round(ROUND_SECONDS) for _ in range(3)))
    await asyncio.sleep(SETTLE_SECONDS)
    before, begun = reading(site), time.monotonic()
    print(f"before:  {before}", flush=True)
    without, beside = [], []
    answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    while time.monotonic() < begun + seconds:
        without.append(await readers.round(ROUND_SECONDS))
        beside.append(await _round_beside(site, readers, only, answers))
        print(_told(without[-1], beside[-1]), flush=True)
        await asyncio.sleep(SETTLE_SECONDS)
    for kind, counts in answers.items():
        print(f"{kind:22}" + ", ".join(f"{answer}: {count:,}" for answer, count in counts.most_common()))
    await asyncio.sleep(REST_SECONDS)
    after = reading(site)
    print(f"after:   {after}", flush=True)
    left = [*faults(site, before, after, time.monotonic() - begun), *await refused_afterwards(site)]
    return _verdict(without, beside, left, before, after)


async def _round_beside(
    site: Installation, readers: Readers, only: list[str], answers: defaultdict[str, Counter[str]]
) -> Noted:
    source, addresses = site.strangers()
    seconds = ARRIVAL_SECONDS + ROUND_SECONDS
    crowd = Crowd(site.port, site.scheme, source, addresses, site.made.share, seconds, only)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.strangers.crowd", cwd=PROJECT, stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    told = asyncio.create_task(process.communicate(crowd.spoken().encode()))
    await asyncio.sleep(ARRIVAL_SECONDS)
    noted = await readers.round(ROUND_SECONDS)
    output, _ = await asyncio.wait_for(told, FAREWELL_SECONDS)
    for kind, counts in json.loads(output).items():
        answers[kind].update(counts)
    return noted


def _told(without: Noted, beside: Noted) -> str:
    def part(noted: Noted) -> str:
        return f"{noted.quantile(0.5, PAGES, CALLS) * 1000:.0f} / {noted.quantile(0.95, PAGES, CALLS) * 1000:.0f}"

    load = os.getloadavg()[0]
    failed = len(without.failures) + len(beside.failures)
    return f"p50 / p95 without {part(without)} ms, beside strangers {part(beside)} ms; {failed} failed; load {load:.1f}"


def _verdict(
    without: Sequence[Noted], beside: Sequence[Noted], left: list[str], before: Reading, after: Reading
) -> int:
    for kinds in ((PAGES, CALLS), (PAGES,), (CALLS,), (PROBES,), (LOG_INS,)):
        print(f"{' and '.join(kinds):16}without {_spread(without, *kinds)}, beside strangers {_spread(beside, *kinds)}")
    ratio = _median(beside, 0.95, PAGES, CALLS) / _median(without, 0.95, PAGES, CALLS)
    failures = [text for noted in [*without, *beside] for text in noted.failures]
    asked = sum(len(values) for noted in [*without, *beside] for values in noted.seconds.values())
    print(f"{len(beside)} rounds, {asked:,} requests of those at work, {len(failures)} failed")
    for text in [*failures[:_SHOWN_FAILURES], *(f"left behind: {fault}" for fault in left)]:
        print(text)
    holds = ratio <= MOST_RATIO and not failures and not left
    print(f"{'holds' if holds else 'does NOT hold'}: p95 is {ratio:.2f} of that without (promised are {MOST_RATIO:g})")
    return 0 if holds else 1


def _spread(rounds: Sequence[Noted], *kinds: str) -> str:
    p50, p95 = (_median(rounds, share, *kinds) * 1000 for share in (0.5, 0.95))
    return f"p50 {p50:.0f} ms p95 {p95:.0f} ms"


def _median(rounds: Sequence[Noted], share: float, *kinds: str) -> float:
    return statistics.median(noted.quantile(share, *kinds) for noted in rounds)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--settings", choices=["up", "compose"], default="up")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=[], help="the kinds that come; else all")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
