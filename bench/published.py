"""The tests of three published reports, by the tool that made them and by the engine, side by side.

`python3 -m bench.published [--seconds 2] [--only ping] [--markdown FILE]`: as root, with netperf, iperf3, sysstat, wrk,
nginx and ping. Two network namespaces of this machine take the place of the reports' two hosts; windows are
`--seconds` instead of the reports' own.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.truth.ground.topology import (
    ENGINE,
    SINK_ADDRESS,
    SINK_CONTROL,
    Link,
    Namespace,
    link,
    process,
    wait_for_port,
)

NETPERF_PORT, IPERF_PORT, NGINX_PORT = 12865, 5201, 8080
NGINX_URL = f"http://{SINK_ADDRESS}:{NGINX_PORT}/index.html"
SIZES = [1, 64, 128, 256, 512, 1024, 1500, 2048, 4096, 9000, 16384, 32768, 65536]
UDP_SIZES = [size for size in SIZES if size < 65536]
LIMIT_SECONDS = 300


@dataclass(frozen=True)
class Test:
    """One published test: what it was run with, and the engine's command for the same."""

    report: str
    title: str
    tool: str
    engine: str
    # Runs the tool in the namespaces and gives what is worth showing of its output.
    run: Callable[[Link, int], str]


def netperf(words: str, count: int = 1) -> Callable[[Link, int], str]:
    """Run so many netperf processes at once; their output, or of many the sum that people take."""

    def run(between: Link, seconds: int) -> str:
        line = f"netperf -H {SINK_ADDRESS} -p {NETPERF_PORT} -l {seconds} {words}"
        if count == 1:
            return _tail(_output(between.source, line), 4)
        with ThreadPoolExecutor(count) as pool:
            outputs = list(pool.map(lambda _: _output(between.source, line), range(count)))
        return f"sum of {count} processes:\n" + _summed(outputs)

    return run


def netperf_each(kind: str, option: str, sizes: list[int]) -> Callable[[Link, int], str]:
    """Run netperf once a size."""

    def run(between: Link, seconds: int) -> str:
        line = f"netperf -H {SINK_ADDRESS} -p {NETPERF_PORT} -l {seconds} -t {kind} -P 0 -- {option}"
        outputs = [_tail(_output(between.source, line.replace("SIZE", str(size))), 2) for size in sizes]
        return "\n".join(outputs)

    return run


def plain(words: str, lines: int) -> Callable[[Link, int], str]:
    """Run a command in the source's namespace."""

    def run(between: Link, seconds: int) -> str:
        return _tail(_output(between.source, words.replace("SECONDS", str(seconds))), lines)

    return run


def netperf_with_sar(words: str) -> Callable[[Link, int], str]:
    """Run netperf, and sar at the receiver meanwhile."""

    def run(between: Link, seconds: int) -> str:
        with ThreadPoolExecutor(1) as pool:
            line = f"netperf -H {SINK_ADDRESS} -p {NETPERF_PORT} -l {seconds + 2} {words}"
            sent = pool.submit(_output, between.source, line)
            time.sleep(1)
            counted = _output(between.sink, f"sar -n DEV 1 {seconds}")
            average = [line for line in counted.splitlines() if line.startswith("Average:")]
            interfaces = [line for line in average if "IFACE" in line or " data " in line]
            return _tail(sent.result(), 3) + "\n" + "\n".join(interfaces)

    return run


def ping(load: int) -> Callable[[Link, int], str]:
    """Ping, idle or beside so many netperf processes."""

    def run(between: Link, seconds: int) -> str:
        line = f"ping -c {seconds * 10} -i 0.1 {SINK_ADDRESS}"
        if not load:
            return _tail(_output(between.source, line), 2)
        words = f"netperf -H {SINK_ADDRESS} -p {NETPERF_PORT} -l {seconds + 4} -t TCP_RR -- -r 32,1024"
        with ThreadPoolExecutor(load) as pool:
            running = [pool.submit(_output, between.source, words) for _ in range(load)]
            time.sleep(2)
            tail = _tail(_output(between.source, line), 2)
            for process in running:
                process.result()
        return tail

    return run


