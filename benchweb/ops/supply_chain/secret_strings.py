"""Secrets in the files of the checkout, by detect-secrets; what is known to be none is in .secrets.baseline."""

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchweb.ops.home import PROJECT
from benchweb.ops.supply_chain.commands import json_object, run
from benchweb.ops.supply_chain.findings import Finding

BASELINE = ".secrets.baseline"
SCAN_SECONDS = 300
PASSED, FOUND, LINES_MOVED = 0, 1, 3


def found(folder: Path = PROJECT) -> Iterator[Finding]:
    """Yield what looks like a secret in the tracked and the new files of `folder`, with file and line."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], folder, seconds=SCAN_SECONDS)
    if listed.returncode != 0:
        yield Finding(f"secrets: there is no Git checkout to list files of ({listed.stderr.strip()})", is_judged=False)
        return
    files = [each for each in listed.stdout.split("\0") if each and (folder / each).is_file()]
    yield from _scan(folder, sorted(set(files) - {BASELINE}))


def _scan(folder: Path, files: Sequence[str]) -> Iterator[Finding]:
    with tempfile.TemporaryDirectory(prefix="benchweb-secrets-") as scratch:
        # A copy, as the program writes into it when lines have moved.
        baseline = shutil.copy(folder / BASELINE, scratch)
        command = [sys.executable, "-m", "detect_secrets.pre_commit_hook", "--baseline", baseline]
        done = run([*command, "--no-verify", "--json", "--cores", "2", *files], folder, seconds=SCAN_SECONDS)
    results = json_object(done.stdout).get("results", {})
    for file, secrets in sorted(results.items()):
        for secret in secrets:
            yield Finding(
                f"{file}:{secret['line_number']}: looks like a secret ({secret['type']}). Take it out and revoke it; "
                f"if it is none, end the line with `pragma: allowlist secret` in a comment (docs/dependencies.md)."
            )
    if done.returncode not in (PASSED, FOUND, LINES_MOVED) or (done.returncode == FOUND and not results):
        yield Finding(f"detect-secrets failed with status {done.returncode}: {done.stderr.strip()[-500:]}")
