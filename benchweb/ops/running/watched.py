"""Run the pages' server in a container: `watched PORT COMMAND…` ends it, and so itself, once it answers nothing.

Docker restarts a container whose program ended, but not one that is unhealthy; standard library only.
"""

import signal
import subprocess
import sys

from benchweb.ops.running.liveness import Liveness, Watch
from benchweb.ops.running.lossy_file import say
from benchweb.ops.running.processes import spawn

POLL_SECONDS = 0.5


def main(words: list[str], watch: Watch) -> int:
    """Run the command to its end; return its status, as a shell would."""
    process = spawn(words, output=sys.stdout.fileno())
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: process.send_signal(number))
    liveness = Liveness(watch)
    while True:
        try:
            status = process.wait(POLL_SECONDS)
            return status if status >= 0 else 128 - status
        except subprocess.TimeoutExpired:
            if liveness.is_dead():
                say(f"The server gave no answer to /livez for {liveness.silent_seconds():.0f} s: it is killed.")
                process.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], Watch(int(sys.argv[1]))))
