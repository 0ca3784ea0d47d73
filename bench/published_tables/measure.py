"""Run inside the dashboard's namespace: define everything by the API, launch, wait, and take the pictures."""

import json
import os
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.published_tables import plans, reports
from bench.published_tables.scene import BETWEEN_ZONES_BPS, ENGINE_PORT, MODES
from bench.rig.api import Api
from bench.rig.chromium import chromium

WIDTH, HEIGHT = 1180, 900
SETTLE_MILLISECONDS = 600
RUN_LIMIT_SECONDS = 1800
OPEN = ("pending", "running")


def main() -> None:
    requested = json.loads(os.environ["PUBLISHED_TABLES"])
    api, seconds = Api(requested["url"], requested["token"]), requested["seconds"]
    _wait_for_idle(api)
    endpoints = _endpoints(api, requested)
    zones = {name: api.call("POST", "/environments", {"name": name})["id"] for name in ("same zone", "cross zone")}
    same = _pairs(api, endpoints, zones["same zone"], "machine-a", "machine-b")
    cross = _pairs(api, endpoints, zones["cross zone"], "machine-a", "machine-c")
    direct = same["host", "host"]
    sizes, baseline, methods = (
        _run(api, make(seconds), direct) for make in (plans.message_sizes, plans.server_baseline, plans.methods)
    )
    plan = api.call("POST", "/plans", plans.modes(seconds))["id"]
    for _ in range(requested["rounds"]):
        campaign = api.call("POST", "/campaigns", {"plan": plan, "pairs": [*same.values(), *cross.values()]})["id"]
        _wait(api, f"/campaigns/{campaign}")
    host = _host_run(api, plans.host(seconds), endpoints["machine-a", "host"])
    far = [_run(api, plans.wide_area(seconds) | {"name": f"wide area, {mode}"}, cross[mode, mode]) for mode in MODES]
    of_modes = sorted(each["id"] for each in api.call("GET", f"/runs?campaign={campaign}")["items"])
    chosen = {"sizes": [sizes], "methods": [methods], "modes": of_modes, "baseline": [host, baseline], "wan": far}
    made = reports.reports_made(api, chosen, seconds=seconds)
    runs = {"message-sizes": sizes, "server-baseline": baseline, "test-methods": methods}
    _pictures(requested["url"], Path(requested["out"]), runs, zones, made)


def _wait_for_idle(api: Api) -> None:
    """Let the demo's own first run end."""
    while any(api.call("GET", f"/runs?state={state}")["items"] for state in OPEN):
        time.sleep(1)


def _endpoints(api: Api, requested: dict[str, Any]) -> dict[tuple[str, str], int]:
    hosts: dict[str, int] = {}
    endpoints = {}
    for endpoint in requested["endpoints"]:
        machine = endpoint["machine"]
        if machine not in hosts:
            hosts[machine] = api.call("POST", "/hosts", {"name": machine})["id"]
        body = {
            "host": hosts[machine],
            "name": endpoint["mode"],
            "network_mode": endpoint["mode"],
            "control_address": f"{endpoint['address']}:{ENGINE_PORT}",
            "data_address": endpoint["address"],
            "token": requested["engine_token"],
            # What no kernel tells of a virtual link: the far machine's line is that between the zones.
            "link_bps": BETWEEN_ZONES_BPS if endpoint["zone"] == "far" else None,
        }
        endpoints[machine, endpoint["mode"]] = api.call("POST", "/endpoints", body)["id"]
    return endpoints


def _pairs(
    api: Api, endpoints: dict[tuple[str, str], int], zone: int, source: str, sink: str
) -> dict[tuple[str, str], int]:
    bodies = {
        (one, other): {"source": endpoints[source, one], "sink": endpoints[sink, other], "environment": zone}
        for one in MODES
        for other in MODES
    }
    return {modes: api.call("POST", "/pairs", body)["id"] for modes, body in bodies.items()}


def _run(api: Api, body: dict[str, Any], pair: int) -> int:
    plan = api.call("POST", "/plans", body)["id"]
    run = int(api.call("POST", "/runs", {"plan": plan, "pair": pair})["id"])
    _wait(api, f"/runs/{run}")
    return run


def _host_run(api: Api, body: dict[str, Any], endpoint: int) -> int:
    plan = api.call("POST", "/plans", body)["id"]
    run = int(api.call("POST", "/runs", {"plan": plan, "endpoint": endpoint})["id"])
    _wait(api, f"/runs/{run}")
    return run


def _wait(api: Api, path: str) -> None:
    deadline = time.monotonic() + RUN_LIMIT_SECONDS
    while (state := api.call("GET", path)["state"]) in OPEN:
        if time.monotonic() > deadline:
            raise SystemExit(f"{path} is still {state}")
        time.sleep(1)
    print(f"{path}: {state}", flush=True)


def _pictures(url: str, out: Path, runs: dict[str, int], zones: dict[str, int], made: dict[str, int]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    both = f"by=mode&environment={zones['same zone']}&beside={zones['cross zone']}"
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(f"{url}/login")
        page.fill("[name=username]", "demo")
        page.fill("[name=password]", "demo")
        page.press("[name=password]", "Enter")
        page.wait_for_url(f"{url}/")
        for name, query in _matrices(page, url, both, zones["same zone"]).items():
            _take(page, f"{url}/matrix?{query}", "#matrix-page", out / f"matrix-{name}.png")
        for name, run in runs.items():
            # The tables alone: the rest of the page tells of the machine that this ran on.
            page.goto(f"{url}/runs/{run}?published=1")
            for table in page.locator("#as-published [data-kind]").all():
                table.screenshot(path=out / f"published-{name}-{table.get_attribute('data-kind')}.png")
        page.goto(f"{url}/runs/{runs['message-sizes']}")
        page.wait_for_timeout(SETTLE_MILLISECONDS)
        page.locator(".charts").screenshot(path=out / "published-message-sizes.png")
        reports.pictures_taken(page, url, made, out)
        browser.close()


def _matrices(page: Page, url: str, both: str, baseline: int) -> dict[str, str]:
    """Return the query of each matrix that reports have, by the name of its picture."""
    page.goto(f"{url}/matrix?{both}")
    # The tests that all pairs have, among those of the other plans.
    tests = page.locator("#filter-test option").evaluate_all("all => all.map(each => [each.value, each.textContent])")
    one_flow = [(value, words) for value, words in tests if "flows 1" in words.split(" · ")]
    stream = next(value for value, words in one_flow if value.startswith("tcp_stream.") and "size 16 KiB" in words)
    datagrams = next(value for value, words in one_flow if value.startswith("udp_stream.") and "size 64 B" in words)
    rounds = next(value for value, words in one_flow if value.startswith("tcp_rr."))
    return {
        "throughput": f"{both}&test={stream}",
        "zones": f"{both}&test={stream}&base_environment={baseline}",
        "packets": f"{both}&test={datagrams}&metric=packets_per_second",
        "loss": f"{both}&test={datagrams}&metric=loss_ratio",
        "latency": f"{both}&test={rounds}&metric=latency_p99_seconds",
        "transactions": f"{both}&test={rounds}&metric=transactions_per_second&as=packets",
    }


def _take(page: Page, address: str, part: str, file: Path) -> None:
    page.goto(address)
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    page.locator(part).screenshot(path=file)
    print(file, flush=True)


if __name__ == "__main__":
    main()
