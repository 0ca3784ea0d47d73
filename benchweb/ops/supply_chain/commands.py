"""Run the programs that check; their answer is a text to read, whatever their status."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Answer = subprocess.CompletedProcess[str]


def run(
    command: Sequence[str | Path], folder: Path, *, seconds: float, environment: Mapping[str, str] | None = None
) -> Answer:
    """Return the program's output and status; 1 with a sentence when it took longer than `seconds`."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return Answer(command, 1, "", f"no answer in {seconds:.0f} s")


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that a program printed, {} when it printed none."""
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
