"""What must hold of docker-compose.yml: each rule takes the document and gives its faults, in words."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.packaging import dockerfile

PROJECT = Path(__file__).resolve().parents[2]
COMPOSE_FILE = PROJECT / "docker-compose.yml"
EXAMPLE_FILE = PROJECT / ".env.example"
_VARIABLE = re.compile(r"(?<!\$)\$(?:\{(?P<name>\w+)(?P<operator>:?[-?+])?(?P<word>[^}]*)\}|(?P<bare>\w+))")
_SECRET_NAME = re.compile(r"PASSWORD|SECRET|TOKEN$|AUTH$")
_URL_PASSWORD = re.compile(r"://[^/@]*:(?P<password>[^/]*)@")
_SERVERS = {"postgres", "valkey"}

Document = dict[str, Any]


def document() -> Document:
    """Read docker-compose.yml with its anchors resolved."""
    return dict(yaml.safe_load(COMPOSE_FILE.read_text(encoding="utf-8")))


def variables(part: Any) -> list[tuple[str, str, str]]:
    """Return each use of a variable: its name, its operator, and the operator's word."""
    found = [match for text in _texts(part) for match in _VARIABLE.finditer(text)]
    return [(match["name"] or match["bare"], match["operator"] or "", match["word"] or "") for match in found]


def dependency_faults(compose: Document) -> list[str]:
    """Every dependency is a service that can reach the condition it is waited for."""
    faults = []
    for name, service in compose["services"].items():
        for other, wish in service.get("depends_on", {}).items():
            target = compose["services"].get(other)
            condition = wish["condition"]
            if target is None:
                faults.append(f"{name} waits for {other}, which isn't a service")
            elif condition == "service_healthy" and "healthcheck" not in target:
                faults.append(f"{name} waits for the health of {other}, which has no health check")
            elif condition == "service_completed_successfully" and target.get("restart") != "no":
                faults.append(f"{name} waits for the end of {other}, which is started again")
            elif target.get("profiles"):
                faults.append(f"{name} waits for {other}, which only a profile starts")
    return faults


def reference_faults(compose: Document) -> list[str]:
    """Every volume, secret and network is declared and used."""
    faults = []
    for section in ("volumes", "secrets", "networks"):
        declared = set(compose.get(section) or {})
        used = {_reference(item) for service in compose["services"].values() for item in service.get(section, [])}
        used = {name for name in used if not name.startswith((".", "/"))}
        faults += [f"{section}: {name} is used and not declared" for name in sorted(used - declared)]
        faults += [f"{section}: {name} is declared and not used" for name in sorted(declared - used)]
    return faults


def secret_faults(compose: Document) -> list[str]:
    """Every secret comes from the environment, is required, and has no default."""
    faults = []
    for name, operator, word in variables(compose):
        if _SECRET_NAME.search(name) and (operator != ":?" or not word):
            faults.append(f"${{{name}}} is a secret that isn't required with a message")
    for name, service in compose["services"].items():
        for key, value in service.get("environment", {}).items():
            faults += [f"{name}: {key} holds a secret in clear" for text in _secret_parts(key, str(value)) if text]
    faults += [
        f"secrets: {name} doesn't come from a file"
        for name, secret in compose["secrets"].items()
        if "file" not in secret
    ]
    return sorted(set(faults))


def exposure_faults(compose: Document) -> list[str]:
    """Every service is confined; only the pages are published, on loopback unless told otherwise."""
    faults = []
    for name, service in compose["services"].items():
        if service.get("read_only") is not True or service.get("cap_drop") != ["ALL"] or service.get("privileged"):
            faults.append(f"{name} isn't confined: it needs read_only and cap_drop ALL")
        if "no-new-privileges:true" not in service.get("security_opt", []):
            faults.append(f"{name} may gain privileges")
        if _user(service) in ("", "root", "0"):
            faults.append(f"{name} runs as root")
        if service.get("ports") and name != "web":
            faults.append(f"{name} publishes ports")
        if name in _SERVERS and service.get("networks") != ["servers"]:
            faults.append(f"{name} must be on the network without a way out only")
    if not compose["networks"]["servers"].get("internal"):
        faults.append("the network servers has a way out")
    return faults


