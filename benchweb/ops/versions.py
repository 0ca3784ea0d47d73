"""Which version of benchweb this is."""

import tomllib
from functools import cache
from pathlib import Path

from django.conf import settings


@cache
def benchweb_version() -> str:
    """Return the version in pyproject.toml, empty where that file isn't."""
    try:
        text = (Path(settings.BASE_DIR) / "pyproject.toml").read_text(encoding="utf-8")
    except OSError:
        return ""
    return str(tomllib.loads(text)["project"]["version"])
