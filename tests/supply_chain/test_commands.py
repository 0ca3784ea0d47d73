"""The test command's parts that look for faults and secrets: what is planted fails them, no answer judges nothing."""

import gzip
import json
import os
import secrets
import shutil
import string
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchweb.ops.setup import requirements, testing
from benchweb.ops.setup.steps import ENGINE, VENV
from benchweb.ops.setup.testing import Part
from tests.conftest import ROOT

ADVISORY = """```toml
[advisory]
id = "RUSTSEC-2026-9999"
package = "serde"
date = "2026-01-01"

[versions]
patched = [">= 99.0.0"]
```

# A planted fault
It is there to be found.
"""
OSV_FAULT = {
    "id": "PYSEC-2026-9999",
    "affected": [
        {
            "package": {"name": "planted", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]}],
            "versions": ["1.0"],
        }
    ],
}
NPM_FAULT = {
    "id": 1,
    "url": "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
    "title": "A planted fault",
    "severity": "low",
    "vulnerable_versions": "<2.0.0",
    "cwe": [],
    "cvss": {"score": 0, "vectorString": None},
}


def part(name: str, folder: Path) -> Part:
    """Return a part of the test command, to be run on what was planted in this folder."""
    (found,) = [each for each in testing.checks() if each.name.startswith(name)]
    return replace(found, folder=folder)


@pytest.fixture
def no_advisories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Git find no advisory database: its address leads to a folder that isn't there."""
    rewrite_database(monkeypatch, tmp_path / "nowhere")


def rewrite_database(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{folder}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/RustSec/advisory-db")


def crate(folder: Path, name: str, more: str = "", *, version: str = "0.1.0", licence: str = "MIT") -> Path:
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lib.rs").write_text("")
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\nlicense = "{licence}"\n{more}\n'
    )
    return folder


def own_crate(tmp_path: Path, dependencies: str) -> Path:
    """Return a package with these dependencies, locked, under the project's rules."""
    folder = crate(tmp_path / "own", "own", f"publish = false\n[dependencies]\n{dependencies}")
    write_rules(folder)
    subprocess.run([requirements.cargo_path(), "generate-lockfile"], cwd=folder, check=True, capture_output=True)
    return folder


def write_rules(folder: Path) -> None:
    """Write the project's deny.toml, with a folder of its own for the advisory database."""
    deny = (ENGINE / "deny.toml").read_text()
    assert "[advisories]\n" in deny
    own_database = f'[advisories]\ndb-path = "{folder / "databases"}"\n'
    (folder / "deny.toml").write_text(deny.replace("[advisories]\n", own_database))


def repository(folder: Path) -> Path:
    author = {f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (["init", "--quiet", "--initial-branch", "main"], ["add", "."], ["commit", "--quiet", "-m", "All"]):
        subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **author})
    return folder


