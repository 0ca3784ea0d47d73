"""Which Python is to run everything: one that was built without optimisations takes a third longer for each page.

pyenv and a plain `make` build such ones, distributions don't. Standard library only.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

DISTRIBUTION = Path("/usr/bin/python3")
OLDEST = (3, 11)
# What doesn't gain this much isn't worth another interpreter than the one that was called.
_GAIN = 1.1
_ROUNDS = 3
_LIMIT_SECONDS = 20
# What pages are made of: calls, dictionaries, texts. A version that is too old takes for ever.
_WORK = f"""
import sys, time
def work():
    found = {{}}
    for number in range(40_000):
        key = "a%d" % (number & 255)
        found[key] = found.get(key, 0) + len(key.split("1"))
    return sum(each for each in found.values())
begun = time.perf_counter()
work()
print(time.perf_counter() - begun if sys.version_info >= {OLDEST} else "inf")
"""


def interpreter() -> str:
    """Give the interpreter that was called, or the distribution's where that one is clearly faster."""
    return fastest(sys.executable, [DISTRIBUTION])


def fastest(called: str, others: Sequence[Path]) -> str:
    """Give the fastest, by the best of some rounds side by side; what can't be run is passed over."""
    candidates = [called, *(str(each) for each in others if each.exists() and not each.samefile(called))]
    if len(candidates) == 1:
        return called
    seconds = dict.fromkeys(candidates, float("inf"))
    for _ in range(_ROUNDS):
        for each in candidates:
            seconds[each] = min(seconds[each], _measured(each))
    best = min(candidates, key=lambda each: seconds[each])
    return best if seconds[best] * _GAIN < seconds[called] else called


def _measured(python: str) -> float:
    try:
        # Isolated, and without what an environment's site would load.
        words = [python, "-I", "-S", "-c", _WORK]
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=_LIMIT_SECONDS)
        return float(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return float("inf")
