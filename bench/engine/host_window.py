"""Hold a result's interface counters against the kernel's own, and against `sar -n DEV 1` beside it.

Two engines in two network namespaces, joined by a veth pair. The script reads each interface's counters before the
source starts and after it has ended: the result's must be those, less the traffic of the set-up and the report.

Needs root (ip netns), sysstat and a release build of the engine. Exits 1 when a verdict fails.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ENGINE = Path(__file__).parents[2] / "engine/target/release/benchweb-engine"
SECONDS = 5
SOURCE, SINK = "hwin-source", "hwin-sink"
ADDRESSES = {SOURCE: "192.0.2.1", SINK: "192.0.2.2"}
"""Set-up, keep-alives, interval reports and the result itself pass outside the window, or beside the data."""
SET_UP_BYTES = 300_000
SAR_TOLERANCE = 0.05
"""sar's seconds begin when they like: the median of its whole seconds is compared."""


@dataclass(frozen=True)
class Counters:
    """Counters of one interface."""

    rx_bytes: int
    tx_bytes: int

    def since(self, before: "Counters") -> "Counters":
        """Subtract an earlier reading."""
        return Counters(self.rx_bytes - before.rx_bytes, self.tx_bytes - before.tx_bytes)


def inside(namespace: str, *words: str) -> list[str]:
    """Name the command that runs in a namespace."""
    return ["ip", "netns", "exec", namespace, *words]


def output(*words: str) -> str:
    """Run a command; its standard output."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def counters(namespace: str) -> Counters:
    """Read the veth interface's counters from the kernel."""
    for line in output(*inside(namespace, "cat", "/proc/net/dev")).splitlines():
        name, _, rest = line.partition(":")
        if name.strip() == "veth":
            values = [int(value) for value in rest.split()]
            return Counters(rx_bytes=values[0], tx_bytes=values[8])
    raise SystemExit(f"{namespace} has no interface veth")


def open_link() -> None:
    """Make both namespaces and the link between them."""
    for namespace in (SOURCE, SINK):
        subprocess.run(["ip", "netns", "add", namespace], check=True)
    subprocess.run(
        ["ip", "link", "add", "veth", "netns", SOURCE, "type", "veth", "peer", "name", "veth", "netns", SINK],
        check=True,
    )
    for namespace, address in ADDRESSES.items():
        subprocess.run(inside(namespace, "ip", "link", "set", "lo", "up"), check=True)
        subprocess.run(inside(namespace, "ip", "address", "add", f"{address}/24", "dev", "veth"), check=True)
        subprocess.run(inside(namespace, "ip", "link", "set", "veth", "up"), check=True)


def close_link() -> None:
    """Remove both namespaces; the link goes with them."""
    for namespace in (SOURCE, SINK):
        subprocess.run(["ip", "netns", "del", namespace], check=False)


def median_of_sar(report: str) -> tuple[float, float]:
    """Take rx and tx bytes per second from sar's whole seconds of veth; its kB are 1,024 bytes."""
    pattern = re.compile(r"^\d\d:\d\d:\d\d(?: [AP]M)?\s+veth\s+\S+\s+\S+\s+(\S+)\s+(\S+)", re.MULTILINE)
    rows = [(float(rx) * 1024, float(tx) * 1024) for rx, tx in pattern.findall(report)]
    # The first and the last second hold the test's begin and end.
    whole = rows[1:-1]
    return statistics.median(rx for rx, _ in whole), statistics.median(tx for _, tx in whole)


def run_case(folder: str, kind: str, settings: list[str]) -> bool:
    """Run one test and print each figure's ratio; whether all hold."""
    command = [
        str(ENGINE),
        "run",
        kind,
        "--peer",
        f"{ADDRESSES[SINK]}:7410",
        "--token-file",
        f"{folder}/token",
        "--json",
    ]
    for setting in (
        "congestion_control=reno" if kind == "tcp_stream" else "",
        f"duration_seconds={SECONDS}",
        *settings,
    ):
        command += ["--set", setting] if setting else []
    before = {namespace: counters(namespace) for namespace in ADDRESSES}
    sar = subprocess.Popen(
        inside(SINK, "sar", "-n", "DEV", "1", str(SECONDS)),
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"LC_ALL": "C", "S_TIME_FORMAT": "ISO"},
    )
    result = json.loads(output(*inside(SOURCE, *command)))
    report, _ = sar.communicate()
    holds = True
    for namespace, end in ((SOURCE, "source"), (SINK, "sink")):
        kernel = counters(namespace).since(before[namespace])
        nic = next(nic for nic in result["hosts"][end]["interfaces"] if nic["carries_test"])
        for direction, seen, whole in (
            ("rx", nic["rx_bytes"], kernel.rx_bytes),
            ("tx", nic["tx_bytes"], kernel.tx_bytes),
        ):
            is_equal = 0 <= whole - seen <= SET_UP_BYTES + 0.002 * whole
            holds = holds and is_equal
            ratio = seen / whole if whole else 1.0
            print(
                f"{kind:11} {end:6} {direction} result : kernel {ratio:.5f}, "
                f"{whole - seen} bytes apart: {verdict(is_equal)}"
            )
    rx, _ = median_of_sar(report)
    ratio = result["metrics"]["nic_rx_bytes_per_second"] / rx
    print(f"{kind:11} sink   rx result : median second of sar {ratio:.3f} {verdict(abs(ratio - 1) <= SAR_TOLERANCE)}")
    print(f"{kind:11} flags {', '.join(result['flags'])}")
    return holds and abs(ratio - 1) <= SAR_TOLERANCE


def verdict(holds: bool) -> str:
    """Say whether a figure holds."""
    return "holds" if holds else "DOES NOT HOLD"


def main() -> int:
    """Run every case; 1 when one doesn't hold."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "token").write_text("the-token-of-the-bench-of-the-engine\n")
        Path(folder, "token").chmod(0o600)
        open_link()
        serve = [str(ENGINE), "serve", "--listen", f"{ADDRESSES[SINK]}:7410", "--state-dir", f"{folder}/state"]
        engine = subprocess.Popen(inside(SINK, *serve, "--token-file", f"{folder}/token"), stdout=subprocess.DEVNULL)
        try:
            while not Path(folder, "state/listening.json").exists():
                time.sleep(0.05)
            cases = [("tcp_stream", ["rate_bps=1000000000"]), ("udp_stream", ["rate_bps=200000000"])]
            verdicts = [run_case(folder, kind, settings) for kind, settings in cases]
        finally:
            engine.terminate()
            engine.wait()
            close_link()
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
