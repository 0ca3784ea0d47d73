"""Put what got worse slowly together where it has one cause: a host, an uplink or a pair, about the same night."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from benchweb.catalog import catalog
from benchweb.regressions.deciding import NEAR_NIGHTS_OF_SLOW
from benchweb.regressions.judging.causes import common_causes, common_host
from benchweb.regressions.judging.grouping import have_same_hosts, pairs_with_hosts
from benchweb.regressions.judging.slots import pairs_by_cause
from benchweb.regressions.slow.findings import SlowSeriesFinding


@dataclass(frozen=True)
class SlowGroup:
    """Findings of one cause; the first names them."""

    host_id: int | None
    pair_id: int | None
    pair_count: int
    findings: Sequence[SlowSeriesFinding]


def one_cause_groups(findings: Sequence[SlowSeriesFinding], judged_pairs: Collection[int]) -> list[SlowGroup]:
    """Return the findings by their causes, most series first; `judged_pairs` are all that were looked at. One query."""
    if not findings:
        return []
    pairs = {pair.pk: pair for pair in pairs_with_hosts(judged_pairs)}
    groups = []
    for together in _begun_together(findings):
        bad = {finding.series.pair_id for finding in together}
        for ids in pairs_by_cause(bad, pairs.values()):
            its = [pairs[pk] for pk in sorted(ids)]
            groups.append(
                SlowGroup(
                    host_id=common_host(common_causes(its)),
                    pair_id=its[0].pk if have_same_hosts(its) else None,
                    pair_count=len(its),
                    findings=_named_first([finding for finding in together if finding.series.pair_id in ids]),
                )
            )
    return sorted(groups, key=lambda group: -len(group.findings))


def _begun_together(findings: Sequence[SlowSeriesFinding]) -> list[list[SlowSeriesFinding]]:
    groups: list[list[SlowSeriesFinding]] = []
    for finding in sorted(findings, key=lambda each: (each.since, each.series.series_id)):
        if groups and finding.since - groups[-1][0].since <= timedelta(days=NEAR_NIGHTS_OF_SLOW):
            groups[-1].append(finding)
        else:
            groups.append([finding])
    return groups


def _named_first(findings: Sequence[SlowSeriesFinding]) -> list[SlowSeriesFinding]:
    """Put a kind's headline before other measures, then what most pairs show, then the largest difference."""
    pairs: dict[tuple[str, str], set[int]] = defaultdict(set)
    for finding in findings:
        pairs[finding.series.kind, finding.series.metric.key].add(finding.series.pair_id)

    def order(finding: SlowSeriesFinding) -> tuple[bool, int, tuple[str, str], float, int]:
        measure = (finding.series.kind, finding.series.metric.key)
        kind = catalog().kinds.get(measure[0])
        is_headline = kind is not None and kind.headline == measure[1]
        size = abs(finding.change.difference_ratio or 0.0)
        return not is_headline, -len(pairs[measure]), measure, -size, finding.series.series_id

    return sorted(findings, key=order)