@pytest.mark.needs("Rust", "Git")
def test_a_crate_fails_by_licence_source_and_second_version(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    crate(tmp_path / "unfree", "unfree", licence="AGPL-3.0-only")
    fetched = repository(crate(tmp_path / "fetched", "fetched"))
    crate(tmp_path / "first", "twin", version="1.0.0")
    crate(tmp_path / "second", "twin", version="2.0.0")
    folder = own_crate(
        tmp_path,
        f'unfree = {{ path = "../unfree" }}\nfetched = {{ git = "file://{fetched}" }}\n'
        'first = { package = "twin", path = "../first" }\nsecond = { package = "twin", path = "../second" }',
    )
    passed, _, _ = testing.part_result(part("crates: licences", folder))
    told = capfd.readouterr().out
    assert not passed
    assert "AGPL-3.0-only" in told
    assert "duplicate entries for crate 'twin'" in told
    assert "bans FAILED, licenses FAILED, sources FAILED" in told


@pytest.mark.needs("Rust", "Git")
def test_a_crate_with_a_known_fault_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "database"
    (database / "crates" / "serde").mkdir(parents=True)
    (database / "crates" / "serde" / "RUSTSEC-2026-9999.md").write_text(ADVISORY)
    rewrite_database(monkeypatch, repository(database))
    engine = shutil.copytree(ENGINE, tmp_path / "engine", ignore=shutil.ignore_patterns("target"))
    write_rules(engine)
    passed, _, not_judged = testing.part_result(part("crates: known faults", engine))
    assert (passed, not_judged) == (False, [])
    assert "RUSTSEC-2026-9999" in capfd.readouterr().out


@pytest.mark.needs("Rust", "Git")
@pytest.mark.usefixtures("no_advisories")
def test_without_the_advisory_database_crates_are_not_judged(tmp_path: Path) -> None:
    passed, _, (told,) = testing.part_result(part("crates: known faults", own_crate(tmp_path, "")))
    assert passed
    assert told.startswith("NOT JUDGED: crates: known faults: ")


class FaultDatabases:
    """A server that answers as OSV and as npm's advisories; `requested` are the packages it was asked about."""

    def __init__(self) -> None:
        self.requested: list[Any] = []
        self.is_served = True
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                question = json.loads(gzip.decompress(body) if "Content-Encoding" in self.headers else body)
                outer.requested.append(question)
                answer = outer.answer(self.path, question) if outer.is_served else {}
                self.send_response(200 if outer.is_served else 405)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, path: str, question: Any) -> dict[str, Any]:
        if path == "/osv":
            is_planted = question.get("package", {}).get("name") == "planted" and question.get("version") == "1.0"
            return {"vulns": [OSV_FAULT]} if is_planted else {}
        return {"planted": [NPM_FAULT]} if "planted" in question else {}


@pytest.fixture
def databases() -> Iterator[FaultDatabases]:
    served = FaultDatabases()
    thread = threading.Thread(target=served.server.serve_forever)
    thread.start()
    yield served
    served.server.shutdown()
    served.server.server_close()
    thread.join()


def python_part(databases: FaultDatabases, folder: Path) -> Part:
    """Return the check of a lock that holds one package, with the database of the test."""
    (folder / ".venv").symlink_to(VENV)
    (folder / "planted.txt").write_text(f"planted==1.0 --hash=sha256:{'0a' * 32}\n")
    whole = part("Python packages", folder)
    *shell, command = map(str, whole.command)
    audit = command.partition(" | ")[2]
    return replace(whole, command=[*shell, f"cat planted.txt | {audit} --osv-url {databases.url}/osv"])


