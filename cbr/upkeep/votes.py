"""Votes of the nearest cases on the solution of a case, as compiled code.

All functions that traverse the lists of `neighbours` are in this file, because numba caches
compiled code by file and does not notice when a function of another file has changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Flags, Ints

#: The verdict of its neighbours on a case; SHORT: its list is too short to decide.
NOTHING, SOLVED, CONTRADICTED, SHORT = 0, 1, 2, 3


class NeighbourLists(NamedTuple):
    """Nearest vectors of each vector: those of v are ``number[first[v]:last[v]]``, nearest first.

    A list holds whole groups of equal similarity (`level`, in millionths); it is `complete` if it
    has all vectors.
    """

    first: Ints
    last: Ints
    complete: Flags
    number: NDArray[np.int32]
    level: NDArray[np.int32]


class CaseTable(NamedTuple):
    """Vector, solution and record of each case, [n]; the cases of vector v begin at ``start[v]``.

    `own` are the cases sorted by record and then vector (`own_vector`); those of record r begin at
    ``own_start[r]``.
    """

    vector: Ints
    solution: Ints
    record: Ints
    start: Ints
    own: Ints
    own_start: Ints
    own_vector: Ints


class Remaining(NamedTuple):
    """The cases that remain: `kept` [n] by case, `counts` [m, s] by vector and solution."""

    kept: Flags
    counts: Ints

    def drop(self, table: CaseTable, cases: Ints) -> None:
        """Remove cases, by index."""
        self.kept[cases] = False
        np.subtract.at(self.counts, (table.vector[cases], table.solution[cases]), 1)

    @property
    def filled(self) -> Flags:
        """Vectors with a case, [m]."""
        filled: Flags = self.counts.sum(axis=1) > 0
        return filled


@njit(nogil=True)
def _own_at(u, r, table):  # type: ignore[no-untyped-def]
    """The index in `own` at which the cases of record r and vector u begin, or would begin."""
    low, high = table.own_start[r], table.own_start[r + 1]
    while low < high:
        middle = (low + high) // 2
        if table.own_vector[middle] < u:
            low = middle + 1
        else:
            high = middle
    return low


# Inlined, because passing all the arrays costs more than the work itself.
@njit(nogil=True, inline="always")
def _own_cases(u, s, r, table, remaining):  # type: ignore[no-untyped-def]
    """How many remaining cases of record r have vector u and solution s."""
    held = 0
    for i in range(_own_at(u, r, table), table.own_start[r + 1]):
        if table.own_vector[i] != u:
            break
        held += table.solution[table.own[i]] == s and remaining.kept[table.own[i]]
    return held


@njit(nogil=True)
def _count_votes(case, lists, table, remaining, k, votes, tied):  # type: ignore[no-untyped-def]
    """Count the votes of the k nearest others on a case: fills `votes` [s].

    Returns (parts, end, edge, room). A whole vote counts `parts`; 0 parts: the list is too short.
    The list was traversed up to `end`. The group from `edge` on may cross the cap: its cases,
    `tied` [s], share the `room` that is left, as in `ranking.capped`.
    """
    v, r = table.vector[case], table.record[case]
    votes[:] = 0
    taken = 0
    at, last = lists.first[v], lists.last[v]
    while at < last:
        begin, here = at, lists.level[at]
        tied[:] = 0
        while at < last and lists.level[at] == here:
            u = lists.number[at]
            tied += remaining.counts[u]
            for i in range(_own_at(u, r, table), table.own_start[r + 1]):
                if table.own_vector[i] != u:
                    break
                if remaining.kept[table.own[i]]:
                    tied[table.solution[table.own[i]]] -= 1
            at += 1
        held = tied.sum()
        if taken + held >= k:
            for s in range(len(votes)):
                votes[s] = votes[s] * held + (k - taken) * tied[s]
            return held, at, begin, k - taken
        votes += tied
        taken += held
    tied[:] = 0
    return (1 if lists.complete[v] else 0), at, at, 0


@njit(nogil=True)
def _vote_buffers(remaining):  # type: ignore[no-untyped-def]
    """Empty arrays for `votes` and `tied`."""
    solutions = remaining.counts.shape[1]
    return np.empty(solutions, np.int64), np.empty(solutions, np.int64)


@njit(nogil=True)
def _verdict_of(votes, solution):  # type: ignore[no-untyped-def]
    if votes[solution] < votes.max():
        return CONTRADICTED
    return SOLVED if votes[solution] else NOTHING


@njit(nogil=True)
def judge(cases, lists, table, remaining, k):  # type: ignore[no-untyped-def]
    """The verdict on each case, and the probability that a random choice among the most frequent
    solutions of its nearest cases is its own."""
    votes, tied = _vote_buffers(remaining)
    verdict, chance = np.empty(len(cases), np.int8), np.zeros(len(cases))
    for i in range(len(cases)):
        parts, _, _, _ = _count_votes(cases[i], lists, table, remaining, k, votes, tied)
        verdict[i] = _verdict_of(votes, table.solution[cases[i]]) if parts else SHORT
        if verdict[i] == SOLVED:
            chance[i] = 1.0 / (votes == votes.max()).sum()
    return verdict, chance


@njit(nogil=True)
def add_local_sets(targets, start, number, level, counts, end, reach, cover):  # type: ignore[no-untyped-def]
    """Add the local sets of some vectors; returns those whose list ends before another solution."""
    short = np.zeros(len(targets), np.bool_)
    for q in range(len(targets)):
        v = targets[q]
        for s in range(counts.shape[1]):
            if not counts[v, s]:
                continue
            stop, at = start[q], start[q]  # the local set ends before a group with another solution
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


@njit(nogil=True)
def coverage_and_groups(lists, table, remaining, k):  # type: ignore[no-untyped-def]
    """By how many of its k nearest each case is solved, how many each cell solves, and groups.

    A cell is the cases of one vector with one solution. A group is cells that solve one another,
    directly or through others: `group` [m * s] is the first cell of each cell's group. Lists must
    be long enough.
    """
    votes, tied = _vote_buffers(remaining)
    counts, solutions = remaining.counts, len(votes)
    solved_by = np.zeros(len(table.vector))
    solves = np.zeros(counts.size)
    group = np.arange(counts.size)
    for case in range(len(table.vector)):
        v, s, r = table.vector[case], table.solution[case], table.record[case]
        parts, end, edge, room = _count_votes(case, lists, table, remaining, k, votes, tied)
        if not parts or not votes[s]:
            continue
        solved_by[case] = votes[s] / parts
        for at in range(lists.first[v], end):
            u = lists.number[at]
            held = counts[u, s] - _own_cases(u, s, r, table, remaining)
            if held > 0:
                cell = u * solutions + s
                solves[cell] += held * (room / parts if at >= edge else 1.0)
                a, b = _root(group, v * solutions + s), _root(group, cell)
                group[max(a, b)] = min(a, b)
    for cell in range(len(group)):
        group[cell] = _root(group, cell)
    return solved_by, solves, group


@njit(nogil=True)
def _root(group, cell):  # type: ignore[no-untyped-def]
    while group[cell] != cell:
        group[cell] = group[group[cell]]
        cell = group[cell]
    return cell


@njit(nogil=True)
def condense(cells, at, counts, filled, lists):  # type: ignore[no-untyped-def]
    """Add each cell whose nearest remaining cases mostly have another solution, in turn; stops at a
    list without a remaining case.

    A complete list always has one, because a case of each solution remains.
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


