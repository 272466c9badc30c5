"""How well clusters predict players who were held out, and how many clusters there should be.

A held-out player is assigned by the first half of his hands and judged on the second. Beside it is
van der Kleij's way, which assigns him by the very moves that are judged. Accuracy is that of five
moves, fold, check, call, bet and raise: as good as three, since what is to call tells which of them
there are. Intervals are over players.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from cbr.statistics import Mean, clustered_mean
from cbr.typing import Floats, Ints
from cbr_holdem.table import CALL, FOLD, RAISE
from cbr_kmodels.model import KModels, shared_chances
from cbr_kmodels.training import Plan, Prepared, Tell, fit_clusters, halves
from cbr_opponents import KINDS
from cbr_opponents.learning import Observed

#: The numbers of clusters that `-k auto` tries.
CANDIDATES = (2, 4, 6, 8, 10, 15, 20, 30)
#: A larger number of clusters must predict a decision better by this much.
_BETTER = 1e-4
#: Van der Kleij's classes of sizes: min, 1/4, 1/2, 3/4, 1, 3/2 and 2 pots and more.
SIZES = 7
_LEAST = 1e-6
_SCORES = ("accuracy", "log_loss", "gain")


class Scores(NamedTuple):
    """The accuracy and the log-loss of a way to predict moves, and how much less its log-loss is
    than that of the model that all clusters share."""

    name: str
    accuracy: Mean
    log_loss: Mean
    gain: Mean


class Sizes(NamedTuple):
    """The scores of several ways to predict the sizes of so many bets, or raises; and how often
    each size was made (rows) and found likeliest (columns) by the last way, `confusion` [7, 7]."""

    name: str
    decisions: int
    scores: list[Scores]
    confusion: Floats


class HeldOut(NamedTuple):
    """The scores of several ways on the same `decisions` of held-out `players`; of the sizes of
    bets and of raises, if there are several; and how often each of the five moves was made (rows)
    and found likeliest (columns) by the last way, `confusion` [5, 5]."""

    players: int
    decisions: int
    moves: list[Scores]
    sizes: list[Sizes]
    confusion: Floats


def held_out(model: KModels, known: Observed, tested: Observed) -> HeldOut:
    """Judge clusters of the `known` players on the second half of the hands of `tested` ones; the
    baseline knows which moves are legal."""
    first = halves(tested)
    judged = tested.take(~first)
    by_first, by_all = (model.members(part)[judged.player] for part in (tested.take(first), judged))
    shares = [
        shared_chances(model.shared, judged, False),
        model.mixed(judged, by_first),
        model.mixed(judged, by_all),
        shared_chances(model.own, judged, False),
        model.in_sequence(tested, ~first, False),
    ]
    ways = [_kinds(share) for share in shares]
    names = [
        "one model of all",
        "clusters",
        "clusters, assigned by the moves judged",
        "one model that reads profiles",
        "clusters and profiles, hand by hand",
    ]
    baseline = legal_shares(known, judged)
    moves = [
        _scores(name, chances, ways[0], judged.kind, judged.player)
        for name, chances in zip(["what is legal", *names], [baseline, *ways], strict=True)
    ]
    guessed = ways[-1].argmax(axis=1)
    confusion = _confusion(five_moves(judged, judged.kind), five_moves(judged, guessed), 5)
    sizes = [] if model.sizes is None else _size_scores(known, judged, names, shares)
    return HeldOut(len(np.unique(judged.player)), len(judged), moves, sizes, confusion)


def _size_scores(
    known: Observed, judged: Observed, names: list[str], shares: list[Floats]
) -> list[Sizes]:
    """The scores of seven sizes of bets, and of raises; the baseline knows the street."""
    found = []
    for name, move in (("bets", 3), ("raises", 4)):
        mine = five_moves(judged, judged.kind) == move
        if not mine.any():
            continue
        by, some = known.take(five_moves(known, known.kind) == move), judged.take(mine)
        common = _shares_by(seven_sizes(by), by.place[:, 0], 4, SIZES)[some.place[:, 0]]
        ways = [common, *(_sizes(share[mine]) for share in shares)]
        made = seven_sizes(some)
        scores = [
            _scores(way, chances, ways[1], made, some.player)
            for way, chances in zip(["commonest of the street", *names], ways, strict=True)
        ]
        confusion = _confusion(made, ways[-1].argmax(axis=1), SIZES)
        found.append(Sizes(name, len(some), scores, confusion))
    return found


def choose_k(
    prepared: Prepared,
    tested: Observed,
    plan: Plan,
    candidates: Sequence[int],
    tell: Tell | None = None,
    pool: Executor | None = None,
) -> tuple[int, list[tuple[int, Mean]]]:
    """The number of clusters under which the moves of held-out players are likeliest, each
    predicted by the player's earlier hands; and the log-loss of each number that was tried. Numbers
    are tried in ascending order, until two in a row are no better. There are never more clusters
    than players."""
    tried: list[tuple[int, Mean]] = []
    best, worse = np.inf, 0
    chosen = candidates[0]
    players = len(np.unique(prepared.observed.player))
    for k in (one for one in candidates if one <= players):
        model = fit_clusters(prepared, dataclasses.replace(plan, k=k), tell, pool)[0]
        chances = _kinds(model.mixed(tested, model.posteriors(tested)))
        loss = -np.log(chances[np.arange(len(tested)), tested.kind].clip(_LEAST))
        tried.append((k, clustered_mean(loss, tested.player)))
        if loss.mean() < best - _BETTER:
            best, chosen, worse = float(loss.mean()), k, 0
        else:
            worse += 1
        if worse == 2:
            break
    return chosen, tried


def legal_shares(known: Observed, tested: Observed) -> Floats:
    """The shares of fold, call and raise [n, KINDS] among known decisions with the same legal
    moves."""

    def key(of: Observed) -> Ints:
        return 2 * of.facing.astype(np.int64) + of.may_raise

    return _shares_by(known.kind, key(known), 4, KINDS)[key(tested)]


def _shares_by(move: Ints, key: Ints, keys: int, moves: int) -> Floats:
    counts = np.full((keys, moves), 0.5)
    np.add.at(counts, (key, move), 1.0)
    shares: Floats = counts / counts.sum(axis=1, keepdims=True)
    return shares


def _scores(name: str, chances: Floats, shared: Floats, made: Ints, player: Ints) -> Scores:
    at = np.arange(len(made))
    loss, usual = (-np.log(part[at, made].clip(_LEAST)) for part in (chances, shared))
    right = (chances.argmax(axis=1) == made).astype(np.float64)
    means = (clustered_mean(part, player) for part in (right, loss, usual - loss))
    return Scores(name, *means)


def _confusion(made: Ints, guessed: Ints, moves: int) -> Floats:
    counts = np.zeros((moves, moves))
    np.add.at(counts, (made, guessed), 1.0)
    return counts


def _kinds(shares: Floats) -> Floats:
    raises = shares[:, RAISE:].sum(axis=1)
    found: Floats = np.stack([shares[:, FOLD], shares[:, CALL], raises], axis=1)
    return found


def _sizes(shares: Floats) -> Floats:
    """Chances of seven sizes, given that there is a raise."""
    sizes = shares[:, RAISE:]
    found = np.concatenate(
        [sizes[:, : SIZES - 1], sizes[:, SIZES - 1 :].sum(axis=1, keepdims=True)], axis=1
    )
    scaled: Floats = found / found.sum(axis=1, keepdims=True).clip(_LEAST)
    return scaled


def seven_sizes(observed: Observed) -> Ints:
    """The sizes of raises in seven classes, as van der Kleij's: two pots and more are one."""
    return np.minimum(observed.move - RAISE, SIZES - 1)


def five_moves(observed: Observed, kind: Ints) -> Ints:
    """Fold, check, call, bet, raise as 0 to 4; before the flop the blinds are a bet."""
    table = np.array([[0, 1, 3], [0, 2, 4]])
    found: Ints = table[observed.facing.astype(np.int64), kind]
    return np.where((found == 3) & (observed.place[:, 0] == 0), 4, found)


def as_json(found: HeldOut) -> dict[str, Any]:
    """The figures for scripts."""

    def figures(rows: list[Scores]) -> list[dict[str, Any]]:
        return [
            {
                "name": row.name,
                **{name: getattr(row, name).mean for name in _SCORES},
                **{f"{name}_ci95": getattr(row, name).ci95 for name in _SCORES},
            }
            for row in rows
        ]

    return {
        "players": found.players,
        "decisions": found.decisions,
        "moves": figures(found.moves),
        "sizes": [
            {"name": of.name, "decisions": of.decisions, "rows": figures(of.scores)}
            for of in found.sizes
        ],
        "confusion": found.confusion.tolist(),
    }
