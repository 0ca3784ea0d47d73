"""What tools and shells print when something went wrong: it outranks the figures beside it, in every format."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchweb.toolformats.readings import Lines, Reading
from benchweb.toolformats.whole import Whole

# Lines with words that may stand between a reading's last line and the complaint about it.
_NEAR = 6
_FARTHEST = 40
_LONGEST = 300
# No text tells of more troubles.
_MOST_SUSPECTS = 20_000
# An interrupted fio says so before the results of its jobs, which a start or the end of a document separates.
_FIO_INTERRUPTED = re.compile(r"^.{0,200}fio: (?P<what>terminating on signal \d+)")
_FIO_BEGINS = ("fio-", "Starting ")


@dataclass(frozen=True, slots=True)
class _Complaint:
    """A line that only a tool in trouble prints; `kind` is of a test that such a line alone tells."""

    tool: str
    pattern: re.Pattern[str]
    kind: str | None = None
    # Whether the line by itself is a test that failed; else it only belongs to one.
    is_test: bool = True
    # A shell's, or of what runs a command elsewhere: a result that is whole may have been of the command before.
    by_shell: bool = False
    # Whether the command that it is about began at all.
    has_run: bool = True

    def of(self, reading: Reading) -> bool:
        if self.tool == "iperf3" and reading.is_server:
            # Its server writes errors elsewhere than results: nobody knows which test they are of.
            return False
        return not self.tool or reading.tool.startswith(self.tool)


_TROUBLE = (
    r"(?=.*(?:error|fail|unable|cannot|can't|could not|refused|unreachable|not known|unknown|denied|not permitted"
    r"|timed out|no route|invalid|abort|bad |terminat|interrupt|reset by|broken pipe|not found|unrecogni))"
)


def _program(name: str, what: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:\S*/)?{name}(?:\[\d+\])?: (?P<what>{what})$", re.IGNORECASE)


_SHELLS = "(?:-?(?:ba|z|da|k)?sh|timeout|sudo|ssh|docker|kubectl)"
_KILLS = "Killed|Terminated|Aborted|Hangup|Bus error|Segmentation fault|Floating point exception"
# "Killed", and with the command, as in "run.sh: line 3: 4711 Killed    iperf3 -c 10.0.0.2" and "zsh: killed     wrk".
_KILLED = re.compile(
    rf"^(?P<what>(?:{_KILLS})(?: \(core dumped\))?"
    rf"|(?:.{{0,80}}\b\d+|zsh:)\s+(?i:{_KILLS})\b(?:\s+\(core dumped\))?(?P<command>.*))$"
)
_NO_TROUBLE = "(?!.*(?:warning:|unable to resolve host|permanently added))"
_NEVER_RAN = (
    r"(?=.*(?:not found|permission denied|no such file or directory|connection (?:refused|closed|reset|timed out)"
    r"|could not resolve|no route to host|cannot execute|failed to run|cannot connect|error response from daemon))"
)
# What programs are called whose readings are named otherwise.
_TOOLS = {"iperf": "iperf2", "ping6": "ping", "stream_c.exe": "stream"}
# How the tools whose program is both ends are begun as a server, from behind the program's name on.
_IPERF_SERVER = re.compile(r".*?\s(?:-[a-zA-Z0-9]*s[a-zA-Z0-9]*|--server)(?=\s|$)")
_SERVERS = {"iperf2": _IPERF_SERVER, "iperf3": _IPERF_SERVER, "sockperf": re.compile(r"\s+(?:server|sr)(?=\s|$)")}

# The first that fits; those without a tool are a shell's, of whatever stands before them.
_COMPLAINTS: tuple[_Complaint, ...] = (
    _Complaint("iperf3", _program("iperf3", "(?:error|interrupt) - (?!the server has terminated).*"), is_test=False),
    _Complaint("iperf2", re.compile(r"^(?P<what>(?:tcp |udp )?(?:connect|write\d?|read|accept|bind) failed: .*)$")),
    _Complaint(
        "iperf2",
        re.compile(r"^(?:\[\s*\d+\] )?(?P<what>WARNING: did not receive ack of last datagram.*)$"),
        is_test=False,
    ),
    _Complaint("netperf", _program("netperf", _TROUBLE + ".*")),
    _Complaint(
        "netperf",
        re.compile(
            r"^(?P<what>establish control: .*|(?:send|recv)_\w+: .*|shutdown_control: .*|catcher: .*"
            r"|.{0,80}\bremote error \d+.*|.{0,80}\bnetserver at .* is not running.*)$"
        ),
    ),
    _Complaint("wrk", re.compile(r"^(?P<what>unable to (?:connect to|resolve) \S+:\w+ .+)$"), "http_load"),
    _Complaint(
        "ab", re.compile(r"^(?P<what>apr_\w{1,40}(?:\(\))?(?: for \S{1,255})?: .{1,200} \(\d+\))$"), "http_load"
    ),
    # Two letters are a word of prose too.
    _Complaint("ab", re.compile(r"^ab: (?P<what>(?:[Cc]annot use|Could not|[Ii]nvalid) .*)$"), "http_load"),
    _Complaint("nuttcp", re.compile(r"^nuttcp(?:-[tr]\S{0,41})?: (?:v[\d.]+\S{0,20}: )?(?P<what>Error: .+)$")),
    _Complaint("ntttcp", re.compile(r"^\d\d:\d\d:\d\d ERR : ?(?P<what>(?:sender|receiver|main): .+)$")),
    _Complaint("ping", _program("ping6?", _TROUBLE + ".*"), "ping"),
    _Complaint("fio", _program("fio", r"(?:pid=\d+, err=|io_u error|verify).*")),
    _Complaint("sysbench", re.compile(r"^(?P<what>FATAL: .*)$")),
    _Complaint("sockperf", re.compile(r"^sockperf: (?P<what>ERROR.*|.*(?:failed|refused|[Cc]an't|unreachable).*)$")),
    _Complaint("qperf", re.compile(r"^(?P<what>[\w.:-]+: failed to connect)$")),
    _Complaint("perftest", re.compile(r"^(?P<what>Couldn't connect to [\w.:-]{1,255}:\d+)$")),
    _Complaint("uperf", re.compile(r"^(?P<what>\*\*+ .*(?:rror|bort|ail).*|Error (?:in|con).*)$"), is_test=False),
    _Complaint("stream", re.compile(r"^(?P<what>Failed Validation .*)$"), is_test=False),
    _Complaint("", re.compile(r"^(?P<what>command terminated with exit code \d+)$"), is_test=False),
    _Complaint("", _KILLED, is_test=False, by_shell=True),
    _Complaint(
        "", _program(_SHELLS, _NO_TROUBLE + r".*\b(?:killed|terminated|dumped core)\b.*"), is_test=False, by_shell=True
    ),
    _Complaint("", _program(_SHELLS, _NO_TROUBLE + _NEVER_RAN + ".*"), is_test=False, by_shell=True, has_run=False),
)
# What each complaint has: looked for in the whole text at once, for nearly every line is none.
_HINTS = (
    "rror", "ail", "FATAL", "nable", "annot", "an't", "ould not", "efused", "nreachable", "not known", "nknown",
    "enied", "not permitted", "imed out", "o route", "nvalid", "bort", "bad ", "erminat", "nterrupt", "eset by",
    "roken pipe", "not found", "nrecogni", "Killed", "killed", "Hangup", "ault", "xception", "establish control",
    "send_", "recv_", "_control:", "catcher:", "WARNING: did", "is not running", "sh: ", "timeout: ", "err=",
    "exit code", "apr_", "ERR : ", "ouldn't connect", "fio-", "Starting ", "docker: ", "kubectl: ", "sudo: ", "ssh: ",
)  # fmt: skip


def heed_complaints(readings: list[Reading], whole: Whole, check: Callable[[], None]) -> list[Reading]:
    """Set the error that a line within or just behind a reading tells; return tests of which only that is known."""
    lines = whole.lines
    firsts = [reading.lines.first for reading in readings]
    alone: list[Reading] = []
    # The last complaint about each: behind it others may follow.
    reached: dict[int, int] = {}
    # Where fio was interrupted, and where it began or ended.
    of_fio: list[tuple[int, str]] = []
    for index in _suspects(whole, check):
        number, line = index + 1, lines[index]
        if line.startswith(_FIO_BEGINS):
            of_fio.append((number, ""))
        if len(line) > _LONGEST:
            continue
        if interrupted := _FIO_INTERRUPTED.match(line):
            of_fio.append((number, interrupted["what"]))
        if not (found := _complaint(line.strip())):
            continue
        complaint, told = found
        what = told["what"].strip()
        before = readings[bisect_right(firsts, number) - 1] if firsts and number >= firsts[0] else None
        if before and complaint.of(before) and _is_near(reached.get(id(before), before.lines.last), number, lines):
            is_next_near = complaint.by_shell and _is_head_near(number, firsts, lines)
            if complaint.by_shell and not _is_of_it(before, complaint, told, is_next_near=is_next_near):
                continue
            reached[id(before)] = max(number, before.lines.last)
            _heed(before, what, firsts, readings)
        elif _is_same(alone, complaint, number):
            alone[-1].lines = Lines(alone[-1].lines.first, number)
        elif complaint.is_test and not _is_within(before, number):
            alone.append(Reading(complaint.tool, "", complaint.kind, error=what, lines=Lines(number, number)))
    _heed_fio(readings, of_fio)
    # fio tells of a trouble when it meets it, and again with the job.
    is_told = any(reading.tool == "fio" and reading.error for reading in readings)
    return [each for each in alone if each.tool != "fio" or not is_told]


def _suspects(whole: Whole, check: Callable[[], None]) -> Sequence[int]:
    """Return the lines that may complain, in their order."""
    text, starts = whole.text, whole.starts
    found: set[int] = set()
    for hint in _HINTS:
        check()
        position = text.find(hint)
        while position >= 0:
            index = bisect_right(starts, position) - 1
            found.add(index)
            # A line is looked at once, whatever it has more of.
            position = text.find(hint, starts[index + 1])
    return sorted(found)[:_MOST_SUSPECTS]


def _heed_fio(readings: Sequence[Reading], of_fio: Sequence[tuple[int, str]]) -> None:
    numbers = [number for number, _ in of_fio]
    for reading in readings:
        before = bisect_right(numbers, reading.lines.first - 1) - 1
        if reading.tool == "fio" and before >= 0 and not reading.error:
            reading.error = of_fio[before][1]


def _complaint(line: str) -> tuple[_Complaint, re.Match[str]] | None:
    for complaint in _COMPLAINTS:
        if found := complaint.pattern.match(line):
            return complaint, found
    return None


def _is_of_it(before: Reading, complaint: _Complaint, told: re.Match[str], *, is_next_near: bool) -> bool:
    """Whether what a shell tells is of the test before it, not of another command."""
    command = (told.groupdict().get("command") or "").strip()
    if command and not _is_run_by(before, command):
        return False
    if before.error or not before.figures:
        return True
    # What is whole stands there whatever could not begin afterwards; a killed command may be of the next head.
    return complaint.has_run and not is_next_near


def _is_head_near(number: int, firsts: Sequence[int], lines: Sequence[str]) -> bool:
    """Whether the next test begins soon behind the line `number`."""
    index = bisect_right(firsts, number)
    return index < len(firsts) and _is_near(number, firsts[index], lines)


def _is_run_by(reading: Reading, command: str) -> bool:
    """Whether a shell's job is the reading's tool, and no server that was ended when its clients were done."""
    for found in re.finditer(r"(?:^|[\s/'\"])([\w.]+)(?=[\s'\"]|$)", command):
        if _TOOLS.get(found[1], found[1]) == reading.tool:
            server = _SERVERS.get(reading.tool)
            return not (server and server.match(command, found.end()))
    return False


def _heed(before: Reading, what: str, firsts: Sequence[int], readings: Sequence[Reading]) -> None:
    """Note it at all readings of the same lines: interfaces of a table, directions of a job."""
    if before.tool == "ping" and before.figure("sent_probes"):
        # Probes that could not be sent are among those that were lost.
        return
    for index in range(bisect_right(firsts, before.lines.first) - 1, -1, -1):
        if readings[index].lines.first != before.lines.first:
            break
        readings[index].error = readings[index].error or what


def _is_near(last: int, number: int, lines: Sequence[str]) -> bool:
    if number - last > _FARTHEST:
        return False
    return sum(1 for line in lines[last : number - 1] if line.strip()) <= _NEAR


def _is_within(reading: Reading | None, number: int) -> bool:
    return reading is not None and reading.lines.first <= number <= reading.lines.last


def _is_same(alone: Sequence[Reading], complaint: _Complaint, number: int) -> bool:
    """Whether the line just before told of the same trouble: several lines are one failed test."""
    return bool(alone and alone[-1].tool == complaint.tool and number - alone[-1].lines.last <= 1)