def health_faults(compose: Document) -> list[str]:
    """Every service that stays has a health check; ours run a check that the image has."""
    faults = []
    for name, service in compose["services"].items():
        test = service.get("healthcheck", {}).get("test")
        if test is None:
            faults += [] if service.get("restart") == "no" else [f"{name} has no health check"]
        elif test[:2] == ["CMD", "python"]:
            faults += [f"{name}: {fault}" for fault in _check_faults(service, test[2], test[3:])]
    return faults


def memory_faults(compose: Document) -> list[str]:
    """Every service has a memory limit; the broker's leaves room beside what it may keep."""
    faults = [f"{name} has no memory limit" for name, service in compose["services"].items() if not _limit(service)]
    kept = re.search(r"--maxmemory (\d+)mb", " ".join(compose["services"]["valkey"].get("command", [])))
    if kept and 0 < _limit(compose["services"]["valkey"]) <= int(kept[1]):
        faults.append("valkey may keep as much as its whole memory limit")
    return faults


def _limit(service: Document) -> int:
    """Return a service's memory limit in megabytes, 0 without."""
    found = re.fullmatch(r"(\d+)([mg])", str(service.get("mem_limit", "")))
    return int(found[1]) * (1024 if found[2] == "g" else 1) if found else 0


def build_faults(compose: Document) -> list[str]:
    """Every image is pinned to a major version at least, or built from a Dockerfile that is there."""
    faults = []
    for name, service in compose["services"].items():
        build = service.get("build")
        if build is None and not re.search(r":\d+", service["image"]):
            faults.append(f"{name}: the image {service['image']} isn't pinned")
        elif build is not None and not (PROJECT / build["context"] / build["dockerfile"]).is_file():
            faults.append(f"{name}: there is no {build['dockerfile']}")
    return faults


def example_faults(compose: Document, example: str) -> list[str]:
    """The example names exactly the variables that the document takes, all of them empty."""
    lines = [line.partition("=") for line in example.splitlines() if line and not line.startswith("#")]
    named, taken = {name for name, _, _ in lines}, {name for name, _, _ in variables(compose)}
    faults = [f"{name} is not in the example" for name in sorted(taken - named)]
    faults += [f"{name} is in the example and not taken" for name in sorted(named - taken)]
    return faults + [f"{name} has a value in the example" for name, _, value in lines if value]


def stage_of(service: Document) -> dockerfile.Stage:
    """Return the last stage of the Dockerfile that a service is built from."""
    return dockerfile.read(PROJECT / service["build"]["context"] / service["build"]["dockerfile"])[-1]


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from _texts(value)
    elif isinstance(part, list):
        for value in part:
            yield from _texts(value)


def _reference(item: Any) -> str:
    """Return what is used: a volume's name, or a path, as it is where no variable is set."""
    text = str(item["source"] if isinstance(item, dict) else item)
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text).partition(":")[0]


def _secret_parts(key: str, value: str) -> list[str]:
    """Return what of a secret's value is written down and not taken from a variable."""
    if _SECRET_NAME.search(key):
        return [_VARIABLE.sub("", value)]
    # The variables first, for their messages may hold any character.
    return [match["password"] for match in _URL_PASSWORD.finditer(_VARIABLE.sub("", value))]


def _user(service: Document) -> str:
    if "user" in service or "build" not in service:
        return str(service.get("user", "")).partition(":")[0]
    return (stage_of(service).arguments("USER") or [""])[-1].partition(":")[0]


def _check_faults(service: Document, path: str, words: list[str]) -> list[str]:
    copied = [source for copy in stage_of(service).copies() if not copy.stage for source in copy.sources]
    if path not in copied or not (PROJECT / path).is_file():
        return [f"the image has no {path}"]
    names = set(re.findall(r'"(\w+)": \w+', (PROJECT / path).read_text(encoding="utf-8").partition("CHECKS")[2]))
    return [] if len(words) == 1 and words[0] in names else [f"{path} has no check {' '.join(words)}"]
