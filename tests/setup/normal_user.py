"""CI, as root: `up` as a user made for it, from a copy of the checkout; python3 -m tests.setup.normal_user.

The user has Debian's own Python, its own caches and no uv; the engine and the bundle are copied, not built again.
"""

import json
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
BUILT = ["engine/target/release/benchweb-engine", "frontend/dist", "frontend/node_modules"]
STAMPS = ["engine", "frontend", "npm"]
PYTHON = "/usr/bin/python3"
PORT = 8471
READY_SECONDS = 600
RUN_SECONDS = 400
STOP_SECONDS = 30
# What belongs to root's own tools, and would point the user at folders that aren't theirs.
FOREIGN = ("BENCHWEB_", "CARGO", "RUSTUP", "PYENV", "UV_CACHE", "XDG_", "NPM_CONFIG_CACHE", "VIRTUAL_ENV", "PYTHON")


def main() -> None:
    """Run `up` as a new user from the start to the demo's first trial, and stop it."""
    name = f"bw-ci-{secrets.token_hex(4)}"
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", name], check=True)
    account = pwd.getpwnam(name)
    try:
        checkout = copied(account)
        passes(account, checkout)
    finally:
        subprocess.run(["userdel", "--remove", name], check=False, stderr=subprocess.DEVNULL)
    print("`up` as a normal user: 1 passed, 0 failed", flush=True)


def copied(account: pwd.struct_passwd) -> Path:
    """Copy the tracked files and what is built; the copy belongs to the user."""
    checkout = Path(account.pw_dir) / "benchweb"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, check=True, capture_output=True).stdout
    for path in [*listed.decode().split("\0"), *BUILT, *(f".tools/stamps/{stamp}" for stamp in STAMPS)]:
        source, target = PROJECT / path, checkout / path
        if not path or not source.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target)
    subprocess.run(["chown", "-R", f"{account.pw_uid}:{account.pw_gid}", checkout], check=True)
    return checkout


def passes(account: pwd.struct_passwd, checkout: Path) -> None:
    """Start, watch the demo's run to its first result, stop, and look for what is left."""
    started_at = time.monotonic()
    process = started(account, checkout)
    try:
        while status("/healthz") != 200:
            check(process.poll() is None, f"up ended with status {process.returncode}")
            check(time.monotonic() - started_at < READY_SECONDS, "/healthz was not 200 in time")
            time.sleep(0.2)
        print(f"ready after {time.monotonic() - started_at:.1f} s", flush=True)
        trial = first_trial((checkout / ".benchweb" / "demo-token").read_text().strip())
        check(trial["state"] == "finished", f"the demo's first trial ended {trial['state']}: {trial['reason']}")
        print(f"the demo's first trial measured {len(trial['metrics'])} metrics", flush=True)
    finally:
        stop_at = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait(2 * STOP_SECONDS)
    took = time.monotonic() - stop_at
    print(f"stopped in {took:.1f} s", flush=True)
    check(took < STOP_SECONDS, f"stopping took {took:.1f} s")
    left = running(account)
    check(not left, "left behind:\n" + "\n".join(left))


def running(account: pwd.struct_passwd) -> list[str]:
    """Return the user's processes that still run; one that is dead waits for init alone, which takes its time."""
    listed = subprocess.run(
        ["ps", "-o", "stat=,pid=,args=", "-u", account.pw_name], check=False, capture_output=True, text=True
    )
    return [line for line in listed.stdout.splitlines() if not line.startswith("Z")]


def started(account: pwd.struct_passwd, checkout: Path) -> "subprocess.Popen[bytes]":
    """Start `up` as the user, with nothing of root's but the way to the package registries."""
    environment = {name: value for name, value in os.environ.items() if not name.upper().startswith(FOREIGN)}
    environment |= {
        "HOME": account.pw_dir,
        "USER": account.pw_name,
        "LOGNAME": account.pw_name,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
    }
    return subprocess.Popen(
        [PYTHON, "manage.py", "up", "--port", str(PORT)],
        cwd=checkout,
        env=environment,
        stdin=subprocess.DEVNULL,
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=[],
    )


def first_trial(token: str) -> dict[str, Any]:
    """Wait for the end of the first trial of the demo's only run; tests/setup/test_demo.py watches them all."""
    give_up_at = time.monotonic() + RUN_SECONDS
    runs = answer("/api/v1/runs", token)["items"]
    check(len(runs) == 1, f"{len(runs)} runs instead of 1")
    trial: dict[str, Any]
    while (trial := answer(f"/api/v1/runs/{runs[0]['id']}", token)["trials"][0])["state"] in ("pending", "running"):
        check(time.monotonic() < give_up_at, f"the demo's first trial is still {trial['state']}")
        time.sleep(0.5)
    return trial


def answer(path: str, token: str) -> dict[str, Any]:
    """Return the API's answer."""
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        document: dict[str, Any] = json.load(response)
    return document


def status(path: str) -> int:
    """Return the status of a GET, 0 when nothing answers."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}{path}", timeout=60) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def check(holds: bool, message: str) -> None:
    """Fail with the message."""
    if not holds:
        sys.exit(f"`up` as a normal user: {message}\n0 passed, 1 failed")


if __name__ == "__main__":
    main()
