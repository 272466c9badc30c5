"""Polls: what the nearest cases of a case say of it, as compiled code.

Everything that walks along the lists of `neighbours` is here in one file, because numba keeps
what it compiled by file, and does not see when a function of another file has changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from cbr.typing import Flags, Ints

#: What the neighbours of a case say of it.
NOTHING, SOLVED, CONTRADICTED, SHORT = 0, 1, 2, 3


class Lists(NamedTuple):
    """Nearest vectors of each vector: of v ``number[first[v]:last[v]]``, nearest first.

    A list holds whole groups of one similarity (`level`, in millionths), and `whole` says that
    there is nothing behind it.
    """

    first: Ints
    last: Ints
    whole: Flags
    number: NDArray[np.int32]
    level: NDArray[np.int32]


class Whose(NamedTuple):
    """Of which vector, solution and record each case is, [n]; those of vector v from
    ``start[v]`` on.

    `own` are the cases by record, and in it by vector (`own_vector`); those of record r from
    ``own_start[r]`` on.
    """

    vector: Ints
    solution: Ints
    record: Ints
    start: Ints
    own: Ints
    own_start: Ints
    own_vector: Ints


class Left(NamedTuple):
    """Which cases are left: `kept` [n] by case, `counts` [m, s] by vector and solution."""

    kept: Flags
    counts: Ints

    def drop(self, whose: Whose, cases: Ints) -> None:
        """Take cases out, by place."""
        self.kept[cases] = False
        np.subtract.at(self.counts, (whose.vector[cases], whose.solution[cases]), 1)

    @property
    def filled(self) -> Flags:
        """Vectors with a case, [m]."""
        filled: Flags = self.counts.sum(axis=1) > 0
        return filled


@njit(cache=True, nogil=True)
def _own_at(u, r, whose):  # type: ignore[no-untyped-def]
    """Where among the cases of record r those of vector u begin, or would."""
    low, high = whose.own_start[r], whose.own_start[r + 1]
    while low < high:
        middle = (low + high) // 2
        if whose.own_vector[middle] < u:
            low = middle + 1
        else:
            high = middle
    return low


# In line: to hand it all the arrays costs more than what it does.
@njit(cache=True, nogil=True, inline="always")
def _own_cases(u, s, r, whose, left):  # type: ignore[no-untyped-def]
    """How many cases that are left record r has at vector u with solution s."""
    held = 0
    for i in range(_own_at(u, r, whose), whose.own_start[r + 1]):
        if whose.own_vector[i] != u:
            break
        held += whose.solution[whose.own[i]] == s and left.kept[whose.own[i]]
    return held


@njit(cache=True, nogil=True)
def _poll(case, lists, whose, left, k, votes, tied):  # type: ignore[no-untyped-def]
    """What the k nearest others say of a case: fills `votes` [s] and gives how they stand.

    Votes are in parts of a case, `parts` of them to one. Also the end of what was looked at, where
    the group begins that may have been cut (`tied` [s] are its cases), and how many votes each of
    these has. `parts` is 0 if the list is too short to say.
    """
    v, r = whose.vector[case], whose.record[case]
    votes[:] = 0
    taken = 0
    at, last = lists.first[v], lists.last[v]
    while at < last:
        begin, here = at, lists.level[at]
        tied[:] = 0
        while at < last and lists.level[at] == here:
            u = lists.number[at]
            tied += left.counts[u]
            for i in range(_own_at(u, r, whose), whose.own_start[r + 1]):
                if whose.own_vector[i] != u:
                    break
                if left.kept[whose.own[i]]:
                    tied[whose.solution[whose.own[i]]] -= 1
            at += 1
        held = tied.sum()
        if taken + held >= k:
            for s in range(len(votes)):
                votes[s] = votes[s] * held + (k - taken) * tied[s]
            return held, at, begin, k - taken
        votes += tied
        taken += held
    tied[:] = 0
    return (1 if lists.whole[v] else 0), at, at, 0


@njit(cache=True, nogil=True)
def _ballots(left):  # type: ignore[no-untyped-def]
    """Room for `votes` and `tied`."""
    solutions = left.counts.shape[1]
    return np.empty(solutions, np.int64), np.empty(solutions, np.int64)


@njit(cache=True, nogil=True)
def _verdict_of(votes, solution):  # type: ignore[no-untyped-def]
    if votes[solution] < votes.max():
        return CONTRADICTED
    return SOLVED if votes[solution] else NOTHING


@njit(cache=True, nogil=True)
def judge(cases, lists, whose, left, k):  # type: ignore[no-untyped-def]
    """The verdict on each case, and the chance that its solution is the one drawn of those that are
    commonest among the nearest."""
    votes, tied = _ballots(left)
    verdict, chance = np.empty(len(cases), np.int8), np.zeros(len(cases))
    for i in range(len(cases)):
        parts, _, _, _ = _poll(cases[i], lists, whose, left, k, votes, tied)
        verdict[i] = _verdict_of(votes, whose.solution[cases[i]]) if parts else SHORT
        if verdict[i] == SOLVED:
            chance[i] = 1.0 / (votes == votes.max()).sum()
    return verdict, chance


@njit(cache=True, nogil=True)
def local(targets, start, number, level, counts, end, reach, cover):  # type: ignore[no-untyped-def]
    """Add the local sets of some vectors; gives those whose list ends before another solution."""
    short = np.zeros(len(targets), np.bool_)
    for q in range(len(targets)):
        v = targets[q]
        for s in range(counts.shape[1]):
            if not counts[v, s]:
                continue
            stop, at = start[q], start[q]  # the sphere ends before the group with another solution
            clear = True
            while clear and at < start[q + 1]:
                stop, here = at, level[at]
                while at < start[q + 1] and level[at] == here:
                    clear &= counts[number[at]].sum() == counts[number[at], s]
                    at += 1
                if clear:
                    stop = at
            if clear and not end:
                short[q] = True
                continue
            for i in range(start[q], stop):
                u = number[i]
                reach[v, s] += counts[u, s]
                cover[u, s] += counts[v, s]
    return short


@njit(cache=True, nogil=True)
def shares(lists, whose, left, k):  # type: ignore[no-untyped-def]
    """By how many of its k nearest each case is solved, how many each cell solves, and groups.

    A group is cells that solve one another, directly or through others: `group` [m * s] is the
    first cell of the group that a cell belongs to. Lists must be long enough.
    """
    votes, tied = _ballots(left)
    counts, solutions = left.counts, len(votes)
    solved_by = np.zeros(len(whose.vector))
    solves = np.zeros(counts.size)
    group = np.arange(counts.size)
    for case in range(len(whose.vector)):
        v, s, r = whose.vector[case], whose.solution[case], whose.record[case]
        parts, end, edge, room = _poll(case, lists, whose, left, k, votes, tied)
        if not parts or not votes[s]:
            continue
        solved_by[case] = votes[s] / parts
        for at in range(lists.first[v], end):
            u = lists.number[at]
            held = counts[u, s] - _own_cases(u, s, r, whose, left)
            if held > 0:
                cell = u * solutions + s
                solves[cell] += held * (room / parts if at >= edge else 1.0)
                a, b = _root(group, v * solutions + s), _root(group, cell)
                group[max(a, b)] = min(a, b)
    for cell in range(len(group)):
        group[cell] = _root(group, cell)
    return solved_by, solves, group


@njit(cache=True, nogil=True)
def _root(group, cell):  # type: ignore[no-untyped-def]
    while group[cell] != cell:
        group[cell] = group[group[cell]]
        cell = group[cell]
    return cell


@njit(cache=True, nogil=True)
def condense(cells, at, counts, filled, lists):  # type: ignore[no-untyped-def]
    """Add cells in turn whose nearest says otherwise; ends at one whose list has none that is left.

    A list is never the whole stage without one that is left, for each solution has one.
    """
    says = np.empty(counts.shape[1], np.int64)
    for place in range(at, len(cells)):
        v, s = cells[place]
        if counts[v, s]:
            continue
        says[:] = 0
        i, last = lists.first[v], lists.last[v]
        while i < last and not says.any():
            here = lists.level[i]
            while i < last and lists.level[i] == here:
                says += counts[lists.number[i]]
                i += 1
        if not says.any():
            return place
        if says[s] < says.max():
            counts[v, s] = 1
            filled[v] = True
    return len(cells)


@njit(cache=True, nogil=True)
def silent(vectors, filled, lists):  # type: ignore[no-untyped-def]
    """Which of some vectors have a list with none that is left."""
    found = np.ones(len(vectors), np.bool_)
    for place in range(len(vectors)):
        for i in range(lists.first[vectors[place]], lists.last[vectors[place]]):
            if filled[lists.number[i]]:
                found[place] = False
                break
    return found


@njit(cache=True, nogil=True)
def blame(verdict, lists, whose, left, k):  # type: ignore[no-untyped-def]
    """How many cases each cell helps to mislead, [m * s]; and which it helps to solve, in pairs."""
    votes, tied = _ballots(left)
    counts, solutions = left.counts, len(votes)
    liability = np.zeros(counts.size, np.int64)
    cells, cases = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    for case in range(len(whose.vector)):
        _, end, _, _ = _poll(case, lists, whose, left, k, votes, tied)
        most = votes.max()
        for at in range(lists.first[whose.vector[case]], end):
            u = lists.number[at]
            for s in range(solutions):
                if not counts[u, s] or votes[s] != most:
                    continue
                if counts[u, s] == _own_cases(u, s, whose.record[case], whose, left):
                    continue
                if verdict[case] == CONTRADICTED:
                    liability[u * solutions + s] += 1
                elif s == whose.solution[case]:
                    cells.append(np.int64(u * solutions + s))
                    cases.append(np.int64(case))
    return liability, np.array(cells, np.int64), np.array(cases, np.int64)


@njit(cache=True, nogil=True)
def edit(order, at, start, covered, lists, whose, left, k):  # type: ignore[no-untyped-def]
    """Try cells in turn from `at` on; ends early at one for which a list (of the vector) is short.

    What cell c covers is ``covered[start[c]:start[c + 1]]``. Gives how far it came, and that vector
    or -1.
    """
    votes, tied = _ballots(left)
    counts, solutions = left.counts, len(votes)
    total = counts.sum(axis=0)
    for place in range(at, len(order)):
        cell = order[place]
        u, s = cell // solutions, cell % solutions
        held = counts[u, s]
        if held == total[s]:
            continue
        _turn(u, s, 0, whose, left)
        solved, short = True, -1
        for i in range(start[cell], start[cell + 1]):
            case = covered[i]
            parts, _, _, _ = _poll(case, lists, whose, left, k, votes, tied)
            if not parts:
                short = whose.vector[case]
                break
            if _verdict_of(votes, whose.solution[case]) != SOLVED:
                solved = False
                break
        if solved and short < 0:
            total[s] -= held
            continue
        _turn(u, s, held, whose, left)
        if short >= 0:
            return place, short
    return len(order), -1


@njit(cache=True, nogil=True)
def _turn(u, s, held, whose, left):  # type: ignore[no-untyped-def]
    """Take the cases of a cell out (`held` 0), or in again."""
    left.counts[u, s] = held
    for case in range(whose.start[u], whose.start[u + 1]):
        if whose.solution[case] == s:
            left.kept[case] = held > 0
