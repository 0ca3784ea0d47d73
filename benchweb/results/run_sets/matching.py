"""Match what sets of runs gave: of each test only paths that the baseline measured too stand beside it."""

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchweb.results.run_sets.sets import RunSet, Sample
from benchweb.results.selectors import TrialRow

# By what paths are alike: the same pair, another pair of the same two hosts, or of two hosts with the same peer; or as
# each side names a single pair, it is these that are compared.
MatchedBy = Literal["pair", "hosts", "peer", "named"]
_Test = tuple[str, str]
_Paths = Mapping[_Test, set[int]]


@dataclass(frozen=True)
class MatchedSample:
    """What of a set's sample is compared; the pairs of which no test is are left out.

    A test without a path in common keeps its figures, which are told and not compared.
    """

    trials: list[TrialRow]
    # The path that each run was on: two runs of one number are alike.
    path_of_run: dict[int, int]
    matched_by: MatchedBy
    pairs_compared: frozenset[int]
    pairs_left_out: frozenset[int]


def matched_samples(samples: Sequence[Sample], sets: Sequence[RunSet]) -> list[MatchedSample]:
    """Match the samples of sets with the first of them, the baseline, test by test.

    Of the baseline a test's paths stay that any other sample has too, of the others those that the baseline has.
    """
    if not samples:
        return []
    matched_by = _matched_by(samples, sets)
    numbers: dict[Hashable, int] = {}
    paths = [
        _path_of_run(sample, _key(matched_by, sample, wanted.host), numbers)
        for sample, wanted in zip(samples, sets, strict=True)
    ]
    measured = [_paths_by_test(*each) for each in zip(samples, paths, strict=True)]
    kept: list[dict[_Test, set[int]]] = [{} for _sample in samples]
    for test, of_baseline in measured[0].items():
        for mine, its in zip(kept[1:], measured[1:], strict=True):
            if common := of_baseline & its.get(test, set()):
                mine[test] = common
                kept[0].setdefault(test, set()).update(common)
    return [_matched(*each, matched_by) for each in zip(samples, paths, kept, strict=True)]


def _matched_by(samples: Sequence[Sample], sets: Sequence[RunSet]) -> MatchedBy:
    if all(wanted.pair or wanted.run for wanted in sets):
        return "named"
    hosts = [wanted.host for wanted in sets]
    # Two hosts meet on the pair between them, which says nothing of either.
    if None not in hosts and len(set(hosts)) > 1:
        return "peer"
    baseline, *others = (set(sample.pair_of_run.values()) for sample in samples)
    has_common = all(not pairs or baseline & pairs for pairs in others)
    return "pair" if has_common else "hosts"


def _key(matched_by: MatchedBy, sample: Sample, host: int | None) -> Callable[[int], Hashable]:
    """Return what a pair is known by: the same key is the same path."""

    def by_peer(pair: int) -> Hashable:
        source, sink = sample.hosts_of_pair[pair]
        return ("to" if source == host else "from", sink if source == host else source) if source != sink else "itself"

    match matched_by:
        case "pair":
            return lambda pair: pair
        case "hosts":
            return lambda pair: sample.hosts_of_pair[pair]
        case "peer":
            return by_peer
        case "named":
            return lambda _pair: None


def _path_of_run(sample: Sample, key: Callable[[int], Hashable], numbers: dict[Hashable, int]) -> dict[int, int]:
    return {run: numbers.setdefault(key(pair), len(numbers)) for run, pair in sample.pair_of_run.items()}


def _paths_by_test(sample: Sample, path_of_run: Mapping[int, int]) -> _Paths:
    paths: dict[_Test, set[int]] = defaultdict(set)
    for trial in sample.trials:
        paths[_test(trial)].add(path_of_run[trial.id])
    return paths


def _matched(
    sample: Sample, path_of_run: dict[int, int], kept: Mapping[_Test, set[int]], matched_by: MatchedBy
) -> MatchedSample:
    trials, compared = [], set[int]()
    for trial in sample.trials:
        common = kept.get(_test(trial))
        if common is None:
            trials.append(trial)
        elif path_of_run[trial.id] in common:
            trials.append(trial)
            compared.add(sample.pair_of_run[trial.id])
    left_out = set(sample.pair_of_run.values()) - compared
    return MatchedSample(trials, path_of_run, matched_by, frozenset(compared), frozenset(left_out))


def _test(trial: TrialRow) -> _Test:
    return trial.kind, json.dumps(trial.params, sort_keys=True)
