"""K-models clustering by expectation maximisation (van der Kleij 2010, after k-means).

A cluster has a model of moves; a player belongs to the cluster under whose model its moves are
likeliest. The chance of a move in a cluster is that of a shared model times e^effect, normalised;
the effects are those of the situations that `differences` finds. Effects are shrunk towards 0, so
that a cluster of few players acts as all players do, and one that empties is the shared model.

Players count for each cluster by how likely they belong to it, so that a player of few hands does
not decide what a cluster is. Rounds end when no player's likeliest cluster changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cbr.jit import njit
from cbr.typing import Floats, Ints
from cbr_kmodels.differences import LEAVES, Choices, Situations

#: Curvature added to that of a cluster in a situation, which shrinks its effect towards 0.
_SHRINKAGE = 6.0
#: A player counts for a cluster from this share on.
_SHARE = 1e-3
#: Players that clusters start from need this many decisions, if there are enough of such players.
_ENOUGH = 100
#: The share of itself by which the likelihood of all moves still rises when it counts as settled.
_RISE = 1e-5
#: Weight of an even spread in the sizes of clusters, in players.
_PRIOR = 1.0


class Block(NamedTuple):
    """The choices of one street, with the `leaf` [n, trees] of each."""

    made: Ints
    player: Ints
    log: Floats
    leaf: NDArray[np.uint8]

    @classmethod
    def of(cls, choices: Choices, situations: Situations) -> Block:
        leaf = situations.leaves(choices.features)
        return cls(choices.made, choices.player, choices.log, leaf)


class Round(NamedTuple):
    """What a round of clustering came to: the likeliest cluster of each player, how many players
    moved to another, the logarithm of the likelihood of all moves, and the `effects`. The last
    round is `final` if nobody moved and the likelihood hardly rose."""

    nearest: Ints
    moved: int
    likelihood: float
    final: bool
    effects: tuple[Floats, ...]


class Clusters(NamedTuple):
    """`effects` of each block, [k, trees, LEAVES, m]; the `share` [k] of players in each cluster,
    and how likely each player belongs to each, `member` [players, k]; and the `rounds`. It
    `settled` if the last changed nothing."""

    effects: tuple[Floats, ...]
    share: Floats
    member: Floats
    rounds: tuple[Round, ...]

    def after(self, rounds: int) -> Clusters:
        """The clusters after so many of the rounds, each player in the likeliest."""
        last = self.rounds[rounds - 1]
        member = np.eye(len(self.share))[last.nearest]
        return Clusters(last.effects, _shares(member), member, self.rounds[:rounds])

    @property
    def likelihood(self) -> float:
        return self.rounds[-1].likelihood

    @property
    def settled(self) -> bool:
        return self.rounds[-1].final


def cluster(
    blocks: Sequence[Block],
    players: int,
    k: int,
    seed: int,
    rounds: int,
    tell: Callable[[int, int], None] | None = None,
) -> Clusters:
    """Cluster players, numbers below `players`, by their choices: from a random start in at most so
    many rounds. `tell` hears of each round and of how many players moved."""
    member = _start(blocks, players, k, np.random.default_rng(seed))
    effects = tuple(np.zeros((k, b.leaf.shape[1], LEAVES, b.log.shape[1])) for b in blocks)
    share = np.full(k, 1.0 / k)
    nearest = np.full(players, -1)
    done: list[Round] = []
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        while len(done) < rounds and not (done and done[-1].final):
            list(threads.map(_maximise, blocks, repeat(member), effects))
            found = threads.map(likelihoods, blocks, repeat(players), effects)
            member, total = posterior(sum(found, np.log(share)))
            share = _shares(member)
            now = member.argmax(axis=1)
            moved, likely = int((now != nearest).sum()), float(total.sum())
            final = bool(done) and not moved and likely - done[-1].likelihood < -_RISE * likely
            done.append(Round(now, moved, likely, final, tuple(one.copy() for one in effects)))
            nearest = now
            if tell:
                tell(len(done), moved)
    return Clusters(effects, share, member, tuple(done))


def _shares(member: Floats) -> Floats:
    """The share of players in each cluster [k], never 0."""
    players, k = member.shape
    return np.asarray((member.sum(axis=0) + _PRIOR / k) / (players + _PRIOR))


def likelihoods(block: Block, players: int, effects: Floats) -> Floats:
    """The logarithm of how likely each player's choices are in each cluster, [players, k]."""
    out = np.zeros((players, len(effects)))
    _likelihoods(block, effects, out)
    return out


