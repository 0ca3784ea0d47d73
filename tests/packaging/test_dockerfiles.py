"""The Dockerfiles refer to what is there, and agree with the rest of the repository on versions."""

import fnmatch
import re
import tomllib
from pathlib import Path

import pytest

from benchweb.ops.setup import steps
from tests.packaging import dockerfile, rules
from tests.packaging.dockerfile import Stage

FILES = sorted((rules.PROJECT / "docker").glob("*.Dockerfile"))
IGNORE_FILE = rules.PROJECT / ".dockerignore"
# Where the stages put what later ones take, by the commands that make it.
_MADE = {
    "/build/frontend/dist": ("npm run build", "frontend/build.mjs"),
    "/app/.venv": ("uv sync", "uv.lock"),
    "/opt/postgres": ("uv sync", "uv.lock"),
    "/build/engine/target/release/benchweb-engine": ("cargo build --release", "engine/crates/agent/Cargo.toml"),
    "/build/engine/target/release/benchweb-engine-static": ("cargo static", "engine/crates/programs/Cargo.toml"),
}


def copy_faults(stages: list[Stage], ignored: list[str]) -> list[str]:
    """Every source of a COPY is in the repository and sent to the builder, or made by an earlier stage."""
    faults = []
    for number, stage in enumerate(stages):
        earlier = {other.name: other for other in stages[:number]}
        for copy in stage.copies():
            for source in copy.sources:
                if copy.stage:
                    faults += _made_faults(source, copy.stage, earlier)
                elif not (rules.PROJECT / source).exists():
                    faults.append(f"{source} isn't in the repository")
                elif not _is_sent(source.rstrip("/"), ignored):
                    faults.append(f"{source} isn't sent to the builder")
    return faults


def image_faults(stages: list[Stage]) -> list[str]:
    """Every image is pinned to a version."""
    return [f"{stage.image} isn't pinned" for stage in stages if not re.search(r":\d+", stage.image)]


def test_there_is_an_image_for_the_dashboard_and_one_for_the_engine() -> None:
    assert [path.name for path in FILES] == ["app.Dockerfile", "engine.Dockerfile"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_copied_source_is_there(path: Path) -> None:
    assert copy_faults(dockerfile.read(path), IGNORE_FILE.read_text(encoding="utf-8").splitlines()) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_image_is_pinned_and_the_last_one_runs_without_root(path: Path) -> None:
    stages = dockerfile.read(path)
    assert image_faults(stages) == []
    user = stages[-1].arguments("USER")[-1]
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)
    assert f"--uid {user.partition(':')[0]} " in stages[-1].arguments("RUN")[0]


def test_a_copy_of_what_is_not_there_is_found() -> None:
    stages = dockerfile.stages(
        "FROM node:24 AS first\nRUN npm run build\nCOPY benchweb docs frontend/dist nothing ./\n"
        "FROM debian\nCOPY --from=first /build/frontend/dist dist\nCOPY --from=first /app/.venv .venv\n"
        "COPY --from=second /app/.venv .venv\n"
    )
    ignored = ["*", "!benchweb", "!frontend", "frontend/dist"]
    assert copy_faults(stages, ignored) == [
        "docs isn't sent to the builder",
        "frontend/dist isn't sent to the builder",
        "nothing isn't in the repository",
        "/app/.venv isn't made by the stage first",
        "there is no earlier stage second",
    ]
    assert image_faults(stages) == ["debian isn't pinned"]


@pytest.mark.parametrize("secret", [".env", "secrets/engine_token", ".benchweb/secret-key", ".git/config"])
def test_no_secret_is_sent_to_the_builder(secret: str) -> None:
    assert not _is_sent(secret, IGNORE_FILE.read_text(encoding="utf-8").splitlines())


def test_versions_are_those_that_the_repository_asks_for() -> None:
    images = {stage.name or path.name: stage for path in FILES for stage in dockerfile.read(path)}
    project = tomllib.loads((rules.PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    workspace = tomllib.loads((rules.PROJECT / "engine" / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    assert _version(images["packages"].image) >= _version(project["requires-python"])
    assert images["packages"].image == images["app.Dockerfile"].image
    assert _version(images["build"].image) >= _version(workspace["package"]["rust-version"])
    assert _version(images["frontend"].image) >= steps.OLDEST_NODE[:1]
    assert f"uv=={steps.UV_VERSION}" in " ".join(images["packages"].arguments("RUN"))


def test_everything_is_installed_as_locked() -> None:
    commands = [rest for path in FILES for stage in dockerfile.read(path) for rest in stage.arguments("RUN")]
    assert [command for command in commands if command.startswith("npm ci")] == ["npm ci --no-audit --no-fund"]
    assert any(command.startswith("uv sync --frozen --no-dev ") for command in commands)
    assert any(command.startswith("cargo build --release --locked ") for command in commands)


def test_the_engine_is_built_and_run_on_the_same_release_of_debian() -> None:
    build, final = dockerfile.read(rules.PROJECT / "docker" / "engine.Dockerfile")
    assert (build.image.rpartition("-")[2], final.image) == ("bookworm", "debian:12-slim")


def _made_faults(source: str, name: str, earlier: dict[str, Stage]) -> list[str]:
    if name not in earlier:
        return [f"there is no earlier stage {name}"]
    command, needed = _MADE[source]
    is_made = any(rest.startswith(command) for rest in earlier[name].arguments("RUN"))
    return [] if is_made and (rules.PROJECT / needed).exists() else [f"{source} isn't made by the stage {name}"]


def _is_sent(source: str, lines: list[str]) -> bool:
    """Apply .dockerignore: the last line that matches the path or a folder above it decides."""
    parts = Path(source).parts
    above = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    is_sent = True
    for line in lines:
        pattern = line.strip().lstrip("!").removeprefix("**/")
        if not pattern or pattern.startswith("#"):
            continue
        if any(fnmatch.fnmatchcase(path, pattern) for path in above):
            is_sent = line.startswith("!")
    return is_sent


def _version(text: str) -> tuple[int, ...]:
    match = re.search(r"\d+(?:\.\d+)*", text.rpartition(":")[2])
    assert match, text
    return tuple(int(part) for part in match[0].split("."))