REPORT_QEMU = "netperf on openEuler riscv64 in QEMU"
REPORT_METHODS = "Network performance tests (iperf3, netperf, sar, wrk)"
REPORT_BASELINE = "Server baseline PI129v1, network card"
ALL_SIZES = ",".join(map(str, SIZES))
ALL_UDP_SIZES = ",".join(map(str, UDP_SIZES))


def tests() -> list[Test]:
    """Return every network test of the reports, in their order."""
    qemu = [
        (
            "TCP_STREAM over message sizes",
            "netperf -t TCP_STREAM -l 60 -- -m SIZE",
            f"tcp_stream --set message_size_bytes={ALL_SIZES}",
            netperf_each("TCP_STREAM", "-m SIZE", SIZES),
        ),
        (
            "UDP_STREAM over message sizes",
            "netperf -t UDP_STREAM -l 60 -- -m SIZE",
            f"udp_stream --set message_size_bytes={ALL_UDP_SIZES}",
            netperf_each("UDP_STREAM", "-m SIZE", UDP_SIZES),
        ),
        ("TCP_RR 1/1", "netperf -t TCP_RR", "tcp_rr", netperf("-t TCP_RR")),
        ("TCP_CRR 1/1", "netperf -t TCP_CRR", "tcp_crr", netperf("-t TCP_CRR")),
        ("UDP_RR 1/1", "netperf -t UDP_RR", "udp_rr", netperf("-t UDP_RR")),
    ]
    methods = [
        (
            "Throughput",
            "iperf3 -c HOST",
            "tcp_stream --set message_size_bytes=131072",
            plain(f"iperf3 -c {SINK_ADDRESS} -t SECONDS", 5),
        ),
        (
            "Jitter and loss",
            "iperf3 -c HOST -u",
            "udp_stream --set message_size_bytes=1448 --set rate_bps=1048576",
            plain(f"iperf3 -c {SINK_ADDRESS} -u -t SECONDS", 5),
        ),
        (
            "Packets of a TCP stream",
            "netperf -l 30 -- -m 1; sar -n DEV 1 20",
            "tcp_stream --set message_size_bytes=1",
            netperf_with_sar("-- -m 1"),
        ),
        (
            "Packets sent, UDP",
            "netperf -t UDP_STREAM -l 20 -- -m 1",
            "udp_stream --set message_size_bytes=1",
            netperf("-t UDP_STREAM -- -m 1"),
        ),
        (
            "Packets received, UDP",
            "netperf -t UDP_STREAM -l 30 -- -m 1; sar -n DEV 1 20",
            "udp_stream --set message_size_bytes=1",
            netperf_with_sar("-t UDP_STREAM -- -m 1"),
        ),
        (
            "Requests of 10,000 connections",
            "wrk -t4 -c10000 -d10s http://HOST/index.html",
            f"http_load --set url={NGINX_URL} --set threads=4 --set connections=10000",
            plain(f"wrk -t4 -c10000 -dSECONDSs {NGINX_URL}", 8),
        ),
    ]
    baseline = [
        (
            f"{size} B over TCP, 160 flows",
            f"160 × netperf -l 120 -t TCP_STREAM -- -m {size}",
            f"tcp_stream --set flows=160 --set message_size_bytes={size}",
            netperf(f"-t TCP_STREAM -P 0 -- -m {size}", 160),
        )
        for size in (256, 1400)
    ]
    baseline += [
        (
            "32 B/32 B, connections that stay, 300 flows",
            "300 × netperf -l 120 -t TCP_RR -- -r 32,32",
            "tcp_rr --set flows=300 --set request_size_bytes=32 --set response_size_bytes=32",
            netperf("-t TCP_RR -P 0 -- -r 32,32", 300),
        ),
        (
            "32 B/32 B, a connection each, 50 flows",
            "50 × netperf -l 120 -t TCP_CRR -- -r 32,32",
            "tcp_crr --set flows=50 --set request_size_bytes=32 --set response_size_bytes=32",
            netperf("-t TCP_CRR -P 0 -- -r 32,32", 50),
        ),
    ]
    baseline += [
        (
            f"{size} B over UDP, 6 flows",
            f"6 × netperf -l 120 -t UDP_STREAM -- -m {size}",
            f"udp_stream --set flows=6 --set message_size_bytes={size}",
            netperf(f"-t UDP_STREAM -P 0 -- -m {size}", 6),
        )
        for size in (32, 1424, 1500, 1)
    ]
    baseline += [
        ("Ping, idle", "ping -c3000 -i0.1 HOST", "ping --set count=COUNT --set probe_interval_seconds=0.1", ping(0)),
        (
            "Ping under load",
            "100 × netperf -l 3600 -t TCP_RR -- -r 32,1024; ping -c3000 -i0.1 HOST",
            """ping --set count=COUNT --set probe_interval_seconds=0.1 --set 'load={"kind": "tcp_rr", "params": """
            """{"flows": 100, "request_size_bytes": 32, "response_size_bytes": 1024}}'""",
            ping(100),
        ),
    ]
    reports = ((REPORT_QEMU, qemu), (REPORT_METHODS, methods), (REPORT_BASELINE, baseline))
    return [Test(report, *entry) for report, entries in reports for entry in entries]


