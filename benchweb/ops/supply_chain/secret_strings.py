"""Secrets in the files of the checkout, by detect-secrets; what is known to be none is in .secrets.baseline."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from detect_secrets.core.secrets_collection import SecretsCollection
from detect_secrets.settings import transient_settings

from benchweb.ops.setup.home import PROJECT
from benchweb.ops.supply_chain.commands import run
from benchweb.ops.supply_chain.findings import Finding

BASELINE = ".secrets.baseline"
LIST_SECONDS = 60
PROCESSES = 2


def found(folder: Path = PROJECT) -> Iterator[Finding]:
    """Yield what looks like a secret in the tracked and the new files of `folder`, with file and line."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], folder, seconds=LIST_SECONDS)
    if listed.returncode != 0:
        yield Finding(f"secrets: there is no Git checkout to list files of ({listed.stderr.strip()})", is_judged=False)
        return
    files = [name for name in listed.stdout.split("\0") if name and (folder / name).is_file()]
    yield from _scan(folder, sorted(set(files) - {BASELINE}))


def _scan(folder: Path, files: Sequence[str]) -> Iterator[Finding]:
    known = json.loads((folder / BASELINE).read_text(encoding="utf-8"))
    # The baseline names the detectors and what is left out; none of them asks a service whether a secret is valid.
    with transient_settings({key: known[key] for key in ("plugins_used", "filters_used")}):
        secrets = SecretsCollection(root=str(folder))
        secrets.scan_files(*files, num_processors=PROCESSES)
    accepted = {
        (file, secret["type"], secret["hashed_secret"])
        for file, secrets in known["results"].items()
        for secret in secrets
    }
    for file, secret in secrets:
        if (file, secret.type, secret.secret_hash) in accepted:
            continue
        yield Finding(
            f"{file}:{secret.line_number}: looks like a secret ({secret.type}). Take it out and revoke it; "
            f"if it is none, end the line with `pragma: allowlist secret` in a comment (docs/how-to/dependencies.md)."
        )
