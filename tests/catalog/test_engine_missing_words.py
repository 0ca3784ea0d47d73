"""What the engine says that a host doesn't tell is said in the reader's language."""

import re
from pathlib import Path

from django.utils import translation

from benchweb.catalog.engine_reasons import engine_reason
from benchweb.catalog.messages.engine_sentences import MESSAGES
from benchweb.catalog.translation import reason_text

LINES = [text for code, text in MESSAGES.items() if code.startswith("missing_")]
CRATES = Path(__file__).parents[2] / "engine/crates"


def test_a_line_is_said_with_the_interface_it_is_about() -> None:
    with translation.override("zh-hans"):
        assert reason_text(engine_reason("speed of eth0: the driver tells none")) == "eth0 的速率：驱动未提供"
        assert reason_text(engine_reason("/proc/meminfo: No such file or directory (os error 2)")).startswith(
            "/proc/meminfo: No such"
        )


def test_every_feature_of_the_engine_and_every_reason_of_its_own_is_known() -> None:
    """The engine's sources are read: a line that is worded anew there would stay English, without a word."""
    features = (CRATES / "net/src/features.rs").read_text().split("#[cfg(test)]")[0]
    named = re.findall(r'feature\(\s*"(\w+)",.*?"((?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)",?\s*\)', features, re.DOTALL)
    told = [f"{name}: {text}".replace('\\"', '"') for name, text in named]
    facts = "".join(file.read_text() for file in sorted((CRATES / "kinds/src/facts").glob("*.rs")))
    told += [f"{what}: {why}" for what, why in re.findall(r'missing\.note\("([^"]+)", "([^"]+)"\)', facts)]
    speed = re.findall(r'(?:[01]|_) => "([^"]+)"', facts)
    # Facts of older engines have it still.
    told += [f"speed of {{interface}}: {why}" for why in (*speed, "the one that the driver tells bounds nothing")]
    assert len(told) == len(LINES)
    assert set(told) == set(LINES)