def engine_output(between: Link, test: Test, seconds: int) -> str:
    """Run the engine's command as a person would; its summary."""
    words = test.engine.replace("COUNT", str(seconds * 10))
    duration = "" if words.startswith("ping") else f" --set duration_seconds={seconds}"
    peer = f"--peer {SINK_CONTROL} --data-address {SINK_ADDRESS} --token-file {between.token}"
    line = f"{ENGINE} run {words}{duration} {peer}"
    return _output(between.source, line).strip()


@contextmanager
def peers() -> Iterator[Link]:
    """Two namespaces with all the tools' servers in the second."""
    with ExitStack() as stack:
        between = stack.enter_context(link())
        sink = between.sink
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="published-")))
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        for words in (f"netserver -D -p {NETPERF_PORT}", f"iperf3 -s -p {IPERF_PORT}", _nginx(folder)):
            stack.enter_context(process(sink.words(*words.split()), **quiet))
        for port in (NETPERF_PORT, IPERF_PORT, NGINX_PORT):
            wait_for_port(sink, port)
        yield between


def _nginx(folder: Path) -> str:
    folder.chmod(0o755)
    (folder / "index.html").write_text("test qps\n")
    (folder / "nginx.conf").write_text(
        f"user root; daemon off; pid {folder}/pid; error_log /dev/null;\n"
        "worker_processes 2; worker_rlimit_nofile 40000;\n"
        "events { worker_connections 20000; multi_accept on; }\n"
        "http { access_log off; keepalive_requests 1000000000;\n"
        f"client_body_temp_path {folder}; proxy_temp_path {folder};\n"
        f"fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};\n"
        f"server {{ listen {NGINX_PORT} backlog=16384; root {folder}; }} }}\n"
    )
    return f"nginx -c {folder}/nginx.conf"


def _output(space: Namespace, line: str) -> str:
    words = space.words("sh", "-c", f"ulimit -n 65536; exec {line}")
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{line} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def _tail(text: str, lines: int) -> str:
    return "\n".join([line.rstrip() for line in text.splitlines() if line.strip()][-lines:])


def _summed(outputs: list[str]) -> str:
    """Add up the last figure of each line that netperf prints without its headings."""
    rows = [[line.split() for line in text.splitlines() if len(line.split()) >= 4] for text in outputs]
    sums = [sum(float(row[index][-1]) for row in rows if index < len(row)) for index in range(max(map(len, rows)))]
    return "\n".join(f"{value:,.2f}" for value in sums)


def block(test: Test, tool: str, engine: str) -> str:
    """Write one test as Markdown."""
    command = re.sub(r"COUNT", "3000", test.engine)
    return (
        f"#### {test.title}\n`{test.tool}` →\n`benchweb-engine run {command}`\n```\n{tool}\n```\n```\n{engine}\n```\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--only", default="", help="part of a test's title")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    written, report = [], ""
    with peers() as between:
        for test in tests():
            if options.only.lower() not in test.title.lower():
                continue
            if test.report != report:
                report = test.report
                written.append(f"### {report}\n")
            text = block(test, test.run(between, options.seconds), engine_output(between, test, options.seconds))
            print(text, flush=True)
            written.append(text)
    if options.markdown:
        options.markdown.write_text("\n".join(written))


if __name__ == "__main__":
    main()
