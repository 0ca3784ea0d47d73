"""Memory and disk of this host: engine : mbw, STREAM and fio, interleaved medians; a tool against itself is the noise.

Needs mbw, fio, gcc and a release build. `--stream stream.c` compiles STREAM itself; else its four loops are taken.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
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
    text = printed("taskset", "-c", CPU, "mbw", "-q", "-n", str(PASSES), option, str(ARRAY_MEBIBYTES))
    found = re.search(r"AVG.*Copy: ([\d.]+) MiB/s", text)
    assert found, text
    return float(found[1]) * MEBI


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


def fio(file: Path, pattern: str, depth: int, seconds: float) -> float:
    text = printed(
        *("fio", "--name=j", "--thread", f"--filename={file}", f"--rw={pattern}", "--bs=4096", f"--iodepth={depth}"),
        *(f"--size={DISK_BYTES}", "--direct=1", "--ioengine=libaio", "--time_based", f"--runtime={seconds:.0f}"),
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


def compare(name: str, share: float, rounds: int, ours: Callable[[], float], peer: Callable[[], float]) -> bool:
    """Run peer, ours and peer again in turn; print the medians' ratios, and tell whether ours is within the share."""
    first, mine, second = [], [], []
    for _ in range(rounds):
        first.append(peer())
        mine.append(ours())
        second.append(peer())
    theirs, own = statistics.median(first + second), statistics.median(mine)
    noise = statistics.median(first) / statistics.median(second)
    is_within = abs(own / theirs - 1) <= share
    print(f"| {name} | {own:,.4g} | {own / theirs:.3f} | {noise:.3f} | {'yes' if is_within else 'NO'} |", flush=True)
    return is_within


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5, help="of each disk test")
    parser.add_argument("--stream", type=Path, default=Path(__file__).with_name("four_loops.c"))
    parser.add_argument("--folder", type=Path, default=ROOT / "engine" / "target", help="on the disk to be measured")
    options = parser.parse_args()
    rounds, seconds = options.rounds, options.seconds
    print("| test | engine | : tool | tool : tool | within |\n|---|---|---|---|---|")
    verdicts = []
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        program = compiled(options.stream, folder)
        for kernel, option in MBW.items():
            ours, peer = partial(memory, kernel, "memory_mean_bytes_per_second"), partial(mbw, option)
            verdicts.append(compare(f"mbw {kernel}", MEMORY_SHARE, rounds, ours, peer))
        for kernel in STREAM:
            ours, peer = partial(memory, kernel, "memory_bytes_per_second"), partial(stream, program, kernel)
            verdicts.append(compare(f"STREAM {kernel}", MEMORY_SHARE, rounds, ours, peer))
        file = folder / "file"
        printed("fio", "--name=j", f"--filename={file}", "--rw=write", "--bs=1M", f"--size={DISK_BYTES}", "--direct=1")
        for pattern, depth in (("randread", 1), ("randwrite", 1), ("randread", 16), ("randwrite", 16)):
            for method in ("fio", "native"):
                ours = partial(disk, folder, method, pattern, depth, seconds)
                peer = partial(fio, file, pattern, depth, seconds)
                verdicts.append(compare(f"{pattern} {depth} by {method}", DISK_SHARE, rounds, ours, peer))
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
