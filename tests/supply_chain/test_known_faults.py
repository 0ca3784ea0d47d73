"""Known faults, by the real pip-audit and npm with databases of the test's own; one out of reach fails nothing."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchweb.ops.supply_chain import known_faults
from benchweb.ops.supply_chain.findings import Finding
from benchweb.ops.supply_chain.known_faults import Database

OSV_FAULT = {
    "id": "PYSEC-2026-9999",
    "aliases": ["CVE-2026-9999"],
    "summary": "planted",
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


class Databases:
    """A server that answers as OSV and as npm's advisories; `asked` are the packages it was asked about."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.is_served = True
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                question = json.loads(gzip.decompress(body) if "Content-Encoding" in self.headers else body)
                outer.asked.append(question)
                answer = outer.answer(self.path, question) if outer.is_served else {}
                self.send_response(200 if outer.is_served else 405)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.osv = Database("OSV", f"{self.url}/osv", ("-s", "osv", "--osv-url", f"{self.url}/osv"), b"{}")

    def answer(self, path: str, question: Any) -> dict[str, Any]:
        if path == "/osv":
            is_planted = question.get("package", {}).get("name") == "planted" and question.get("version") == "1.0"
            return {"vulns": [OSV_FAULT]} if is_planted else {}
        return {"planted": [NPM_FAULT]} if "planted" in question else {}


@pytest.fixture
def databases() -> Iterator[Databases]:
    served = Databases()
    thread = threading.Thread(target=served.server.serve_forever)
    thread.start()
    yield served
    served.server.shutdown()
    served.server.server_close()
    thread.join()


def frontend(tmp_path: Path) -> Path:
    project = {"name": "own", "version": "1.0.0", "dependencies": {"planted": "1.0.0"}}
    packages = {"": project, "node_modules/planted": {"version": "1.0.0", "integrity": "sha512-AA=="}}
    (tmp_path / "package.json").write_text(json.dumps(project))
    lock = {"name": "own", "version": "1.0.0", "lockfileVersion": 3, "requires": True, "packages": packages}
    (tmp_path / "package-lock.json").write_text(json.dumps(lock))
    return tmp_path


def of_npm(databases: Databases, folder: Path, ignored: dict[str, str]) -> list[Finding]:
    return list(known_faults.of_npm(ignored, frontend(folder), [f"--registry={databases.url}/"]))


def test_a_python_package_with_a_known_fault_fails(databases: Databases) -> None:
    found = list(known_faults.of_python([("sound", "1.0"), ("planted", "1.0")], {}, [databases.osv]))
    assert [each.text.partition(" Update it")[0] for each in found] == [
        "uv.lock: planted 1.0 has the known fault PYSEC-2026-9999 (mended in 2.0)."
    ]
    assert found[0].is_judged


def test_every_locked_version_of_a_python_package_is_asked_about(databases: Databases) -> None:
    found = list(known_faults.of_python([("planted", "2.0"), ("planted", "1.0")], {}, [databases.osv]))
    assert "planted 1.0" in found[0].text


def test_an_accepted_fault_of_a_python_package_passes_by_any_of_its_names(databases: Databases) -> None:
    ignored = {"CVE-2026-9999": "not reached"}
    assert list(known_faults.of_python([("planted", "1.0")], ignored, [databases.osv])) == []


def test_the_second_database_is_asked_where_the_first_cannot_be_reached(databases: Databases) -> None:
    absent = Database("absent", "http://127.0.0.1:9/", ())
    (found,) = known_faults.of_python([("planted", "1.0")], {}, [absent, databases.osv])
    assert found.is_judged


def test_without_a_database_python_packages_are_not_judged_in_one_line(databases: Databases) -> None:
    databases.is_served = False
    absent = Database("absent", "http://127.0.0.1:9/", ())
    (found,) = known_faults.of_python([("planted", "1.0")], {}, [absent, databases.osv])
    assert not found.is_judged
    assert found.text.startswith("known faults of Python packages: every database of pip-audit's can't be reached")
    assert "OSV answered 405" in found.text
    assert "\n" not in found.text


def test_an_npm_package_with_a_known_fault_fails(databases: Databases, tmp_path: Path) -> None:
    (found,) = of_npm(databases, tmp_path, {})
    assert found.is_judged
    assert found.text.startswith(
        "frontend/package-lock.json: planted has the known fault GHSA-aaaa-bbbb-cccc (A planted fault)."
    )


def test_an_accepted_fault_of_an_npm_package_passes(databases: Databases, tmp_path: Path) -> None:
    assert of_npm(databases, tmp_path, {"GHSA-aaaa-bbbb-cccc": "not reached"}) == []
    assert databases.asked == [{"planted": ["1.0.0"]}]


def test_without_the_registrys_advisories_npm_packages_are_not_judged(databases: Databases, tmp_path: Path) -> None:
    databases.is_served = False
    (found,) = of_npm(databases, tmp_path, {})
    assert not found.is_judged
    assert "405" in found.text
    assert "\n" not in found.text
