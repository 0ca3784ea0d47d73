"""Just enough of a Dockerfile's grammar to check what it refers to."""

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Stage:
    """One FROM and what follows."""

    image: str
    name: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def arguments(self, keyword: str) -> list[str]:
        """Return what follows each use of a keyword."""
        return [rest for word, rest in self.instructions if word == keyword]

    def command(self, keyword: str = "CMD") -> list[str]:
        """Return the last command in its JSON form."""
        return list(json.loads(self.arguments(keyword)[-1]))

    def environment(self) -> dict[str, str]:
        """Return the variables that ENV sets."""
        words = [word for rest in self.arguments("ENV") for word in shlex.split(rest)]
        return dict(word.split("=", 1) for word in words)

    def copies(self) -> list["Copy"]:
        """Return the COPY instructions."""
        return [_copy(rest) for rest in self.arguments("COPY")]


@dataclass(frozen=True)
class Copy:
    """One COPY: from the build context when `stage` is empty."""

    stage: str
    sources: list[str]
    target: str


def stages(text: str) -> list[Stage]:
    """Parse a Dockerfile."""
    found: list[Stage] = []
    for line in _logical_lines(text):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            found.append(Stage(image.strip(), name.strip()))
        else:
            found[-1].instructions.append((word, rest.strip()))
    return found


def read(path: Path) -> list[Stage]:
    """Read and parse a Dockerfile."""
    return stages(path.read_text(encoding="utf-8"))


def _logical_lines(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()


def _copy(rest: str) -> Copy:
    words = shlex.split(rest)
    options = [word for word in words if word.startswith("--")]
    stage = next((word.removeprefix("--from=") for word in options if word.startswith("--from=")), "")
    *sources, target = [word for word in words if not word.startswith("--")]
    return Copy(stage, sources, target)
