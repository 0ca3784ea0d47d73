"""Whose turn it is: the order of the queue, and who may go before others without delaying them."""

from benchweb.runs.queueing.turns import Blocked, Occupied, Waiting, turns

A, B, C, D = 1, 2, 3, 4


def waiting(run: int, *resources: int, seconds: float = 10, exclusive: bool = True, near: bool = True) -> Waiting:
    return Waiting(run, resources, exclusive, seconds, near)


def occupied(resource: int, until: float, run: int = 90, exclusive: bool = True) -> Occupied:
    return Occupied(resource, run, exclusive, until)


def test_runs_without_a_common_resource_start_together_and_the_rest_waits_its_turn() -> None:
    found = turns([waiting(1, A, B), waiting(2, C, D), waiting(3, A, C), waiting(4, B, D)], [])
    assert found.start == [1, 2]
    # What is about to start counts as having the host.
    assert [(each.run, each.blocker and each.blocker.run) for each in found.blocked] == [(3, 1), (4, 1)]


def test_a_run_behind_a_blocked_one_does_not_overtake_it_when_it_would_delay_it() -> None:
    found = turns([waiting(1, A, B), waiting(2, B, C, seconds=10)], [occupied(A, until=9.9)])
    assert found.start == []


def test_a_run_that_ends_before_the_blocked_one_can_start_is_filled_in() -> None:
    found = turns([waiting(1, A, B), waiting(2, B, C, seconds=9.9)], [occupied(A, until=9.9)])
    assert found.start == [2]


def test_one_filled_in_keeps_the_next_from_the_same_place() -> None:
    queue = [waiting(1, A, B), waiting(2, B, C, seconds=5), waiting(3, B, D, seconds=5)]
    assert turns(queue, [occupied(A, until=10)]).start == [2]


def test_nobody_is_filled_in_while_the_run_in_the_way_takes_longer_than_planned() -> None:
    assert turns([waiting(1, A, B), waiting(2, B, C, seconds=0.1)], [occupied(A, until=-3)]).start == []


def test_a_blocked_run_behind_another_is_expected_after_it() -> None:
    # 2 can't start before 1 has ended, at 10 + 30: 3 has 40 s for its own.
    queue = [waiting(1, A, B, seconds=30), waiting(2, B, C, seconds=30), waiting(3, C, D, seconds=40)]
    assert turns(queue, [occupied(A, until=10)]).start == [3]
    queue[2] = waiting(3, C, D, seconds=40.1)
    assert turns(queue, [occupied(A, until=10)]).start == []


def test_normal_runs_start_beside_each_other_and_never_wait_for_one_another() -> None:
    queue = [waiting(1, A, B, exclusive=False), waiting(2, A, C, exclusive=False)]
    assert turns(queue, [occupied(A, until=100, exclusive=False)]).start == [1, 2]


def test_an_exclusive_run_waits_for_normal_ones_and_holds_its_place_against_later_ones() -> None:
    queue = [waiting(1, A, B), waiting(2, A, C, exclusive=False), waiting(3, A, D, exclusive=False, seconds=3)]
    found = turns(queue, [occupied(A, until=5, exclusive=False)])
    assert found.start == [3]


def test_a_run_deep_in_another_queue_does_not_start_but_keeps_its_place() -> None:
    queue = [waiting(1, A, B, near=False), waiting(2, A, C)]
    assert turns(queue, []).start == []


def test_those_who_wait_are_told_for_whom_until_when_and_else_their_place() -> None:
    busy = [occupied(A, until=7, run=80), occupied(B, until=9, run=81)]
    found = turns([waiting(1, A, B), waiting(2, A, C), waiting(3, A, D)], busy)
    assert found.blocked == [
        Blocked(1, B, busy[1], 1),
        Blocked(2, A, None, 2),
        Blocked(3, A, None, 3),
    ]


def test_no_two_that_start_together_share_a_resource_and_no_earlier_one_is_left_out_for_nothing() -> None:
    pairs = [(a, b) for a in range(12) for b in range(12) if a != b]
    found = turns([waiting(number, *pair) for number, pair in enumerate(pairs)], [])
    used = [host for number in found.start for host in pairs[number]]
    assert len(used) == len(set(used))
    assert found.start[0] == 0