def posterior(joint: Floats) -> tuple[Floats, Floats]:
    """Chances of clusters [n, k], and the logarithm of the total [n], from logarithms of joint
    chances."""
    top = joint.max(axis=1, keepdims=True)
    weight = np.exp(joint - top)
    total = weight.sum(axis=1, keepdims=True)
    return weight / total, (top + np.log(total))[:, 0]


def _start(blocks: Sequence[Block], players: int, k: int, chance: np.random.Generator) -> Floats:
    """Each cluster begins with one player drawn at random, among those with enough decisions; the
    others count for no cluster yet. Of random groups, all would begin alike."""
    often = sum(
        (np.bincount(block.player, minlength=players) for block in blocks), np.zeros(players)
    )
    ready = np.flatnonzero(often >= _ENOUGH)
    if len(ready) < k:
        ready = np.argsort(-often, kind="stable")[:k]
    drawn = chance.permutation(ready)[:k]
    member = np.zeros((players, k))
    member[drawn, np.arange(len(drawn))] = 1.0
    return member


def _maximise(block: Block, member: Floats, effects: Floats) -> None:
    """One Newton step in the effects of each tree, one tree after the other."""
    k, trees, _, moves = effects.shape
    rate = (moves - 1.0) / moves  # as in LogitBoost: a move's chance is at the cost of the others
    sums = np.zeros((2, k, LEAVES, moves))
    for tree in range(trees):
        sums[:] = 0.0
        _derivatives(block, member, effects, tree, sums)
        here = effects[:, tree]
        here += rate * (sums[0] - _SHRINKAGE * here) / (sums[1] + _SHRINKAGE)


@njit(nogil=True, inline="always")
def _chances(log: Any, leaf: Any, effects: Any, out: Any) -> Any:
    """Relative chances of one choice in a cluster, as logarithms into `out` [m]; returns the
    logarithm of their sum."""
    moves, top = len(log), -np.inf
    for m in range(moves):
        value = log[m]
        for tree in range(len(leaf)):
            value += effects[tree, leaf[tree], m]
        out[m] = value
        top = max(top, value)
    total = 0.0
    for m in range(moves):
        total += np.exp(out[m] - top)
    return top + np.log(total)


@njit(nogil=True)
def _derivatives(block: Any, member: Any, effects: Any, tree: Any, sums: Any) -> None:
    """Sums of gradient and curvature [2, k, LEAVES, m], weighted by membership."""
    moves = block.log.shape[1]
    out = np.empty(moves)
    for i in range(len(block.made)):
        at = block.leaf[i, tree]
        for c in range(len(effects)):
            weight = member[block.player[i], c]
            if weight < _SHARE:
                continue
            total = _chances(block.log[i], block.leaf[i], effects[c], out)
            for m in range(moves):
                chance = np.exp(out[m] - total)
                sums[0, c, at, m] += weight * (int(m == block.made[i]) - chance)
                sums[1, c, at, m] += weight * chance * (1.0 - chance)


@njit(nogil=True)
def _likelihoods(block: Any, effects: Any, found: Any) -> None:
    out = np.empty(block.log.shape[1])
    for i in range(len(block.made)):
        for c in range(len(effects)):
            total = _chances(block.log[i], block.leaf[i], effects[c], out)
            found[block.player[i], c] += out[block.made[i]] - total


def log_chances(block: Block, effects: Floats) -> Floats:
    """Logarithms of the chances of choices in each cluster, [n, k, m]."""
    out = np.empty((len(block.made), len(effects), block.log.shape[1]))
    _log_chances(block, effects, out)
    return out


@njit(nogil=True)
def _log_chances(block: Any, effects: Any, out: Any) -> None:
    for i in range(len(block.made)):
        for c in range(len(effects)):
            total = _chances(block.log[i], block.leaf[i], effects[c], out[i, c])
            for m in range(out.shape[2]):
                out[i, c, m] -= total
