"""Lines that look like a tool's and belong to no test: each is told with why, for silence would be a wrong answer."""

import re

# More than the heads of all that netperf can tell; of JSON, a whole document may stand in a line.
LONGEST_LINE = 8_192
_LONGEST_ROW = 300
OF_NO_TEST = "No test begins here that this line belongs to."
# A line that only a tool prints, in a place where none of its tests begins.
_TOOL_LIKE = re.compile(
    r"^\s*+(?:\[\s*(?:\d+|SUM)\]\s+\d|MIGRATED |OMNI |Requests/sec:\s+\d|Transfer/sec:\s+\d|rtt min/|round-trip min/"
    r"|\d+ packets transmitted|AVG\s+Method:|(?:Copy|Scale|Add|Triad):\s+\d|sockperf: |\d+ requests in "
    r"|Requests per second:\s+[\d.]+ \[|Time per request:\s+[\d.]+ \[ms\]|(?:Slowest|Fastest|Average):\s+[\d.]+ secs"
    r"|Success rate:\s+[\d.]+%|#bytes\s+#iterations\s|\d\d:\d\d:\d\d INFO: \s*(?:total bytes|throughput)\s*:"
    r"|[^:\n]{1,200}: \(groupid=)"
)
_FOREIGN_PING = re.compile(
    r"^\s*+(?:Ping wird ausgef|Antwort von |Pakete: Gesendet|Envoi d.une requ|R.ponse de |Paquets.: envoy"
    r"|Haciendo ping|Respuesta desde |Paquetes: enviados|Esecuzione di Ping|Risposta da |Pacchetti: |Disparando "
    r"|Resposta de |Pacotes: |Обмен пакетами|Ответ от |\d+ Bytes? von |\d+ octets de |\d+ bytes desde "
    r"|\d+ (?:Pakete [u]bertragen|paquets transmis|paquetes transmitidos|pacotes transmitidos|пакетов передано)"
    r"|[Pp]ing [^:]{1,80} (?:に|을|를)|[0-9.]+ からの応答)",
)
# Tools that aren't read, by lines that nothing else prints.
_OTHERS = (
    ("nuttcp -v -fparse", r"^\s*+nuttcp-[tr]\S{0,41}: megabytes="),
    ("hey -o csv", r"^response-time,DNS\+dialup"),
    ("oha --output-format csv", r"^request-start,DNS,DNS\+dialup"),
    ("mtr", r"^\s*+(?:HOST: \S+\s+Loss%|\d+\.\|-- )"),
    ("fio --minimal", r"^\d;fio-\d"),
    ("sadf -d", r"^# ?hostname;interval;timestamp"),
    ("iostat", r"^\s*+(?:Device:?\s+\S*tps\b|Device\s+r/s\b|avg-cpu:\s+%user)"),
    ("vmstat", r"^\s*+(?:procs -+memory|r\s+b\s+swpd\s+free)"),
    ("dd", r"^\s*+\d+ bytes (?:\([^)]{1,60}\) )?copied, "),
    ("hdparm", r"^\s*+Timing (?:cached|buffered disk) reads:"),
    ("lmbench", r"^\s*+Simple (?:syscall|read|write): "),
    ("speedtest", r"^\s*+(?:Download|Upload):\s+[\d.]+ Mbit/s"),
    ("curl", r"^\s*+% Total\s+% Received % Xferd"),
    ("sysbench's fileio and oltp", r"^\s*+(?:queries performed:|reads/s:\s+[\d.]+|Throughput:\s*$)"),
)
_OTHER = re.compile("|".join(f"(?P<t{number}>{pattern})" for number, (_, pattern) in enumerate(_OTHERS)))
_OTHER_SAR = re.compile(
    r"^(?:\d\d:\d\d:\d\d(?: [AP]M)?|Average:)\s+(?:CPU\s+%|tps\s|DEV\s+|kbmemfree|runq-sz|proc/s|pgpgin"
    r"|IFACE\s+rxerr|INTR\s|\S+(?:\s+-?\d+\.\d\d){4,20}$)"
)
_UNIT = (
    r"(?:[KMGTkmg]i?)?(?:bits?|[Bb]ytes?|B|b)(?:/s(?:ec)?|ps)\b|[KMGT]i?B\b|IOPS\b|iops\b"
    r"|(?:ops|req|trans|tran|msg|pkt|events?)/s(?:ec)?\b"
    r"|pps\b|tps\b|[mun]?secs?\b|[mµμun]s\b|%"
)
_AMOUNT = re.compile(rf"(?<![\w.])[-+]?\d+(?:[.,]\d+)*\s?(?:{_UNIT})")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:[.,]\d+)*")
_LABELLED = re.compile(rf"^\s*+[^:=|]{{1,48}}[:=]\s*[-+]?\d+(?:[.,]\d+)*\s?(?:{_UNIT})\s*$")
_WORD = re.compile(r"[^\W\d_]{2,}")
# Commands, heads and comments are a person's.
_PERSONS = re.compile(r"^(?:.{1,80}: \(g=\d+\): rw=)|^\s*+(?:[$#>|*+-]|//|\S+@\S+[:~]|\d+[.)] |```|<)")
_SENTENCE_ENDS = (".", "。", "!", "?", ":", "：", ";", "；", ",", "，")
_FEWEST_NUMBERS = 3


def why_unread(line: str) -> str:
    """Return what is to be told of a line that belongs to no test; empty for prose."""
    if len(line) > LONGEST_LINE:
        return f"The line has over {LONGEST_LINE:,} characters: no tool's has."
    if _FOREIGN_PING.match(line):
        return "ping in this language isn't read: run it with LC_ALL=C."
    if other := _OTHER.match(line):
        return f"Outputs of {_OTHERS[int((other.lastgroup or '')[1:])][0]} aren't read."
    if _OTHER_SAR.match(line):
        return "Of sar's tables only that of -n DEV is read."
    if _TOOL_LIKE.match(line):
        return OF_NO_TEST
    return OF_NO_TEST if _has_figures(line) else ""


def _has_figures(line: str) -> bool:
    """Whether a line is mostly numbers with units, or a word with one: no sentence of a person's."""
    if len(line) > _LONGEST_ROW or _PERSONS.match(line) or not _AMOUNT.search(line):
        return False
    if _LABELLED.match(line):
        return True
    numbers, words = len(_NUMBER.findall(line)), len(_WORD.findall(line))
    return numbers >= _FEWEST_NUMBERS and words <= 2 * numbers and not line.rstrip().endswith(_SENTENCE_ENDS)
