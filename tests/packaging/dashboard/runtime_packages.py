"""A copy of .venv with the packages of the image only: what the tests' own packages bring along is not there."""

import itertools
import shlex
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.packaging import dockerfile, rules


def lay_out(folder: Path) -> None:
    """Make a virtual environment of links into this one."""
    site = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (folder / "bin").mkdir(parents=True)
    site.mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    base = Path(sys.executable).resolve().parent
    (folder / "pyvenv.cfg").write_text(f"home = {base}\ninclude-system-site-packages = false\n", encoding="utf-8")
    for name in names():
        _link(metadata.distribution(name), site, folder / "bin")


def names() -> set[str]:
    """Return the packages that the Dockerfile's `uv sync --no-dev` installs, by uv.lock."""
    lock = tomllib.loads((rules.PROJECT / "uv.lock").read_text(encoding="utf-8"))
    packages = {package["name"]: package for package in lock["package"]}
    found: set[str] = set()
    waiting: list[dict[str, Any]] = [{"name": "benchweb"}]
    while waiting:
        wanted = waiting.pop()
        package = packages[wanted["name"]]
        is_new = package["name"] not in found
        found.add(package["name"])
        waiting += package.get("dependencies", []) if is_new else []
        for extra in wanted.get("extra", []):
            waiting += package["optional-dependencies"][extra]
    installed = {distribution.name.lower().replace("_", "-") for distribution in metadata.distributions()}
    # What uv.lock names for other systems isn't installed here.
    return (found - left_out()) & installed


def left_out() -> set[str]:
    """Return the packages that the Dockerfile leaves out."""
    stage = next(
        stage for stage in dockerfile.read(rules.PROJECT / "docker" / "app.Dockerfile") if stage.name == "packages"
    )
    words = shlex.split(next(command for command in stage.arguments("RUN") if command.startswith("uv sync")))
    assert {"--frozen", "--no-dev"} <= set(words)
    return {after for word, after in itertools.pairwise(words) if word == "--no-install-package"}


def _link(distribution: metadata.Distribution, site: Path, programs: Path) -> None:
    root = Path(str(distribution.locate_file("")))
    for top in {
        file.parts[0] for file in distribution.files or [] if ".." not in file.parts and file.parts[0] != "bin"
    }:
        if top != "__pycache__" and not (site / top).exists():
            (site / top).symlink_to(root / top)
    for entry in distribution.entry_points.select(group="console_scripts"):
        program = programs / entry.name
        program.write_text(
            f"#!{programs / 'python'}\nimport sys\nfrom {entry.module} import {entry.attr} as main\nsys.exit(main())\n"
        )
        program.chmod(0o755)
