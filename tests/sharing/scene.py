"""A run with hosts whose names and addresses are told in many places."""

import re
from typing import Any

from django.test import Client

from benchweb.hosts.models import Endpoint, Host
from benchweb.results.ingest import ingest, parsed_result
from benchweb.runs.events import event_add
from benchweb.runs.models import Run, State
from benchweb.runs.selectors import run_detail
from benchweb.sharing.models import Share
from benchweb.sharing.services import share_create
from tests.factories import make_endpoint, make_pair, make_run

# Every name and address of the scene: none of them may be in an anonymised report, whatever its case.
SECRETS = [
    "quartz", "basalt", "feldspar", "granite-rack", "quartz.lab.example", "basalt-os", "10.77.1.2", "10.77.1.3",
    "2001:db8:77::2", "52:54:00:77:77:77", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "sha256:" + "ab" * 32,
    "eth-quartz", "mirror.internal",
]  # fmt: skip
STEPS = [
    {"kind": "tcp_stream", "params": {"message_size_bytes": [64, 16384], "duration_seconds": 1}},
    {"kind": "http_load", "params": {"url": "http://mirror.internal:8080/file", "duration_seconds": 1}},
]


def told_run() -> Run:
    """Make a finished run of three trials, the last of which failed, with the names all over it."""
    make_endpoint(host_name="Feldspar")
    source = make_endpoint(
        host_name="Quartz",
        control_address="quartz.lab.example:7410",
        data_address="10.77.1.2",
        name="eth-quartz",
        fingerprint="sha256:" + "ab" * 32,
    )
    sink = make_endpoint(
        host_name="Basalt",
        control_address="[2001:db8:77::2]:7410",
        data_address="10.77.1.3",
        fingerprint="sha256:" + "ab" * 32,
    )
    Host.objects.filter(pk=sink.host_id).update(uplink="granite-rack")
    pair = make_pair(source=source, sink=sink, environment="between Quartz and basalt")
    run = make_run(pair=pair, name="nightly of quartz", steps=STEPS)
    for trial in run.trials.order_by("index"):
        is_whole = trial.kind == "tcp_stream"
        document = {
            "kind": trial.kind,
            "metrics": {"throughput_bps": trial.index * 1e9, "packets_per_second": 1e5, "retransmits": 3}
            if is_whole
            else {},
            "flags": ["same_host"],
            "limits": [{"direction": "forward", "by": "path", "summary": "Limited on the way to basalt-os."}],
            "intervals": [{"start_seconds": 0, "end_seconds": 1, "metrics": {}, "note": "from 10.77.1.2"}],
            "source": facts("quartz.lab.example", "10.77.1.2"),
            "sink": facts("basalt-os", "2001:db8:77::2"),
        }
        state, reason = (State.FINISHED, "") if is_whole else (State.FAILED, "mirror.internal: FELDSPAR refused")
        assert ingest(trial=trial, result=parsed_result(trial.kind, document), state=state, reason=reason)
    event_add(run_id=run.pk, text="Waited for host feldspar and uplink granite-rack at 10.77.1.2:7410.")
    reason = "1 of 3 trials failed: http://mirror.internal:8080/ of Basalt did not answer"
    Run.objects.filter(pk=run.pk).update(state=State.FAILED, reason=reason)
    return named(run)


def facts(hostname: str, address: str) -> dict[str, Any]:
    """Return a facts document that says who its host is in four ways."""
    addresses = [address, "52:54:00:77:77:77"]
    return {
        "hostname": hostname,
        "kernel": "6.1.0",
        "boot_id": "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
        "interfaces": [{"name": "eth0", "driver": "virtio_net", "mtu": 1500, "addresses": addresses}],
    }


def named(run: Run) -> Run:
    """Return a run with all that names it, as the views read it."""
    found = run_detail(run.pk)
    assert found is not None
    return found


def shared(run: Run, **options: Any) -> tuple[Share, str]:
    """Share a run; return the share and the link's path."""
    share, token = share_create(run=named(run), user=None, **options)
    return share, f"/s/{token}"


def texts_of(path: str, client: Client) -> dict[str, str]:
    """Open everything that a link opens."""
    parts = ("", "/results.csv", "/results.json", "/results.md", "/embed", "/badge.svg")
    answers = {part: client.get(path + part) for part in parts}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {part: answer.getvalue().decode() for part, answer in answers.items()}


def secrets_in(text: str) -> list[str]:
    """Name the secrets that a text tells."""
    return [secret for secret in SECRETS if re.search(re.escape(secret), text, re.IGNORECASE)]


def rename_everything() -> None:
    """Change what a frozen report must not follow."""
    Host.objects.update(name="renamed")
    Endpoint.objects.update(network_mode="renamed-mode", name="renamed-endpoint")
