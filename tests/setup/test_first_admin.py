"""A fresh start without the demo says how the first admin is made."""

import http.client
import re
import time
from collections.abc import Callable

from tests.setup.processes import READY_SECONDS, Up

_LINE = re.compile(r"web \| .*There is no admin yet\. Open /first-admin and enter the code [a-z0-9-]{23}")


def test_up_without_the_demo_prints_the_code_of_the_first_admin(up: Callable[..., Up]) -> None:
    running = up("fresh", "--no-demo")
    running.wait_ready()
    give_up_at = time.monotonic() + READY_SECONDS
    while not _LINE.search(running.output):
        assert time.monotonic() < give_up_at, running.output
        time.sleep(0.05)
    connection = http.client.HTTPConnection("127.0.0.1", running.port)
    connection.request("GET", "/login")
    answer = connection.getresponse()
    assert (answer.status, answer.headers["Location"]) == (302, "/first-admin")
    connection.close()
    running.terminate()
