"""Mutated outputs of each family of tools: no crash, no hang, no flood of memory.

`python -m bench.toolformats.mutations tests/toolformats/outputs`.

Each output in the folder is mutated by what pastes, terminals and cut files do, and by random bytes, with a seed that
is printed. Exits 1 for an exception other than ToolFormatError, or a text that took longer than a second. `--large`
reads a file of 5 MB of each family and prints the most memory that it took.
"""

import argparse
import random
import sys
import time
import traceback
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from benchweb.toolformats.document import read_bytes
from benchweb.toolformats.plain_text import MAX_BYTES
from benchweb.toolformats.readings import ToolFormatError

LONGEST_SECONDS = 1.0
MOST_MEMORY_BYTES = 50_000_000
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="outputs to mutate, such as tests/toolformats/outputs")
    parser.add_argument("--count", type=int, default=20_000, help="mutated texts of each family")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--large", action="store_true", help="measure the memory that 5 MB take instead")
    options = parser.parse_args()
    families = by_family(options.folder)
    if options.large:
        return 1 if sum(is_large_held(name, outputs) is False for name, outputs in families.items()) else 0
    print(f"seed {options.seed}, {options.count:,} texts of each family")
    failures = 0
    for name, outputs in families.items():
        slowest, failed = tried(outputs, options.count, random.Random(f"{options.seed} {name}"))
        failures += failed + (slowest > LONGEST_SECONDS)
        print(f"{name:12} {failed} failed, slowest {slowest * 1e3:,.0f} ms", flush=True)
    return 1 if failures else 0


def by_family(folder: Path) -> Mapping[str, list[bytes]]:
    """Return the outputs of each tool, by the first word of their names."""
    families: dict[str, list[bytes]] = defaultdict(list)
    for path in sorted(folder.iterdir()):
        families[path.stem.split("_")[0]].append(path.read_bytes())
    return families


def tried(outputs: list[bytes], count: int, chance: random.Random) -> tuple[float, int]:
    """Read `count` mutated outputs; return the slowest's seconds and how many failed."""
    slowest, failed = 0.0, 0
    for content in mutated(outputs, count, chance):
        begun = time.perf_counter()
        try:
            read_bytes(content)
        except ToolFormatError:
            pass
        except Exception:
            failed += 1
            traceback.print_exc()
            print(repr(content[:2000]), file=sys.stderr)
        took = time.perf_counter() - begun
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
    """Read a family's outputs one after the other up to the largest file; print and judge memory and time."""
    joined = b"\n".join(outputs) + b"\n"
    content = joined * max(1, MAX_BYTES // len(joined))
    tracemalloc.start()
    read_bytes(content)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    begun = time.perf_counter()
    read = read_bytes(content)
    took = time.perf_counter() - begun
    size = f"{len(content) / 1e6:.1f} MB, {len(read.readings):,} readings"
    print(f"{name:12} {size}: {most / 1e6:.0f} MB of memory, {took:.1f} s", flush=True)
    return most <= MOST_MEMORY_BYTES and took <= LONGEST_SECONDS


if __name__ == "__main__":
    sys.exit(main())
