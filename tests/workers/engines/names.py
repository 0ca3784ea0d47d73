"""A resolver for tests: names of `.test` and the addresses that they have at the moment."""

import socket
from collections.abc import Sequence
from typing import Any

import pytest


class Resolver:
    """Answers for the names that it has; any other goes to the machine's own resolver."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self._names: dict[str, Sequence[str]] = {}
        self._others = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self._answer)

    def set(self, name: str, *addresses: str) -> None:
        """Let a name have these addresses from now on."""
        self._names[name] = addresses

    def _answer(self, host: str, *arguments: Any, **options: Any) -> Any:
        self.asked.append(host)
        if host not in self._names:
            return self._others(host, *arguments, **options)
        if not self._names[host]:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [entry for each in self._names[host] for entry in self._others(each, *arguments, **options)]
