"""Health of this container, for Docker: `healthcheck.py web [PORT] | worker | beat`; exit status 0 is healthy."""

import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Callable

TIMEOUT_SECONDS = 5
# Where the image's own command serves.
WEB_PORT = "8000"


def web(port: str = WEB_PORT) -> str:
    """Say what is wrong with the pages' server and what it needs itself, or nothing."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=TIMEOUT_SECONDS):
            return ""
    except urllib.error.HTTPError as error:
        return f"/readyz answers {error.code}: {error.read(2000).decode(errors='replace')}"
    except OSError as error:
        return f"/readyz doesn't answer: {error}"


def worker() -> str:
    """Ask this container's worker itself: the heartbeat in Redis is one for all workers."""
    from workers.beat import app  # The lighter of the two applications; a ping needs the broker only.

    name = f"celery@{socket.gethostname()}"
    return "" if app.control.ping(destination=[name], timeout=TIMEOUT_SECONDS) else f"{name} doesn't answer"


def beat() -> str:
    """Look for the sign of life that the beat leaves with every tick."""
    from benchweb.ops.health import heartbeat
    from benchweb.settings import REDIS_URL

    with heartbeat.client(REDIS_URL) as broker:
        return "" if broker.exists(heartbeat.BEAT_KEY) else f"no tick for {heartbeat.LIFE_SECONDS} s"


CHECKS: dict[str, Callable[..., str]] = {"web": web, "worker": worker, "beat": beat}


def main(words: list[str]) -> int:
    """Run one check and print what is wrong."""
    if not words or words[0] not in CHECKS:
        print(f"usage: healthcheck.py {' | '.join(CHECKS)}", file=sys.stderr)
        return 2
    problem = CHECKS[words[0]](*words[1:])
    if problem:
        print(problem)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