@njit(nogil=True)
def without_neighbours(vectors, filled, lists):  # type: ignore[no-untyped-def]
    """Which of some vectors have a list without a remaining case."""
    found = np.ones(len(vectors), np.bool_)
    for place in range(len(vectors)):
        for i in range(lists.first[vectors[place]], lists.last[vectors[place]]):
            if filled[lists.number[i]]:
                found[place] = False
                break
    return found


@njit(nogil=True)
def blame(verdict, lists, table, remaining, k):  # type: ignore[no-untyped-def]
    """The number of wrong predictions each cell contributes to, [m * s]; and the cases that it
    helps to solve, as pairs (cell, case)."""
    votes, tied = _vote_buffers(remaining)
    counts, solutions = remaining.counts, len(votes)
    liability = np.zeros(counts.size, np.int64)
    cells, cases = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    for case in range(len(table.vector)):
        _, end, _, _ = _count_votes(case, lists, table, remaining, k, votes, tied)
        most = votes.max()
        for at in range(lists.first[table.vector[case]], end):
            u = lists.number[at]
            for s in range(solutions):
                if not counts[u, s] or votes[s] != most:
                    continue
                if counts[u, s] == _own_cases(u, s, table.record[case], table, remaining):
                    continue
                if verdict[case] == CONTRADICTED:
                    liability[u * solutions + s] += 1
                elif s == table.solution[case]:
                    cells.append(np.int64(u * solutions + s))
                    cases.append(np.int64(case))
    return liability, np.array(cells, np.int64), np.array(cases, np.int64)


@njit(nogil=True)
def edit(order, at, start, covered, lists, table, remaining, k):  # type: ignore[no-untyped-def]
    """Remove each cell, from `at` on, if all cases that it covers stay solved without it; stops
    early at a list that is too short.

    Cell c covers the cases ``covered[start[c]:start[c + 1]]``. Returns the place reached, and the
    vector whose list is too short or -1.
    """
    votes, tied = _vote_buffers(remaining)
    counts, solutions = remaining.counts, len(votes)
    total = counts.sum(axis=0)
    for place in range(at, len(order)):
        cell = order[place]
        u, s = cell // solutions, cell % solutions
        held = counts[u, s]
        if held == total[s]:
            continue
        _set_kept(u, s, 0, table, remaining)
        solved, short = True, -1
        for i in range(start[cell], start[cell + 1]):
            case = covered[i]
            parts, _, _, _ = _count_votes(case, lists, table, remaining, k, votes, tied)
            if not parts:
                short = table.vector[case]
                break
            if _verdict_of(votes, table.solution[case]) != SOLVED:
                solved = False
                break
        if solved and short < 0:
            total[s] -= held
            continue
        _set_kept(u, s, held, table, remaining)
        if short >= 0:
            return place, short
    return len(order), -1


@njit(nogil=True)
def _set_kept(u, s, held, table, remaining):  # type: ignore[no-untyped-def]
    """Remove the cases of a cell (`held` 0), or put them back."""
    remaining.counts[u, s] = held
    for case in range(table.start[u], table.start[u + 1]):
        if table.solution[case] == s:
            remaining.kept[case] = held > 0
