"""A host to install on: the machine itself, with scratch folders in place of those that an installation touches."""

import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.packaging.engine.portable import in_own_users

_FOLDERS = ("/usr/local/bin", "/etc", "/run", "/var/lib")
_SYSTEMCTL = Path(__file__).with_name("systemctl.sh")
_PATIENCE_SECONDS = 120


@dataclass(frozen=True)
class ScratchHost:
    """A shell in namespaces of its own, in which everything is root's and those folders are empty."""

    shell: "subprocess.Popen[str]"

    def run(self, command: str) -> tuple[int, str]:
        """Run a command line; return its exit status and all that it printed."""
        assert self.shell.stdin and self.shell.stdout
        end = "==the end of a scratch command=="
        self.shell.stdin.write(f"({command}) </dev/null 2>&1; status=$?; echo; echo {shlex.quote(end)} $status\n")
        self.shell.stdin.flush()
        lines: list[str] = []
        for line in self.shell.stdout:
            if line.startswith(end):
                return int(line.removeprefix(end)), "".join(lines).strip()
            lines.append(line)
        raise AssertionError(f"the scratch host has ended: {''.join(lines)}")

    def files(self) -> list[str]:
        """Return all files and folders that are in the scratch folders, but for the stand-in's own."""
        status, found = self.run(f"find {' '.join(_FOLDERS)} -mindepth 1 ! -path '/run/*' ! -path '/etc/hosts'")
        assert status == 0, found
        return sorted(found.splitlines())


@contextmanager
def scratch_host(*, has_systemd: bool = True) -> Iterator[ScratchHost]:
    """Give a host, with something that does what systemd would where it has that."""
    mounts = [f"mount -t tmpfs none {folder}" for folder in _FOLDERS]
    script = [f"stub=$(cat {shlex.quote(str(_SYSTEMCTL))})", "hosts=$(cat /etc/hosts)", *mounts]
    script += ['printf "%s\\n" "$hosts" >/etc/hosts', "mkdir /run/bin"]
    if has_systemd:
        script += ["mkdir -p /run/systemd/system /etc/systemd/system", 'printf "%s\\n" "$stub" >/run/bin/systemctl']
        script += ["chmod +x /run/bin/systemctl"]
    script += ['export PATH="/run/bin:/usr/sbin:/usr/bin:/sbin:/bin"', "exec sh"]
    # A process of its own and all that it starts end with the shell, whose namespace it is.
    words = in_own_users("--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", " && ".join(script))
    shell = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield ScratchHost(shell)
    finally:
        shell.send_signal(signal.SIGTERM)
        assert shell.stdin
        shell.stdin.close()
        shell.wait(timeout=_PATIENCE_SECONDS)
