"""A planted secret fails with its file and line, by the project's own baseline."""

import secrets
import shutil
import string
import subprocess
from pathlib import Path

import pytest

from benchweb.ops.setup.home import PROJECT
from benchweb.ops.supply_chain import secret_strings

pytestmark = pytest.mark.needs("Git")


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
    shutil.copy(PROJECT / secret_strings.BASELINE, tmp_path)
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    return tmp_path


def found(checkout: Path, name: str, line: str) -> list[str]:
    file = checkout / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"# first\n{line}\n")
    return [finding.text for finding in secret_strings.found(checkout)]


def test_planted_secrets_fail_with_file_and_line(checkout: Path) -> None:
    for name, line in PLANTED.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(f"# first\n{line}\n")
    texts = [finding.text for finding in secret_strings.found(checkout)]
    told = {text.partition(": looks like a secret (")[0] for text in texts}
    assert told == {f"{name}:2" for name in PLANTED}


def test_a_line_that_is_marked_passes(checkout: Path) -> None:
    line = f'PASSWORD = "{letters(14)}"  # pragma: allowlist secret (an example)'
    assert found(checkout, "example.py", line) == []


def test_what_git_ignores_is_not_looked_at(checkout: Path) -> None:
    assert found(checkout, "ignored.py", f'PASSWORD = "{letters(14)}"') == []


def test_a_secret_of_the_baseline_passes_in_its_file_only_wherever_its_line_is(checkout: Path) -> None:
    known = (PROJECT / "tests/web/shared/test_shell.py").read_text()
    (checkout / "tests" / "web" / "shared").mkdir(parents=True)
    (checkout / "tests" / "web" / "shared" / "test_shell.py").write_text(f"# a line more\n{known}")
    baseline = (checkout / secret_strings.BASELINE).read_text()
    assert list(secret_strings.found(checkout)) == []
    assert (checkout / secret_strings.BASELINE).read_text() == baseline
    (checkout / "tests" / "web" / "copy.py").write_text(known)
    (finding,) = secret_strings.found(checkout)
    assert finding.text.startswith("tests/web/copy.py:")


def test_without_a_checkout_secrets_are_not_judged(tmp_path: Path) -> None:
    (finding,) = secret_strings.found(tmp_path)
    assert not finding.is_judged
