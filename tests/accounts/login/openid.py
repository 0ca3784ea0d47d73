"""Start the OpenID provider, and go through its log-in as a browser does."""

import html
import json
import re
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import requests

from tests.accounts.login.provider import CLIENT, CLIENT_SECRET, PASSWORD
from tests.processes import started, stopped

# One of Django's test client, one of a server of a test on any port: so are addresses of this machine matched.
CALLBACKS = "http://testserver/login/provider/callback http://127.0.0.1/login/provider/callback"
PEOPLE = {
    "ada": {
        "preferred_username": "ada",
        "email": "ada@example.org",
        "email_verified": True,
        "groups": ["/netops", "/leads"],
    },
    "bob": {"preferred_username": "bob", "email": "bob@example.org", "groups": ["/netops"]},
    # Somebody who has taken another's name at the provider.
    "eve": {"preferred_username": "ada", "email": "eve@example.org", "groups": []},
    "odd": {"preferred_username": "two words", "email": "no address"},
}


@dataclass(frozen=True)
class Provider:
    """A running provider."""

    process: "subprocess.Popen[bytes]"
    url: str

    @classmethod
    def start(cls, folder: Path, people: dict[str, dict[str, Any]] | None = None) -> "Provider":
        """Start one on a free port."""
        folder.mkdir(parents=True, exist_ok=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        root = Path(__file__).parents[3]
        words = [sys.executable, "-m", "tests.accounts.login.provider", str(port), str(folder), CALLBACKS]
        # Neither benchweb's settings nor its database.
        environment = {"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"}
        process = started([*words, json.dumps(people or PEOPLE)], environment, ready=b"provider is ready")
        return cls(process, f"http://127.0.0.1:{port}")

    def environment(self, **more: str) -> dict[str, str]:
        """Return the settings of a dashboard that is its client."""
        return {
            "BENCHWEB_OIDC_URL": self.url,
            "BENCHWEB_OIDC_NAME": "Example SSO",
            "BENCHWEB_OIDC_CLIENT_ID": CLIENT,
            "BENCHWEB_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        } | more

    def sign_in(self, address: str, name: str) -> str:
        """Go where the dashboard leads, log in there, and return the address that leads back."""
        with requests.Session() as browser:
            page = browser.get(address, timeout=10)
            assert page.status_code == 200, page.text
            fields = dict(re.findall(r'<input type="?hidden"? name="?(\w+)"? value="([^"]*)"', page.text))
            form = {key: html.unescape(value) for key, value in fields.items()}
            answer = browser.post(
                page.url, form | {"username": name, "password": PASSWORD}, timeout=10, allow_redirects=False
            )
            while (address := urljoin(answer.url, answer.headers["Location"])).startswith(self.url):
                answer = browser.get(address, timeout=10, allow_redirects=False)
            return address

    def stop(self) -> None:
        """End it."""
        stopped(self.process)
