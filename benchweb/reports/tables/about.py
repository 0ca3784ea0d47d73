"""What the runs were made on and how: hosts with their facts, plans with their repetitions."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from benchweb.common.formatting import quantity
from benchweb.documents.document import DocumentTable
from benchweb.documents.references import (
    environment_ref,
    free_text,
    host_ref,
    joined_label,
    pair_ref,
    run_ref,
    version_ref,
)
from benchweb.hosts.models import Host
from benchweb.reports.reported import Facts, ReportedRun
from benchweb.reports.tables.notation import MISSING, filled
from benchweb.runs.models import Run


def host_tables(runs: Sequence[ReportedRun]) -> list[DocumentTable]:
    """Return what the engines told of each host, as of its last run here; imported runs tell nothing."""
    hosts: dict[Host, Facts] = {}
    for run in runs:
        for end, facts in zip((run.run.pair.source, run.run.pair.sink), run.facts, strict=True):
            if facts or end.host not in hosts:
                hosts[end.host] = facts
    if not any(hosts.values()):
        return []
    columns = [_("Host"), _("Operating system"), _("Kernel"), _("CPU"), _("Memory"), _("Network card"), _("Engine")]
    return [
        DocumentTable(
            _("Hosts"), columns, [[host_ref(host.pk, host.name), *_facts(facts)] for host, facts in hosts.items()]
        )
    ]


def _facts(facts: Facts) -> list[str]:
    cpu = facts.get("cpu") or {}
    memory = facts.get("memory_bytes")
    return [
        _told(facts.get("operating_system")),
        _told(facts.get("kernel")),
        free_text(cpu["model"]) + f" × {cpu.get('logical', '?')}" if cpu.get("model") else MISSING,
        str(quantity(memory, "B")) if memory else MISSING,
        _card(facts),
        facts.get("engine_version") or MISSING,
    ]


def _told(text: str | None) -> str:
    """Return what a machine told of itself."""
    return free_text(text) if text else MISSING


def _card(facts: Facts) -> str:
    """Return the first interface that is no loopback: its driver, speed and MTU."""
    cards: list[Mapping[str, Any]] = [each for each in facts.get("interfaces") or [] if each.get("name") != "lo"]
    if not cards:
        return MISSING
    card = cards[0]
    speed = card.get("speed_bps")
    words = [free_text(card.get("name") or ""), free_text(card.get("driver") or "")]
    figures = [str(quantity(speed, "bit/s")) if speed else "", f"MTU {card['mtu']}" if card.get("mtu") else ""]
    return joined_label([*words, *figures], ", ")


def run_tables(runs: Sequence[ReportedRun]) -> list[DocumentTable]:
    """Return which runs the report is made of."""
    columns = [
        *(_("Run"), _("Pair"), _("Environment"), _("Plan"), _("Round"), _("Repetitions")),
        *(_("Measured at (UTC)"), _("Origin")),
    ]
    rounds = _rounds(runs)
    notes = [_("Rounds are the runs of one pair, in the order in which they were measured.")]
    rows = [_run(run, rounds[run.run.pk]) for run in runs]
    return filled([DocumentTable(_("Runs"), columns, rows, [4, 5], notes)])


def _rounds(runs: Sequence[ReportedRun]) -> dict[int, str]:
    """Return of each run which one of its pair's it is, and of how many."""
    of_pairs: dict[int, list[Run]] = {}
    for run in sorted((run.run for run in runs), key=lambda run: (run.started_at or run.created_at, run.pk)):
        of_pairs.setdefault(run.pair_id, []).append(run)
    return {
        run.pk: _("{number} of {total}").format(number=number, total=len(of_pair))
        for of_pair in of_pairs.values()
        for number, run in enumerate(of_pair, 1)
    }


def _run(run: ReportedRun, number: str) -> list[str]:
    version, began = run.run.plan_version, run.run.started_at or run.run.created_at
    most = max((test.n for test in run.combinations()), default=0)
    return [
        run_ref(run.run.pk),
        pair_ref(run.run.pair),
        environment_ref(run.run.pair.environment.name),
        version_ref(version.plan.name, version.number),
        number,
        str(most),
        f"{began:%Y-%m-%d %H:%M}",
        run.origin or "benchweb",
    ]
