"""The REST API with a token; every call has a time-out."""

import json
import urllib.request
from typing import Any


class Api:
    """Calls of one benchweb."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = url + "/api/v1", token

    def call(self, method: str, path: str, body: Any = None, *, seconds: float = 30) -> Any:
        """Make one call and give its JSON; raises urllib's errors."""
        request = urllib.request.Request(
            self._url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=seconds) as response:
            return json.load(response)
