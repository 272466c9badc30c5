"""A check for authors of search rules; called in a test, it raises AssertionError.

check_search_rule(my_rule)
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from cbr.marks import marked
from cbr_mcts.rules import BackupRule, SelectionRule


def check_search_rule(rule: Any) -> None:
    """Check that a marked function compiles and gives numbers: a selection rule for any visits, and
    more for a higher value; a back-up rule for any moves that were tried, at least the value of the
    worst of them where all are certain."""
    made = marked(rule, rule)
    if isinstance(made, SelectionRule):
        _check_selection(made)
    elif isinstance(made, BackupRule):
        _check_backup(made)
    else:
        raise AssertionError(f"{rule!r} is not marked as a search rule")


def _check_selection(rule: SelectionRule) -> None:
    compiled, c = rule.compiled, rule.c
    for variance, visits, more, prior in product(
        (0.0, 0.3, 40.0), (0.0, 1.0, 7.0, 1e6), (0.0, 3.0, 1e6), (0.0, 0.2, 1.0)
    ):
        all_visits = max(1.0, visits + more)
        scores = []
        for value in (-3.0, 0.0, 0.5, 10.0):
            given = (value, variance, visits, all_visits, prior, c)
            score = compiled.ctypes(*given)
            assert not math.isnan(score), f"{rule.name} gives no number for {given}"
            assert visits < 7.0 or math.isfinite(score), (
                f"{rule.name} gives {score} for {given}, though the move was tried often"
            )
            plain = float(rule.function(*given))
            assert math.isclose(score, plain, rel_tol=1e-9, abs_tol=1e-12) or score == plain, (
                f"{rule.name} gives {plain} as Python and {score} compiled, for {given}"
            )
            scores.append(score)
        if visits:
            assert scores == sorted(scores), (
                f"{rule.name} scores {scores} for values that rise, after {visits:g} visits"
            )


def _check_backup(rule: BackupRule) -> None:
    import numba

    compiled = rule.compiled

    @numba.njit
    def call(function: Any, visits: Any, values: Any, errors: Any) -> Any:
        return function(visits, values, errors)

    for visits in ([1, 0, 0], [0, 3, 1], [5, 5, 90], [1e6, 0, 1]):
        for values in ([0, 0, 0], [-3, 2, 1], [7, 7, 7.5]):
            for error in (0.0, 0.5):
                given = [np.array(one, np.float64) for one in (visits, values, [error] * 3)]
                found = float(call(compiled, *given))
                tried = given[1][given[0] > 0]
                assert math.isfinite(found), f"{rule.name} gives {found} for {given}"
                plain = float(rule.function(*given))
                assert math.isclose(found, plain, rel_tol=1e-9, abs_tol=1e-12), (
                    f"{rule.name} gives {plain} as Python and {found} compiled, for {given}"
                )
                if error == 0.0:
                    assert tried.min() - 1e-9 <= found <= tried.max() + 1e-9, (
                        f"{rule.name} gives {found}, outside of the values {tried.tolist()}"
                    )
