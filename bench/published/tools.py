"""The tools that the reports used, run in two network namespaces, and what is worth showing of their outputs."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.truth.ground.topology import SINK_ADDRESS, Link, Namespace, link, process, wait_for_port

NETPERF_PORT, IPERF_PORT, NGINX_PORT = 12865, 5201, 8080
LIMIT_SECONDS = 300


def netperf(words: str, count: int = 1) -> Callable[[Link, int], str]:
    """Run so many netperf processes at once; their output, or of many the sum that people take."""

    def run(between: Link, seconds: int) -> str:
        line = f"netperf -H {SINK_ADDRESS} -p {NETPERF_PORT} -l {seconds} {words}"
        if count == 1:
            return _tail(output(between.source, line), 4)
        with ThreadPoolExecutor(count) as pool:
            outputs = list(pool.map(lambda _: output(between.source, line), range(count)))
        return f"sum of {count} processes:\n" + _summed(outputs)

    return run


def netperf_each(kind: str, option: str, sizes: list[int]) -> Callable[[Link, int], str]:
    """Run netperf once a size."""

    def run(between: Link, seconds: int) -> str:
        line = f"netperf -H {SINK_ADDRESS} -p {NETPERF_PORT} -l {seconds} -t {kind} -P 0 -- {option}"
        outputs = [_tail(output(between.source, line.replace("SIZE", str(size))), 2) for size in sizes]
        return "\n".join(outputs)

    return run


def plain(words: str, lines: int) -> Callable[[Link, int], str]:
    """Run a command in the source's namespace."""

    def run(between: Link, seconds: int) -> str:
        return _tail(output(between.source, words.replace("SECONDS", str(seconds))), lines)

    return run


def netperf_with_sar(words: str) -> Callable[[Link, int], str]:
    """Run netperf, and sar at the receiver meanwhile."""

    def run(between: Link, seconds: int) -> str:
        with ThreadPoolExecutor(1) as pool:
            line = f"netperf -H {SINK_ADDRESS} -p {NETPERF_PORT} -l {seconds + 2} {words}"
            sent = pool.submit(output, between.source, line)
            time.sleep(1)
            counted = output(between.sink, f"sar -n DEV 1 {seconds}")
            average = [line for line in counted.splitlines() if line.startswith("Average:")]
            interfaces = [line for line in average if "IFACE" in line or " data " in line]
            return _tail(sent.result(), 3) + "\n" + "\n".join(interfaces)

    return run


def ping(load: int) -> Callable[[Link, int], str]:
    """Ping, idle or beside so many netperf processes."""

    def run(between: Link, seconds: int) -> str:
        line = f"ping -c {seconds * 10} -i 0.1 {SINK_ADDRESS}"
        if not load:
            return _tail(output(between.source, line), 2)
        words = f"netperf -H {SINK_ADDRESS} -p {NETPERF_PORT} -l {seconds + 4} -t TCP_RR -- -r 32,1024"
        with ThreadPoolExecutor(load) as pool:
            running = [pool.submit(output, between.source, words) for _ in range(load)]
            time.sleep(2)
            tail = _tail(output(between.source, line), 2)
            for process in running:
                process.result()
        return tail

    return run


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


def output(space: Namespace, line: str) -> str:
    """Run a line in a namespace and return what it printed; RuntimeError where it failed."""
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
