"""Mutated outputs of each family of tools: no crash, no hang, no flood of memory.

`python -m bench.toolformats.mutations tests/toolformats/outputs`.

Each output in the folder is mutated by what pastes, terminals and cut files do, and by random bytes, with a seed that
is printed, in as many processes as there are CPUs. Prints of each family how many failed, the CPU time of the slowest
text, and by how much the largest process grew. Exits 1 for an exception other than ToolFormatError, or a text that
took longer than a second of CPU, whatever else the machine did. `--large` reads files of 5 MB of each family, of all
its outputs and of one line over and over (some minutes), and prints the most memory and time that one took.
"""

import argparse
import os
import random
import re
import resource
import sys
import time
import traceback
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from benchweb.toolformats.document import read_bytes
from benchweb.toolformats.plain_text import MAX_BYTES, Patience
from benchweb.toolformats.readings import ToolFormatError

LONGEST_SECONDS = 1.0
# Of 5 MB, tens of thousands of lines: reading that is quadratic takes minutes.
LONGEST_LARGE_SECONDS = 5.0
MOST_MEMORY_BYTES = 50_000_000
# One fault fails hundreds of texts alike.
_MOST_SHOWN = 3
# Of each output so many lines are repeated to 5 MB, of a table's width at least: no tool prints a million short ones.
_LINES_REPEATED, _SHORT_LINE, _DIFFERENT_ROWS = 6, 40, 2_000
_DECIMALS = re.compile(rb"(?<=\.)\d+")
_TOKENS = (
    b"nan",
    b"-nan%",
    b"1e999",
    b"-1.00",
    b"99999999999999999999",
    b"{",
    b'"',
    b"\xff\xfe",
    b"\0",
    b"\r",
    b"[SUM]",
    b"9" * 400,
    b"\n\n\n",
)


class _Unhurried(Patience):
    """As long as it takes: counting memory takes several times as long as reading."""

    @property
    def is_over(self) -> bool:
        return False


class Part(NamedTuple):
    """Some of a family's texts as a process of its own tried them."""

    slowest_seconds: float
    failed: int
    grown_bytes: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="outputs to mutate, such as tests/toolformats/outputs")
    parser.add_argument("--count", type=int, default=20_000, help="mutated texts of each family")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--only", nargs="*", default=[], help="families, instead of all")
    parser.add_argument("--large", action="store_true", help="measure the memory that 5 MB take instead")
    options = parser.parse_args()
    families = by_family(options.folder)
    families = {name: outputs for name, outputs in families.items() if not options.only or name in options.only}
    if options.large:
        return 1 if sum(is_large_held(name, outputs) is False for name, outputs in families.items()) else 0
    print(f"seed {options.seed}, {options.count:,} texts of each family")
    failures = 0
    for name, outputs in families.items():
        begun = time.perf_counter()
        parts = in_parallel(outputs, options.count, options.processes, f"{options.seed} {name}")
        slowest, failed = max(part.slowest_seconds for part in parts), sum(part.failed for part in parts)
        failures += failed + (slowest > LONGEST_SECONDS)
        grown, took = max(part.grown_bytes for part in parts), time.perf_counter() - begun
        figures = f"slowest {slowest * 1e3:,.0f} ms, a process grew by {grown / 1e6:.0f} MB, {took:,.0f} s"
        print(f"{name:12} {failed} failed, {figures}", flush=True)
    return 1 if failures else 0


def in_parallel(outputs: list[bytes], count: int, processes: int, seed: str) -> list[Part]:
    """Try a family's texts in new processes, an equal part in each, each part by a seed of its own."""
    counts = [count // processes + (number < count % processes) for number in range(processes)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        parts = [pool.submit(_part, outputs, each, f"{seed} {number}") for number, each in enumerate(counts)]
        return [part.result() for part in parts]


def _part(outputs: list[bytes], count: int, seed: str) -> Part:
    # All parsers are loaded before their memory is measured.
    read_bytes(outputs[0])
    before = _most_resident_bytes()
    slowest, failed = tried(outputs, count, random.Random(seed))
    return Part(slowest, failed, _most_resident_bytes() - before)


def _most_resident_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def by_family(folder: Path) -> Mapping[str, list[bytes]]:
    """Return the outputs of each tool, by the first word of their names."""
    families: dict[str, list[bytes]] = defaultdict(list)
    for path in sorted(folder.iterdir()):
        families[path.stem.split("_")[0]].append(path.read_bytes())
    return families


def tried(outputs: list[bytes], count: int, chance: random.Random) -> tuple[float, int]:
    """Read `count` mutated outputs; return the slowest's seconds of CPU and how many failed."""
    slowest, failed = 0.0, 0
    for content in mutated(outputs, count, chance):
        begun = time.process_time()
        try:
            read_bytes(content)
        except ToolFormatError:
            pass
        except Exception:
            failed += 1
            if failed <= _MOST_SHOWN:
                traceback.print_exc()
                print(repr(content[:2000]), file=sys.stderr)
        took = time.process_time() - begun
        slowest = max(slowest, took)
        if took > LONGEST_SECONDS:
            print(f"{took:.1f} s: {content[:500]!r}", file=sys.stderr)
    return slowest, failed


def mutated(outputs: list[bytes], count: int, chance: random.Random) -> Iterator[bytes]:
    """Yield outputs with one to six mutations each."""
    for _ in range(count):
        content = chance.choice(outputs)
        for _ in range(chance.randint(1, 6)):
            content = chance.choice(_MUTATIONS)(content, chance)
        yield content


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randint(0, len(content))]


