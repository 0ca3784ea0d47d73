"""Memory and disk of this host: engine : mbw, STREAM and fio; a tool against itself is the noise.

Each round is the tool, the engine and the tool again; ratios are medians of the rounds' own, so that drift cancels.
Needs mbw, fio, gcc and a release build. `--stream stream.c` compiles STREAM itself; else its four loops are taken.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "engine" / "target" / "release" / "benchweb-engine"
MEBI = 1024**2
ARRAY_MEBIBYTES = 160
PASSES = 10
CPU = "0"
MBW = {"memcpy": "-t0", "dumb": "-t1", "mcblock": "-t2"}
STREAM = ("copy", "scale", "add", "triad")
MEMORY_SHARE, DISK_SHARE = 0.03, 0.05
DISK_BYTES = 256 * MEBI

Measure = Callable[[], float]


def printed(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def engine(kind: str, metric: str, *words: str, **params: object) -> float:
    settings = [word for name, value in params.items() for word in ("--set", f"{name}={value}")]
    document = json.loads(printed(str(ENGINE), "run", kind, "--json", "-q", *words, *settings))
    return float(document["metrics"][metric])


def memory(kernel: str, metric: str) -> float:
    size = ARRAY_MEBIBYTES * MEBI
    return engine("memory_bandwidth", metric, kernel=kernel, array_bytes=size, passes=PASSES, cpus=CPU)


def mbw(option: str) -> float:
    """Return the mean of all passes but the first, which the engine leaves out too."""
    text = printed("taskset", "-c", CPU, "mbw", "-q", "-n", str(PASSES), option, str(ARRAY_MEBIBYTES))
    rates = [float(found) * MEBI for found in re.findall(r"^\d+\t.*Copy: ([\d.]+) MiB/s", text, re.MULTILINE)]
    assert len(rates) == PASSES, text
    return statistics.harmonic_mean(rates[1:])


def stream(program: Path, kernel: str) -> float:
    text = printed("taskset", "-c", CPU, str(program))
    found = re.search(rf"^{kernel.title()}:\s+([\d.]+)\s+\d", text, re.MULTILINE)
    assert found, text
    return float(found[1]) * 1e6


def compiled(source: Path, folder: Path) -> Path:
    size = f"-DSTREAM_ARRAY_SIZE={ARRAY_MEBIBYTES * MEBI // 8}"
    program = folder / "stream"
    printed("gcc", "-O2", "-mcmodel=medium", size, f"-DNTIMES={PASSES}", str(source), "-o", str(program))
    return program


def fio(file: Path, pattern: str, depth: int, seconds: float, *, by_threads: bool) -> float:
    """Return operations a second in a file that was just laid out, as the engine's is: how makes half of the rate."""
    file.unlink(missing_ok=True)
    layout = ("--rw=write", "--bs=1M", f"--size={DISK_BYTES}", "--direct=1", "--refill_buffers")
    printed("fio", "--name=j", f"--filename={file}", *layout)
    text = printed(
        *("fio", "--name=j", "--thread", f"--filename={file}", f"--rw={pattern}", "--bs=4096"),
        *(f"--size={DISK_BYTES}", "--direct=1", "--time_based", f"--runtime={seconds:.0f}"),
        *(("--ioengine=psync", f"--numjobs={depth}") if by_threads else ("--ioengine=libaio", f"--iodepth={depth}")),
        *("--refill_buffers", "--norandommap", "--randrepeat=0", "--group_reporting", "--output-format=json"),
    )
    job = json.loads(text[text.index("{") :])["jobs"][0]
    return float(job["read"]["iops"]) + float(job["write"]["iops"])


def disk(folder: Path, method: str, pattern: str, depth: int, seconds: float) -> float:
    return engine(
        "disk_io",
        "iops",
        *("--disk-dir", f"{folder},any-filesystem"),
        method=method,
        pattern=pattern,
        depth=depth,
        file_size_bytes=DISK_BYTES,
        duration_seconds=seconds,
    )


def compare(name: str, share: float, rounds: int, ours: Measure, peer: Measure) -> bool:
    """Run peer, ours and peer again in turn; print the ratios' medians, and tell whether ours is within the share."""
    first, mine, second = [], [], []
    for _ in range(rounds):
        first.append(peer())
        mine.append(ours())
        second.append(peer())
    rounds_of_all = list(zip(first, mine, second, strict=True))
    ratio = statistics.median(2 * own / (before + after) for before, own, after in rounds_of_all)
    noise = statistics.median(before / after for before, _, after in rounds_of_all)
    is_within = abs(ratio - 1) <= share
    own = statistics.median(mine)
    print(f"| {name} | {own:,.4g} | {ratio:.3f} | {noise:.3f} | {'yes' if is_within else 'NO'} |", flush=True)
    return is_within


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="of each disk test; memory has four times as many")
    parser.add_argument("--only", default="", help="tests whose name has this in it")
    parser.add_argument("--seconds", type=float, default=5, help="of each disk test")
    parser.add_argument("--stream", type=Path, default=Path(__file__).with_name("four_loops.c"))
    parser.add_argument("--folder", type=Path, default=ROOT / "engine" / "target", help="on the disk to be measured")
    options = parser.parse_args()
    print("| test | engine | : tool | tool : tool | within |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        tests = list(comparisons(Path(name), options))
        verdicts = [compare(*test) for test in tests if options.only in test[0]]
    return 0 if all(verdicts) else 1


def comparisons(folder: Path, options: argparse.Namespace) -> Iterator[tuple[str, float, int, Measure, Measure]]:
    """Yield each test's name, the share that ours may be off, its rounds, and how ours and the tool measure it."""
    rounds, seconds = options.rounds, options.seconds
    program = compiled(options.stream, folder)
    for kernel, option in MBW.items():
        ours = partial(memory, kernel, "memory_mean_bytes_per_second")
        yield f"mbw {kernel}", MEMORY_SHARE, 4 * rounds, ours, partial(mbw, option)
    for kernel in STREAM:
        ours = partial(memory, kernel, "memory_bytes_per_second")
        yield f"STREAM {kernel}", MEMORY_SHARE, 4 * rounds, ours, partial(stream, program, kernel)
    for pattern, depth in (("randread", 1), ("randwrite", 1), ("randread", 16), ("randwrite", 16)):
        for method in ("fio", "native"):
            ours = partial(disk, folder, method, pattern, depth, seconds)
            # The engine's own way is a thread for each operation in flight, as fio's psync is.
            peer = partial(fio, folder / "file", pattern, depth, seconds, by_threads=method == "native")
            yield f"{pattern} {depth} by {method}", DISK_SHARE, rounds, ours, peer


if __name__ == "__main__":
    sys.exit(main())
