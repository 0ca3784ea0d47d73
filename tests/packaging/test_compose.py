"""docker-compose.yml holds together; every check is shown to find the fault it is for."""

import copy
import re
import subprocess
import sys
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
import yaml

from tests.packaging import rules
from tests.packaging.rules import Document

SCHEMA_CHECK = [str(Path(sys.executable).with_name("check-jsonschema")), "--builtin-schema", "vendor.compose-spec"]
RULES = {
    "dependency": rules.dependency_faults,
    "reference": rules.reference_faults,
    "secret": rules.secret_faults,
    "exposure": rules.exposure_faults,
    "health": rules.health_faults,
    "build": rules.build_faults,
    "memory": rules.memory_faults,
}


@pytest.fixture
def compose() -> Document:
    """Return a copy that a test may change: anchors make the parsed document share its parts."""
    return {name: yaml.safe_load(yaml.dump(part)) for name, part in _unshared(rules.document()).items()}


def _unshared(document: Document) -> Document:
    services = {name: copy.deepcopy(service) for name, service in document["services"].items()}
    return {**{name: part for name, part in document.items() if not name.startswith("x-")}, "services": services}


def test_the_document_is_valid_by_the_compose_specification() -> None:
    done = subprocess.run([*SCHEMA_CHECK, str(rules.COMPOSE_FILE)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_schema_check_refuses_an_unknown_key(compose: Document, tmp_path: Path) -> None:
    compose["services"]["web"]["helthcheck"] = {}
    wrong = tmp_path / "docker-compose.yml"
    wrong.write_text(yaml.dump(compose), encoding="utf-8")
    done = subprocess.run([*SCHEMA_CHECK, str(wrong)], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "helthcheck" in done.stdout + done.stderr


@pytest.mark.parametrize("name", RULES)
def test_the_document_has_no_fault(name: str, compose: Document) -> None:
    assert RULES[name](compose) == []


def test_the_services_are_the_whole_of_benchweb(compose: Document) -> None:
    assert set(compose["services"]) == {"postgres", "valkey", "migrate", "web", "worker", "beat", "engine"}
    assert compose["services"]["engine"]["profiles"] == ["engine"]
    assert [name for name, service in compose["services"].items() if service.get("ports")] == ["web"]


def test_the_database_is_stored_where_its_version_looks_for_it(compose: Document) -> None:
    assert compose["services"]["postgres"]["image"].startswith("${BENCHWEB_POSTGRES_IMAGE:-postgres:18-")
    assert compose["services"]["postgres"]["volumes"][0] == "postgres-data:/var/lib/postgresql"


def test_the_only_proxy_is_the_gateway_of_the_network_that_pages_are_served_on(compose: Document) -> None:
    (network,) = compose["networks"]["outside"]["ipam"]["config"]
    assert network["gateway"] == compose["services"]["web"]["environment"]["BENCHWEB_OUTSIDE_GATEWAY"]
    subnet, gateway = (re.search(r":-(.+)}", network[name]) for name in ("subnet", "gateway"))
    assert subnet
    assert gateway
    assert ip_address(gateway[1]) == next(ip_network(subnet[1]).hosts())


def test_the_example_names_exactly_the_variables_that_are_taken(compose: Document) -> None:
    assert rules.example_faults(compose, rules.EXAMPLE_FILE.read_text(encoding="utf-8")) == []


def test_a_missing_a_superfluous_and_a_filled_variable_of_the_example_are_found() -> None:
    compose = {"services": {"web": {"command": ["${TAKEN:-1}", "$$ESCAPED"]}}}
    assert rules.example_faults(compose, "# OLD=1\nOTHER=x\n") == [
        "TAKEN is not in the example",
        "OTHER is in the example and not taken",
        "OTHER has a value in the example",
    ]


def _set(path: str, value: object) -> Callable[[Document], None]:
    def change(compose: Document) -> None:
        *parents, last = path.split("/")
        for parent in parents:
            compose = compose[parent]
        if value is None:
            del compose[last]
        else:
            compose[last] = value

    return change


FAULTS = [
    ("memory", _set("services/worker/mem_limit", None), "worker has no memory limit"),
    ("memory", _set("services/valkey/mem_limit", "256m"), "valkey may keep as much as its whole memory limit"),
    (
        "dependency",
        _set("services/valkey/healthcheck", None),
        "web waits for the health of valkey, which has no health check",
    ),
    ("dependency", _set("services/postgres", None), "migrate waits for postgres, which isn't a service"),
    (
        "dependency",
        _set("services/migrate/restart", "always"),
        "web waits for the end of migrate, which is started again",
    ),
    ("dependency", _set("services/postgres/profiles", ["db"]), "beat waits for postgres, which only a profile starts"),
    ("reference", _set("volumes/postgres-data", None), "volumes: postgres-data is used and not declared"),
    ("reference", _set("volumes/old-data", {}), "volumes: old-data is declared and not used"),
    ("reference", _set("services/engine/secrets", []), "secrets: engine_token is declared and not used"),
    ("reference", _set("services/web/networks", ["servers", "inside"]), "networks: inside is used and not declared"),
    (
        "secret",
        _set("services/valkey/environment/REDISCLI_AUTH", "s3same"),  # pragma: allowlist secret
        "valkey: REDISCLI_AUTH holds a secret in clear",
    ),
    (
        "secret",
        _set("services/web/environment/BENCHWEB_SECRET_KEY", "${BENCHWEB_SECRET_KEY:-changeme}"),
        "${BENCHWEB_SECRET_KEY} is a secret that isn't required with a message",
    ),
    (
        "secret",
        _set("services/postgres/environment/POSTGRES_PASSWORD", "$POSTGRES_PASSWORD"),
        "${POSTGRES_PASSWORD} is a secret that isn't required with a message",
    ),
    (
        "secret",
        # pragma: allowlist nextline secret
        _set("services/beat/environment/BENCHWEB_REDIS_URL", "redis://:secret@valkey:6379/0"),
        "beat: BENCHWEB_REDIS_URL holds a secret in clear",
    ),
    (
        "secret",
        _set("secrets/engine_token", {"environment": "TOKEN"}),
        "secrets: engine_token doesn't come from a file",
    ),
    ("exposure", _set("services/postgres/ports", ["5432:5432"]), "postgres publishes ports"),
    ("exposure", _set("services/postgres/user", None), "postgres runs as root"),
    ("exposure", _set("services/worker/user", "root"), "worker runs as root"),
    ("exposure", _set("services/web/read_only", False), "web isn't confined: it needs read_only and cap_drop ALL"),
    ("exposure", _set("services/beat/cap_drop", None), "beat isn't confined: it needs read_only and cap_drop ALL"),
    ("exposure", _set("services/engine/security_opt", []), "engine may gain privileges"),
    ("exposure", _set("networks/servers", {}), "the network servers has a way out"),
    (
        "exposure",
        _set("services/valkey/networks", ["servers", "outside"]),
        "valkey must be on the network without a way out only",
    ),
    ("health", _set("services/engine/healthcheck", None), "engine has no health check"),
    (
        "health",
        _set("services/web/healthcheck/test", ["CMD", "python", "docker/health.py", "web"]),
        "web: the image has no docker/health.py",
    ),
    (
        "health",
        _set("services/beat/healthcheck/test", ["CMD", "python", "docker/healthcheck.py", "tick"]),
        "beat: docker/healthcheck.py has no check tick",
    ),
    ("build", _set("services/valkey/image", "valkey/valkey"), "valkey: the image valkey/valkey isn't pinned"),
    (
        "build",
        _set("services/valkey/image", "valkey/valkey:latest"),
        "valkey: the image valkey/valkey:latest isn't pinned",
    ),
    (
        "build",
        _set("services/web/build", {"context": ".", "dockerfile": "docker/web.Dockerfile"}),
        "web: there is no docker/web.Dockerfile",
    ),
]


@pytest.mark.parametrize(("name", "change", "fault"), FAULTS, ids=[fault for _, _, fault in FAULTS])
def test_a_fault_is_found(name: str, change: Callable[[Document], None], fault: str, compose: Document) -> None:
    change(compose)
    assert fault in RULES[name](compose)