def _flipped(content: bytes, chance: random.Random) -> bytes:
    if not content:
        return content
    position = chance.randrange(len(content))
    return content[:position] + bytes([chance.randrange(256)]) + content[position + 1 :]


def _inserted(content: bytes, chance: random.Random) -> bytes:
    position = chance.randint(0, len(content))
    return content[:position] + chance.choice(_TOKENS) + content[position:]


def _lines_moved(content: bytes, chance: random.Random) -> bytes:
    lines = content.split(b"\n")
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def _line_repeated(content: bytes, chance: random.Random) -> bytes:
    lines = content.split(b"\n")
    index = chance.randrange(len(lines))
    return b"\n".join(lines[:index] + [lines[index]] * chance.choice((2, 3, 50)) + lines[index:])


def _line_lost(content: bytes, chance: random.Random) -> bytes:
    lines = content.split(b"\n")
    del lines[chance.randrange(len(lines))]
    return b"\n".join(lines)


def _doubled(content: bytes, chance: random.Random) -> bytes:
    return content + content if len(content) < 50_000 else content


_MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _cut,
    _flipped,
    _flipped,
    _inserted,
    _inserted,
    _lines_moved,
    _line_repeated,
    _line_lost,
    _doubled,
)


def is_large_held(name: str, outputs: list[bytes]) -> bool:
    """Read large files of a family; print and judge the most memory and CPU time that one took."""
    most, slowest, count = 0, 0.0, 0
    for content in _large(outputs, random.Random(name)):
        begun = time.process_time()
        read_bytes(content)
        took = time.process_time() - begun
        tracemalloc.start()
        read_bytes(content, _Unhurried())
        grown = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        most, slowest, count = max(most, grown), max(slowest, took), count + 1
        if grown > MOST_MEMORY_BYTES or took > LONGEST_LARGE_SECONDS:
            print(f"{grown / 1e6:.0f} MB, {took:.1f} s: … {content[len(content) // 2 :][:200]!r}", file=sys.stderr)
    print(f"{name:12} {count} files of 5 MB: at most {most / 1e6:.0f} MB of memory, {slowest:.1f} s of CPU", flush=True)
    return most <= MOST_MEMORY_BYTES and slowest <= LONGEST_LARGE_SECONDS


def _large(outputs: list[bytes], chance: random.Random) -> Iterator[bytes]:
    """Yield all outputs one after the other as often as they fit, then some with one line over and over."""
    joined = b"\n".join(outputs) + b"\n"
    yield joined * max(1, MAX_BYTES // len(joined))
    for output in outputs:
        lines = output.splitlines()
        worded = [index for index, line in enumerate(lines) if len(line) >= _SHORT_LINE]
        for index in chance.sample(worded, min(len(worded), _LINES_REPEATED)):
            times = MAX_BYTES // (len(lines[index]) + 1)
            rows = [_renumbered(lines[index], chance) for _ in range(_DIFFERENT_ROWS)]
            repeated = [rows[number % _DIFFERENT_ROWS] for number in range(times)]
            yield b"\n".join([*lines[:index], *repeated, *lines[index + 1 :]])[:MAX_BYTES]


def _renumbered(line: bytes, chance: random.Random) -> bytes:
    """Return the line with other decimals."""
    return _DECIMALS.sub(lambda found: b"%0*d" % (len(found[0]), chance.randrange(10 ** len(found[0]))), line)


if __name__ == "__main__":
    sys.exit(main())