def test_a_python_package_with_a_known_fault_fails(
    databases: FaultDatabases, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    passed, _, not_judged = testing.part_result(python_part(databases, tmp_path))
    assert (passed, not_judged) == (False, [])
    assert "PYSEC-2026-9999" in capfd.readouterr().out


def test_without_osv_python_packages_are_not_judged(databases: FaultDatabases, tmp_path: Path) -> None:
    databases.is_served = False
    passed, _, (told,) = testing.part_result(python_part(databases, tmp_path))
    assert passed
    assert told.startswith("NOT JUDGED: Python packages: known faults: ")


def test_every_locked_python_package_is_audited() -> None:
    *_, command = map(str, part("Python packages", ROOT).command)
    exported = subprocess.run(["bash", "-c", command.partition(" | ")[0]], cwd=ROOT, check=True, capture_output=True)
    named = {line.partition("==")[0] for line in exported.stdout.decode().splitlines() if "==" in line}
    assert {"django", "pytest", "django-auth-ldap", "kubernetes-validate"} <= named


def npm_part(databases: FaultDatabases, folder: Path, accepted: dict[str, str]) -> Part:
    """Return the check of a package whose one dependency is known to be faulty, with the registry of the test."""
    project = {"name": "own", "version": "1.0.0", "dependencies": {"planted": "1.0.0"}}
    packages = {"": project, "node_modules/planted": {"version": "1.0.0", "integrity": "sha512-AA=="}}
    scripts = json.loads((ROOT / "frontend" / "package.json").read_text())["scripts"]
    (folder / "package.json").write_text(json.dumps(project | {"scripts": scripts, "acceptedFaults": accepted}))
    lock = {"name": "own", "version": "1.0.0", "lockfileVersion": 3, "requires": True, "packages": packages}
    (folder / "package-lock.json").write_text(json.dumps(lock))
    (folder / ".npmrc").write_text(f"registry={databases.url}/\n")
    shutil.copy(ROOT / "frontend" / "audit.mjs", folder)
    return part("npm packages", folder)


def test_an_npm_package_with_a_known_fault_fails_unless_it_is_accepted(
    databases: FaultDatabases, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    passed, _, not_judged = testing.part_result(npm_part(databases, tmp_path, {}))
    assert (passed, not_judged) == (False, [])
    told = "planted has a known fault: A planted fault, https://github.com/advisories/GHSA-aaaa-bbbb-cccc"
    assert told in capfd.readouterr().out
    accepted = {"GHSA-aaaa-bbbb-cccc": "not reached"}
    assert testing.part_result(npm_part(databases, tmp_path, accepted))[::2] == (True, [])
    assert databases.requested[0] == {"planted": ["1.0.0"]}


def test_without_the_registrys_advisories_npm_packages_are_not_judged(
    databases: FaultDatabases, tmp_path: Path
) -> None:
    databases.is_served = False
    passed, _, (told,) = testing.part_result(npm_part(databases, tmp_path, {}))
    assert passed
    assert told.startswith("NOT JUDGED: npm packages: known faults: no answer from npm's advisories: ")


def letters(count: int) -> str:
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(count))


PLANTED = {
    "benchweb/settings.py": f'SECRET_KEY = "{secrets.token_hex(32)}"',
    "workers/app.py": f'PASSWORD = "{letters(14)}"',
    "docs/api.md": f"curl -u ada:x https://ada:{letters(12)}@example.org/",
    ".env.example": f"AWS_ACCESS_KEY_ID=AKIA{secrets.token_hex(8).upper()}",
    "docker-compose.yml": f"      GITHUB: ghp_{letters(36)}",
    "tests/key.pem": f"-----BEGIN RSA {'PRIVATE'} KEY-----",
    "frontend/src/main.ts": f"const apiKey = '{secrets.token_hex(20)}';",
    "engine/crates/agent/src/main.rs": f'const TOKEN: &str = "{secrets.token_hex(32)}";',
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    shutil.copy(ROOT / ".secrets.baseline", tmp_path)
    (tmp_path / ".venv").symlink_to(VENV)
    (tmp_path / ".gitignore").write_text(".venv\nignored.py\n")
    return tmp_path


def write(folder: Path, name: str, line: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"# first\n{line}\n")


@pytest.mark.needs("Git")
def test_planted_secrets_fail_with_file_and_line(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, line in PLANTED.items():
        write(checkout, name, line)
    passed, _, _ = testing.part_result(part("secrets", checkout))
    places = {line.split()[-1] for line in capfd.readouterr().out.splitlines() if line.startswith("Location:")}
    assert not passed
    assert places == {f"{name}:2" for name in PLANTED}


@pytest.mark.needs("Git")
def test_a_line_that_is_marked_passes_and_what_git_ignores_is_not_read(checkout: Path) -> None:
    write(checkout, "example.py", f'PASSWORD = "{letters(14)}"  # pragma: allowlist secret (an example)')
    write(checkout, "ignored.py", f'PASSWORD = "{letters(14)}"')
    before = (checkout / ".secrets.baseline").read_bytes()
    assert testing.part_result(part("secrets", checkout))[::2] == (True, [])
    assert (checkout / ".secrets.baseline").read_bytes() == before


@pytest.mark.needs("Git")
def test_without_a_checkout_secrets_are_not_judged(tmp_path: Path) -> None:
    (tmp_path / ".venv").symlink_to(VENV)
    passed, _, (told,) = testing.part_result(part("secrets", tmp_path))
    assert passed
    assert told.startswith("NOT JUDGED: secrets in files: ")
