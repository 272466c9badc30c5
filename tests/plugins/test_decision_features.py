"""Features of a decision: quick forms of logarithms, quotients and sets of ranks."""

import numpy as np

from cbr_opponents.decision_features import _RANK_SETS, _quotient, _steps


def test_steps_are_logarithms_rounded_down() -> None:
    rng = np.random.default_rng(0)
    amounts, pots = rng.integers(1, 40_000, (2, 4_000))
    for amount, pot in zip(amounts.tolist(), pots.tolist(), strict=True):
        for ratio in (amount / pot, 1.0 + amount / pot):
            assert _steps(ratio) == np.floor(48 * np.log2(ratio))
    for power in range(-20, 21):  # where a step is met exactly
        assert _steps(2.0**power) == 48 * power
        assert _steps(np.nextafter(2.0**power, 0.0)) == 48 * power - 1


def test_quotients_are_exact() -> None:
    rng = np.random.default_rng(1)
    for of in (1, 3, 7, 9, 100, 12_345):
        for amount in (rng.integers(0, 1 << 40, 50) // of * of).tolist():
            for near in (max(0, amount - 1), amount, amount + 1):
                assert _quotient(near, of) == near // of


def test_sets_of_ranks_are_counted() -> None:
    for ranks in ([], [12], [0, 1, 2], [12, 0, 1], [8, 9, 10, 11, 12], [0, 4, 8], [0, 4, 8, 2]):
        highest, high, runs = _RANK_SETS[sum(1 << rank for rank in ranks)]
        assert highest == max(ranks, default=0)
        assert high == sum(rank >= 9 for rank in ranks)
        low = {rank + 1 for rank in ranks} | ({0} if 12 in ranks else set())
        assert runs == sum(len(low & set(range(s, s + 5))) >= 3 for s in range(10))
