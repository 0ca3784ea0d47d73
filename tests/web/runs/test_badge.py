"""The badge's picture."""

import re

from benchweb.web.runs.badge import badge_svg


def lengths(label: str) -> list[str]:
    return re.findall('textLength="([0-9]+)"', badge_svg(label, "16.3 Gbit/s", color="blue"))


def test_a_chinese_character_gets_the_room_of_its_height() -> None:
    assert lengths("吞吐量") == ["33", "73"]
    assert lengths("throughput") == ["66", "73"]
