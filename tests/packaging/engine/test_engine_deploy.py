"""The engine as a service of systemd and as a DaemonSet: both files are valid, and agree with program and image."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchweb.ops.running.home import TOOLS
from benchweb.ops.setup import steps
from tests.conftest import ENGINE
from tests.packaging import rules

DEPLOY = rules.PROJECT / "engine" / "deploy"
UNIT = DEPLOY / "benchweb-engine.service"
MANIFEST = DEPLOY / "daemonset.yaml"
# systemd's own scale: 10 is a service without any sandbox, 2 and below is "OK".
MOST_EXPOSED = 2.0
STAGE = rules.stage_of(rules.document()["services"]["engine"])


@pytest.fixture
def pod() -> dict[str, Any]:
    """Return the manifest's pod."""
    manifest: dict[str, Any] = yaml.safe_load(MANIFEST.read_text(encoding="utf-8"))
    pod: dict[str, Any] = manifest["spec"]["template"]["spec"]
    return pod


@pytest.mark.needs("Rust", "systemd-analyze")
def test_systemd_takes_the_unit_as_it_is(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    # Only what is there once it is installed is put in its place: the program and its manual page.
    text = UNIT.read_text().replace("/usr/local/bin/benchweb-engine", str(ENGINE))
    unit.write_text(re.sub(r"^Documentation=.*\n", "", text, flags=re.MULTILINE))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.needs("systemd-analyze")
def test_the_unit_leaves_little_open() -> None:
    words: list[str | Path] = ["systemd-analyze", "security", "--offline=true", UNIT]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=120)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert found and float(found[1]) <= MOST_EXPOSED, done.stdout[-400:]


@pytest.mark.needs("Rust")
def test_the_units_command_is_one_that_the_program_takes() -> None:
    command = re.search(r"^ExecStart=\S+ serve (.*)$", UNIT.read_text(), flags=re.MULTILINE)
    assert command
    # A token file that isn't there is looked for only after all options were understood.
    words = [ENGINE, "serve", *command[1].split()]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert "can't read the token file" in done.stderr


def test_the_manifest_is_valid_kubernetes() -> None:
    uv: list[str | Path] = [steps.uv_program(TOOLS), "run", "--isolated", "--frozen", "--only-group", "manifests"]
    words: list[str | Path] = [*uv, "kubernetes-validate", "--strict", "--kubernetes-version", "1.31", MANIFEST]
    done = subprocess.run(words, cwd=rules.PROJECT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout + done.stderr


def test_the_manifest_and_the_image_agree_on_user_ports_and_folders(pod: dict[str, Any]) -> None:
    engine = pod["containers"][0]
    state = next(mount["mountPath"] for mount in engine["volumeMounts"] if mount["name"] == "state")
    user = f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}"
    assert STAGE.arguments("USER") == [user]
    assert state in STAGE.command() and f"--state-dir={state}" in engine["args"]
    exposed = set(STAGE.arguments("EXPOSE")[0].split())
    assert {f"{port['containerPort']}/{port['protocol'].lower()}" for port in engine["ports"]} == exposed


def test_the_pod_measures_the_nodes_network_and_has_no_rights_to_spare(pod: dict[str, Any]) -> None:
    engine = pod["containers"][0]
    assert pod["hostNetwork"] is True and pod["securityContext"]["runAsNonRoot"] is True
    assert engine["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert engine["securityContext"]["readOnlyRootFilesystem"] is True
    assert "cpu" not in engine["resources"]["limits"], "a throttled engine would measure its own cgroup"


def test_unit_manifest_compose_file_and_image_agree_on_command_and_limits(pod: dict[str, Any]) -> None:
    command = re.search(r"^ExecStart=\S+ (serve .*)$", UNIT.read_text(), flags=re.MULTILINE)
    assert command
    unit = _options(command[1].split())
    manifest = _options(pod["containers"][0]["args"])
    compose = _options(rules.document()["services"]["engine"]["command"])
    assert set(unit) == set(manifest) == set(compose)
    for name in ("--listen", "--data-port", "--state-dir", "--max-duration", "--max-flows", "--max-memory"):
        assert unit[name] == manifest[name] == compose[name], name
    assert _options(STAGE.command()).items() <= compose.items()
    assert (
        int(compose["--max-memory"]) * 2 <= 2 * 2**30 == _bytes(pod["containers"][0]["resources"]["limits"]["memory"])
    )


@pytest.mark.parametrize("path", [UNIT, MANIFEST, rules.PROJECT / "docker-compose.yml"], ids=lambda path: path.name)
def test_each_says_how_to_admit_some_networks_only(path: Path) -> None:
    assert re.search(r"--allow[=, ]+192\.0\.2\.0/24", path.read_text(encoding="utf-8"))


def test_only_its_group_reads_the_pods_token(pod: dict[str, Any]) -> None:
    secret = next(volume["secret"] for volume in pod["volumes"] if volume["name"] == "token")
    assert secret["defaultMode"] == 0o440
    assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsGroup"]


def _options(words: list[str]) -> dict[str, str]:
    """Return the options of `serve` by name, written as `--name value` or `--name=value`."""
    parts = [part for word in words[1:] for part in word.split("=", 1)]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _bytes(quantity: str) -> int:
    assert quantity.endswith("Gi")
    return int(quantity[:-2]) * 2**30
