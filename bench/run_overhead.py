"""What the whole system adds to a run, and whether its numbers are what the loopback interface carried.

Needs a running benchweb in demo mode (`python3 manage.py up`); both engines of its pair are on this machine.
The plan is the contract's: three message sizes and one request/response test, 1 s each, three repetitions.

    python3 -m bench.run_overhead --url http://127.0.0.1:8000 --token-file .benchweb/demo-token [--rounds 3]

Prints, per round, the run's time beside its 12 s of test time, and the payload that the interface counted (its
bytes less 66 bytes of Ethernet, IPv4 and TCP header a packet) beside the sum of throughput x time of the stream trials.
"""

import argparse
import json
import statistics
import time
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import Any

HEADER_BYTES = 14 + 20 + 32
TEST_SECONDS = 12.0
ALLOWED_SECONDS_PER_TRIAL = 0.050
ALLOWED_SECONDS = 1.0
PLAN = {
    "name": "overhead",
    "repetitions": 3,
    "order": "interleaved",
    "steps": [
        {"kind": "tcp_stream", "params": {"message_size_bytes": [64, 1024, 16384], "duration_seconds": 1}},
        {"kind": "tcp_rr", "params": {"request_size_bytes": 1, "response_size_bytes": 1, "duration_seconds": 1}},
    ],
}


class Api:
    """The REST API with a token; every call has a time-out."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url.rstrip("/") + "/api/v1", token

    def call(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            self._url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)


def loopback() -> tuple[int, int]:
    """Return the bytes and packets that lo has received since boot."""
    folder = Path("/sys/class/net/lo/statistics")
    return int((folder / "rx_bytes").read_text()), int((folder / "rx_packets").read_text())


def finished(api: Api, run_id: int) -> dict[str, Any]:
    """Poll a run to its end, gently: the poll itself is load."""
    run: dict[str, Any] = api.call("GET", f"/runs/{run_id}")
    while run["state"] in {"pending", "running"}:
        time.sleep(0.5)
        run = api.call("GET", f"/runs/{run_id}")
    return run


def one_round(api: Api, plan: int, pair: int) -> dict[str, float]:
    """Run the plan once and compare."""
    bytes_before, packets_before = loopback()
    started = time.monotonic()
    run = finished(api, api.call("POST", "/runs", {"plan": plan, "pair": pair})["id"])
    wall_seconds = time.monotonic() - started
    bytes_after, packets_after = loopback()
    if run["state"] != "finished":
        raise SystemExit(f"run {run['id']} ended {run['state']}: {run['reason']}")
    span = datetime.fromisoformat(run["finished_at"]) - datetime.fromisoformat(run["started_at"])
    streams = [trial for trial in run["trials"] if trial["kind"] == "tcp_stream"]
    measured = sum(trial["metrics"]["throughput_bps"] * trial["params"]["duration_seconds"] / 8 for trial in streams)
    carried = bytes_after - bytes_before - HEADER_BYTES * (packets_after - packets_before)
    return {
        "trials": len(run["trials"]),
        "run_seconds": span.total_seconds(),
        "wall_seconds": wall_seconds,
        "overhead_seconds_per_trial": (span.total_seconds() - TEST_SECONDS) / len(run["trials"]),
        "measured_bytes": measured,
        "loopback_bytes": carried,
        "measured_to_loopback": measured / carried,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--token-file", type=Path, default=Path(".benchweb/demo-token"))
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    api = Api(arguments.url, arguments.token_file.read_text().strip())
    pair = api.call("GET", "/pairs")["items"][0]["id"]
    plan = api.call("POST", "/plans", PLAN)["id"]
    rounds = [one_round(api, plan, pair) for _ in range(arguments.rounds)]
    for number, values in enumerate(rounds, start=1):
        print(
            f"round {number}: {values['trials']} trials in {values['run_seconds']:.3f} s "
            f"({values['overhead_seconds_per_trial'] * 1000:+.1f} ms a trial beyond its duration), "
            f"measured/loopback {values['measured_to_loopback']:.4f}"
        )
    limit = TEST_SECONDS + ALLOWED_SECONDS_PER_TRIAL * rounds[0]["trials"] + ALLOWED_SECONDS
    median = statistics.median(values["wall_seconds"] for values in rounds)
    print(f"median from POST to seen finished {median:.3f} s, allowed {limit:.3f} s, ratio {median / limit:.3f}")
    print(json.dumps(rounds))


if __name__ == "__main__":
    main()
