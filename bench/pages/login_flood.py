"""Flood the log-in page and watch /healthz meanwhile.

python3 -m bench.pages.login_flood URL [--count 200] [--at-once 40]
"""

import argparse
import http.client
import statistics
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode, urlsplit

WATCH_PERIOD_SECONDS = 0.05


def main() -> None:
    """Print what the log-ins were answered, and how long /healthz took before and meanwhile."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=40)
    options = parser.parse_args()
    address = urlsplit(options.url).netloc
    _report("/healthz before", [_health_seconds(address) for _ in range(20)])
    meanwhile: list[float] = []
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(address, over, meanwhile))
    watcher.start()
    began = time.monotonic()
    with ThreadPoolExecutor(options.at_once) as many:
        answers = list(many.map(lambda number: _wrong_login(address, number), range(options.count)))
    seconds = time.monotonic() - began
    over.set()
    watcher.join()
    print(f"{options.count} wrong log-ins, {options.at_once} at once, in {seconds:.1f} s: {dict(Counter(answers))}")
    _report("/healthz meanwhile", meanwhile)


def _wrong_login(address: str, number: int) -> int:
    host = http.client.HTTPConnection(address, timeout=120)
    token = "t" * 32
    form = urlencode({"username": "demo", "password": f"wrong {number}", "csrfmiddlewaretoken": token})
    headers = {"Cookie": f"csrftoken={token}", "Content-Type": "application/x-www-form-urlencoded"}
    host.request("POST", "/login", body=form, headers=headers)
    answer = host.getresponse()
    answer.read()
    host.close()
    return answer.status


def _health_seconds(address: str) -> float:
    began = time.monotonic()
    host = http.client.HTTPConnection(address, timeout=120)
    host.request("GET", "/healthz")
    host.getresponse().read()
    host.close()
    return time.monotonic() - began


def _watch(address: str, over: threading.Event, times: list[float]) -> None:
    while not over.is_set():
        times.append(_health_seconds(address))
        time.sleep(WATCH_PERIOD_SECONDS)


def _report(what: str, seconds: list[float]) -> None:
    middle, most = statistics.median(seconds) * 1000, max(seconds) * 1000
    print(f"{what}: median {middle:.0f} ms, most {most:.0f} ms, {len(seconds)} calls")


if __name__ == "__main__":
    main()
