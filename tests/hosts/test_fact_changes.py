"""What changed on a host, in words."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import translation

from benchweb.hosts.facts.changes import SeenFacts, differences, fact_changes
from tests.charts.history_rows import DAY, NIGHT

QUOTA = "CPU quota of the control group"


def eth0(**fields: Any) -> dict[str, Any]:
    return {"interfaces": [{"name": "eth0", **fields}]}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"kernel": "6.1", "boot_id": "a"}, {"kernel": "6.8", "boot_id": "b"}, ["kernel 6.1 → 6.8"]),
        ({"kernel": "6.1", "boot_id": "a"}, {"kernel": "6.1", "boot_id": "b"}, ["rebooted"]),
        (
            {"cpu": {"governor": "powersave"}},
            {"cpu": {"governor": "performance"}},
            ["governor powersave → performance"],
        ),
        (eth0(mtu=1500), eth0(mtu=9000), ["MTU 1500 B → 9000 B on eth0"]),
        (eth0(offloads={"tso": True}), eth0(offloads={"tso": False}), ["tso on → off on eth0"]),
        ({"control_group": {"cpu_quota": 0.5}}, {"control_group": {"cpu_quota": 2}}, [f"{QUOTA} 0.5 CPU → 2 CPU"]),
        ({"interfaces": []}, eth0(), ["eth0 added"]),
        ({"sysctls": {"net.core.rmem_max": "1"}}, {"sysctls": {"net.core.rmem_max": "2"}}, ["net.core.rmem_max 1 → 2"]),
        # What one of both doesn't tell is missing, no change.
        ({"kernel": "6.1", "clock_source": None}, {"kernel": "6.1", "clock_source": "tsc"}, []),
    ],
)
def test_a_difference_is_said_in_words(before: dict[str, Any], after: dict[str, Any], words: list[str]) -> None:
    assert differences(before, after) == words


def test_facts_that_came_back_are_a_change_too() -> None:
    usual = SeenFacts("usual", NIGHT, NIGHT + 9 * DAY)
    tried = SeenFacts("tried", NIGHT + 3 * DAY, NIGHT + 5 * DAY)
    changes = fact_changes([tried, usual], lambda: {"usual": {"kernel": "6.1"}, "tried": {"kernel": "6.8"}})
    assert [(change.at, change.words) for change in changes] == [
        (NIGHT + 3 * DAY, "kernel 6.1 → 6.8"),
        (NIGHT + 5 * DAY, "kernel 6.8 → 6.1"),
    ]


def test_two_documents_are_read_and_compared_once_in_each_language() -> None:
    # What is kept is the process's.
    one, other = uuid4().hex, uuid4().hex
    rows = [SeenFacts(one, NIGHT, NIGHT + DAY), SeenFacts(other, NIGHT + 2 * DAY, NIGHT + 3 * DAY)]
    documents = {one: {"boot_id": "a"}, other: {"boot_id": "b"}}
    asked = []

    def read() -> dict[str, dict[str, str]]:
        asked.append(1)
        return documents

    for language in ("en", "en", "zh-hans", "zh-hans"):
        with translation.override(language):
            (change,) = fact_changes(rows, read)
            assert change.words == ("rebooted" if language == "en" else "已重启")
    assert len(asked) == 2


def test_one_row_of_facts_is_no_change() -> None:
    assert fact_changes([SeenFacts("usual", NIGHT, NIGHT + timedelta(days=1))], dict) == []
