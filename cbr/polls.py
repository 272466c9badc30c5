"""Polls: what the nearest cases of a case say of it, as compiled code.

Everything that walks along the lists of `cbr.neighbours` is here in one file, because numba keeps
what it compiled by file, and does not see when a function of another file has changed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: What the neighbours of a case say of it.
NOTHING, SOLVED, CONTRADICTED, SHORT = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def _own_at(u, r, own_start, own_vector):  # type: ignore[no-untyped-def]
    """Where among the cases of record r those of vector u begin, or would."""
    low, high = own_start[r], own_start[r + 1]
    while low < high:
        middle = (low + high) // 2
        if own_vector[middle] < u:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _own_cases(u, s, r, own, own_start, own_vector, solution, kept):  # type: ignore[no-untyped-def]
    """How many cases that are left record r has at vector u with solution s."""
    held = 0
    for i in range(_own_at(u, r, own_start, own_vector), own_start[r + 1]):
        if own_vector[i] != u:
            break
        held += solution[own[i]] == s and kept[own[i]]
    return held


@njit(cache=True, nogil=True)
def _poll(  # type: ignore[no-untyped-def]
    case,
    first,
    last,
    whole,
    number,
    level,
    vector,
    solution,
    record,
    own,
    own_start,
    own_vector,
    kept,
    counts,
    k,
    votes,
    tied,
):
    """What the k nearest others say of a case: fills `votes` [s] and gives how they stand.

    Votes are in parts of a case, `parts` of them to one. Also the end of what was looked at, where
    the group begins that may have been cut (`tied` [s] are its cases), and how many votes each of
    these has. `parts` is 0 if the list is too short to say.
    """
    v, r = vector[case], record[case]
    votes[:] = 0
    taken = 0
    at = first[v]
    while at < last[v]:
        begin, here = at, level[at]
        tied[:] = 0
        while at < last[v] and level[at] == here:
            u = number[at]
            tied += counts[u]
            for i in range(_own_at(u, r, own_start, own_vector), own_start[r + 1]):
                if own_vector[i] != u:
                    break
                if kept[own[i]]:
                    tied[solution[own[i]]] -= 1
            at += 1
        held = tied.sum()
        if taken + held >= k:
            for s in range(len(votes)):
                votes[s] = votes[s] * held + (k - taken) * tied[s]
            return held, at, begin, k - taken
        votes += tied
        taken += held
    tied[:] = 0
    return (1 if whole[v] else 0), at, at, 0


@njit(cache=True, nogil=True)
def _verdict_of(votes, solution):  # type: ignore[no-untyped-def]
    if votes[solution] < votes.max():
        return CONTRADICTED
    return SOLVED if votes[solution] else NOTHING


@njit(cache=True, nogil=True)
def judge(  # type: ignore[no-untyped-def]
    cases,
    first,
    last,
    whole,
    number,
    level,
    vector,
    solution,
    record,
    own,
    own_start,
    own_vector,
    kept,
    counts,
    k,
):
    lists = (first, last, whole, number, level)
    known = (vector, solution, record, own, own_start, own_vector)
    votes, tied = np.empty(counts.shape[1], np.int64), np.empty(counts.shape[1], np.int64)
    verdict = np.empty(len(cases), np.int8)
    for i in range(len(cases)):
        parts, _, _, _ = _poll(cases[i], *lists, *known, kept, counts, k, votes, tied)
        verdict[i] = _verdict_of(votes, solution[cases[i]]) if parts else SHORT
    return verdict


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
def shares(  # type: ignore[no-untyped-def]
    first,
    last,
    whole,
    number,
    level,
    vector,
    solution,
    record,
    own,
    own_start,
    own_vector,
    kept,
    counts,
    k,
):
    """By how many of its k nearest each case is solved, how many each cell solves, and groups.

    A group is cells that solve one another, directly or through others: `group` [m * s] is the
    first cell of the group that a cell belongs to.
    """
    lists = (first, last, whole, number, level)
    known = (vector, solution, record, own, own_start, own_vector)
    solutions = counts.shape[1]
    votes, tied = np.empty(solutions, np.int64), np.empty(solutions, np.int64)
    owned = (own, own_start, own_vector)
    solved_by = np.zeros(len(vector))
    solves = np.zeros(counts.size)
    group = np.arange(counts.size)
    for case in range(len(vector)):
        s = solution[case]
        parts, end, edge, room = _poll(case, *lists, *known, kept, counts, k, votes, tied)
        if not parts or not votes[s]:
            continue
        solved_by[case] = votes[s] / parts
        mine = vector[case] * solutions + s
        for at in range(first[vector[case]], end):
            u = number[at]
            held = counts[u, s] - _own_cases(u, s, record[case], *owned, solution, kept)
            if held > 0:
                cell = u * solutions + s
                solves[cell] += held * (room / parts if at >= edge else 1.0)
                a, b = _root(group, mine), _root(group, cell)
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
def condense(  # type: ignore[no-untyped-def]
    cells, at, left, filled, first, last, whole, number, level
):
    """Add cells in turn whose nearest says otherwise; ends at one whose list has none that is left.

    A list is never the whole stage without one that is left, for each solution has one.
    """
    says = np.empty(left.shape[1], np.int64)
    for place in range(at, len(cells)):
        v, s = cells[place]
        if left[v, s]:
            continue
        says[:] = 0
        i = first[v]
        while i < last[v] and not says.any():
            here = level[i]
            while i < last[v] and level[i] == here:
                says += left[number[i]]
                i += 1
        if not says.any():
            return place
        if says[s] < says.max():
            left[v, s] = 1
            filled[v] = True
    return len(cells)


@njit(cache=True, nogil=True)
def silent(vectors, filled, first, last, whole, number, level):  # type: ignore[no-untyped-def]
    """Which of some vectors have a list with none that is left."""
    found = np.ones(len(vectors), np.bool_)
    for place in range(len(vectors)):
        for i in range(first[vectors[place]], last[vectors[place]]):
            if filled[number[i]]:
                found[place] = False
                break
    return found


@njit(cache=True, nogil=True)
def blame(  # type: ignore[no-untyped-def]
    verdict,
    first,
    last,
    whole,
    number,
    level,
    vector,
    solution,
    record,
    own,
    own_start,
    own_vector,
    kept,
    counts,
    k,
):
    """How many cases each cell helps to mislead, [m * s]; and which it helps to solve, in pairs."""
    lists = (first, last, whole, number, level)
    known = (vector, solution, record, own, own_start, own_vector)
    solutions = counts.shape[1]
    votes, tied = np.empty(solutions, np.int64), np.empty(solutions, np.int64)
    owned = (own, own_start, own_vector)
    liability = np.zeros(counts.size, np.int64)
    cells, cases = [np.int64(0) for _ in range(0)], [np.int64(0) for _ in range(0)]
    for case in range(len(vector)):
        _, end, _, _ = _poll(case, *lists, *known, kept, counts, k, votes, tied)
        v, most = vector[case], votes.max()
        for at in range(first[v], end):
            u = number[at]
            for s in range(solutions):
                if not counts[u, s] or votes[s] != most:
                    continue
                if counts[u, s] == _own_cases(u, s, record[case], *owned, solution, kept):
                    continue
                if verdict[case] == CONTRADICTED:
                    liability[u * solutions + s] += 1
                elif s == solution[case]:
                    cells.append(np.int64(u * solutions + s))
                    cases.append(np.int64(case))
    return liability, np.array(cells, np.int64), np.array(cases, np.int64)


@njit(cache=True, nogil=True)
def edit(  # type: ignore[no-untyped-def]
    order,
    at,
    start,
    covered,
    vector_start,
    first,
    last,
    whole,
    number,
    level,
    vector,
    solution,
    record,
    own,
    own_start,
    own_vector,
    kept,
    counts,
    k,
):
    """Try cells in turn from `at` on; ends early at one for which a list (of the vector) is short.

    Gives how far it came, and that vector or -1.
    """
    lists = (first, last, whole, number, level)
    known = (vector, solution, record, own, own_start, own_vector)
    solutions = counts.shape[1]
    votes, tied = np.empty(solutions, np.int64), np.empty(solutions, np.int64)
    total = counts.sum(axis=0)
    for place in range(at, len(order)):
        cell = order[place]
        u, s = cell // solutions, cell % solutions
        held = counts[u, s]
        if held == total[s]:
            continue
        _turn(u, s, vector_start, solution, kept, False)
        counts[u, s] = 0
        solved, short = True, -1
        for i in range(start[cell], start[cell + 1]):
            case = covered[i]
            parts, _, _, _ = _poll(case, *lists, *known, kept, counts, k, votes, tied)
            if not parts:
                short = vector[case]
                break
            if _verdict_of(votes, solution[case]) != SOLVED:
                solved = False
                break
        if solved and short < 0:
            total[s] -= held
            continue
        _turn(u, s, vector_start, solution, kept, True)
        counts[u, s] = held
        if short >= 0:
            return place, short
    return len(order), -1


@njit(cache=True, nogil=True)
def _turn(u, s, vector_start, solution, kept, to):  # type: ignore[no-untyped-def]
    """Take the cases of a cell out, or in again."""
    for case in range(vector_start[u], vector_start[u + 1]):
        if solution[case] == s:
            kept[case] = to
