"""Monte Carlo tree search from the decisions of many tables, as compiled code.

An iteration draws the hidden cards, goes down the tree (our moves by the selection rule, those of
opponents by their models or by their own rewards), adds a node, plays the hand out, and adds the
reward to the moves on its path. With common deals the k-th visit of each move of the root has the
same cards and the same random numbers, so moves are compared under equal luck.

A reward is what we win from the decision on, in big blinds; so a fold now is 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr_holdem.chance import below, key, mixed, step, unit
from cbr_holdem.table import (
    ACTOR,
    BIG_BLIND,
    BOARD,
    BOARD_CARDS,
    CALL,
    FOLD,
    PAID,
    PARTS,
    PAYOFF,
    RAISE,
    SEATS,
    STREET,
    settle,
)
from cbr_mcts.beliefs import believe, copy_profiles
from cbr_mcts.corrections import CELLS, KINDS, LOGITS, TRAITS
from cbr_mcts.scales import BY_POT, BY_SPREAD, first_scale, reward_spread
from cbr_mcts.simulation import (
    BY_MODEL,
    DEBTORS_LEAVE,
    WRONG_RULE,
    Scene,
    chances_at,
    copy_table,
    deal_hidden,
    deal_own,
    drawn_move,
    play_by_model,
    play_drawn,
    show_down,
    strength_of_actor,
)
from cbr_mcts.tree import NO_NODE, Tree, add_node, child_of, clear, variance_of
from cbr_opponents import actor_strength, legal_moves, sample_move

#: Classes of hands for `board=class`: lower bounds of the strength; below the fourth of these,
#: hands with a potential of this or more are classes of their own.
_BOUNDS = np.array([0.3, 0.45, 0.6, 0.72, 0.82, 0.9, 0.96])
_DRAWS, _POTENTIAL = 4, 0.15 * 400.0
#: Part of a prior that all legal moves share, so that none is never tried.
_SHARED = 0.1
#: Moves of the root are tried evenly as long as they may be best: each this often at least, and
#: until this many standard errors are between it and the best.
_LEAST_VISITS, _DOUBT = 24.0, 2.5
#: How often the scale by spread is computed anew, in iterations.
_RESCALED = 16


class Settings(NamedTuple):
    """How a search is made: what `options.SearchOptions` says, as numbers. `plain` is true where
    values are backed up as means, `trust` the chance that an opponent follows its model, `knows` is
    true where the value of a fold is not searched, and `even` where moves of the root are tried
    evenly."""

    iterations: int
    random_visits: int
    model_visits: int
    c: float
    trust: float
    board: int
    playout: int
    scale: int
    expand_all: bool
    own: int
    common: bool
    reads_hands: bool
    reads_prior: bool
    plain: bool
    knows: bool
    even: bool


class Players(NamedTuple):
    """What all roots share: the `models` that opponents may follow, the first of which is also
    ours; the `sizes` of raises; the moves that are `considered` at nodes [moves]; and the compiled
    rules `select` and `backup`."""

    models: Any
    sizes: Any
    considered: Any
    select: Any
    backup: Any


class Found(NamedTuple):
    """The result for n roots, for each move: `visits`, `values` in big blinds and their standard
    `errors` [n, moves]; moves that are not legal have -1 visits. `nodes` [n] of each tree, and
    faults by kind, [n, FAULTS]."""

    visits: Any
    values: Any
    errors: Any
    nodes: Any
    faults: Any


class Roots(NamedTuple):
    """n decisions to search: tables `rows` [n, WIDTH] as our seats see them, the `terms` of the
    game, the chances `of_models` by seat before the hand [n, 10, M], a prior `of_moves` [n, moves]
    (NaN where the model gives it), `profiles` uint8 [n, M, 10, PROFILE] of the players as each
    model knows them, `factors` [n, M, 10, CELLS, KINDS] and `slopes` [n, M, 10, LOGITS, TRAITS]
    that correct the chances of each model, and `states` [n] of random numbers."""

    rows: Any
    terms: Any
    of_models: Any
    of_moves: Any
    profiles: Any
    factors: Any
    slopes: Any
    states: Any


@njit
def search_all(
    roots: Roots,
    settings: Settings,
    players: Players,
    work: Any,
    iterations: Any,
    begins: Any,
    found: Found,
) -> None:
    """Search from each root; `work` are a tree, a belief and a scene. A search of one root goes on
    with the tree as it is unless it `begins`."""
    faults = work[2].faults
    for i in range(len(roots.rows)):
        if begins:
            for kind in range(len(faults)):
                faults[kind] = 0
            _begin_root(i, roots, settings, players, work)
        _go_on(roots.rows[i], roots.terms, settings, players, roots.states[i], work, iterations)
        _write_result(i, work, found)


@njit(inline="always")
def _begin_root(i: Any, roots: Roots, settings: Settings, players: Players, work: Any) -> None:
    """Compute beliefs at a table, and make a tree of its root alone."""
    tree, belief, scene = work
    r, terms, profiles = roots.rows[i], roots.terms, roots.profiles[i]
    for m in range(profiles.shape[0]):
        for seat in range(profiles.shape[1]):
            for column in range(profiles.shape[2]):
                scene.profiles[m, seat, column] = profiles[m, seat, column]
            for cell in range(CELLS):
                for kind in range(KINDS):
                    scene.factors[m, seat, cell, kind] = roots.factors[i, m, seat, cell, kind]
            for logit in range(LOGITS):
                for trait in range(TRAITS):
                    scene.slopes[m, seat, logit, trait] = roots.slopes[i, m, seat, logit, trait]
    copy_profiles(0, r[SEATS], scene)
    models, reads = players.models, settings.reads_hands
    before = mixed(roots.states[i])
    believe(r, terms, players.sizes, roots.of_models[i], models, reads, belief, scene, before)
    copy_profiles(0, r[SEATS], scene)
    copy_table(r, scene.row)
    for street in range(4):
        scene.space.known[r[ACTOR], street] = -1
    clear(tree)
    _new_node(np.int64(NO_NODE), 0, 0, r, terms, settings, players, scene, tree)
    if settings.reads_prior and not np.isnan(roots.of_moves[i, CALL]):
        _set_prior(roots.of_moves[i], players, scene.legal, tree.prior[0])


@njit(allocates=False)
def _go_on(
    r: Any, terms: Any, settings: Settings, players: Players, state: Any, work: Any, count: Any
) -> None:
    """Make so many further iterations. Arrays are not counted here, which makes them several times
    as fast (`cbr.jit`)."""
    tree = work[0]
    scale = first_scale(r, terms)
    spread = scale
    done = np.int64(tree.count[0])
    for i in range(done, done + count):
        if i >= _RESCALED and i % _RESCALED == 0:
            spread = reward_spread(spread, tree)
        scales = (scale, spread)
        if settings.scale == BY_SPREAD:
            scales = (spread, spread)
        elif settings.scale != BY_POT:
            scales = (1.0, spread)
        _iterate(r, terms, settings, players, state, i, scales, work)


@njit(inline="always")
def _write_result(i: Any, work: Any, found: Found) -> None:
    """Write what the root of a tree tells."""
    tree, _belief, scene = work
    for move in range(tree.visits.shape[1]):
        legal = tree.legal[0] >> move & 1
        visits = tree.visits[0, move]
        found.visits[i, move] = visits if legal else -1.0
        found.values[i, move] = tree.total[0, move] / visits if visits > 0.0 else 0.0
        found.errors[i, move] = np.inf
        if visits > 1.0:
            found.errors[i, move] = np.sqrt(variance_of(0, move, tree) / visits)
    found.nodes[i] = tree.size[0]
    for kind in range(len(scene.faults)):
        found.faults[i, kind] = scene.faults[kind]


# --- an iteration ---------------------------------------------------------------------------------


@njit(inline="always")
def _iterate(
    root: Any,
    terms: Any,
    settings: Settings,
    players: Players,
    state: Any,
    number: Any,
    scales: Any,
    work: Any,
) -> None:
    """One iteration; `scales` are the unit of rewards, and their spread at the root."""
    tree, belief, scene = work
    r, own, path = scene.row, root[ACTOR], scene.path
    copy_table(root, r)
    start = key(state, number, 1, 0)
    if settings.even:
        move = _even_move(scales[1], tree)
    else:
        move = _own_move(0, settings, players, scales[0], start, tree, scene)
    deal = np.int64(tree.visits[0, move]) if settings.common else number
    state = deal_hidden(r, own, belief, scene, key(state, deal, 0, 0))
    length, node, street, fresh = 0, np.int64(0), r[STREET], False
    while True:
        path[0, length], path[1, length] = node, move
        length += 1
        if move == FOLD and r[ACTOR] == own and settings.knows:
            _back_up(tree.fold[node], root, settings, players, length, terms, work)
            return
        move = play_drawn(r, terms, players.sizes, move)
        path[1, length - 1] = move
        if r[ACTOR] < 0 or fresh:
            break
        code = np.int64(0)
        if r[ACTOR] == own:
            if r[STREET] > street:
                code = _code_of(r, settings.board, scene)
            street = r[STREET]
        child = child_of(node, move, code, tree)
        if child == NO_NODE:
            child = _new_node(node, move, code, root, terms, settings, players, scene, tree)
            if child == NO_NODE or not settings.expand_all:
                break
            fresh = True
        node = child
        state = step(state)
        if r[ACTOR] == own:
            move = _own_move(node, settings, players, scales[0], state, tree, scene)
        else:
            move = _their_move(node, terms, settings, players, scales[0], state, tree, scene)
    _finish(root, terms, settings, players, state, length, work)


@njit(inline="always")
def _finish(
    root: Any, terms: Any, settings: Settings, players: Players, state: Any, length: Any, work: Any
) -> None:
    """Play the hand out and back its rewards up."""
    _tree, belief, scene = work
    r, own = scene.row, root[ACTOR]
    second = settings.trust < 1.0
    if second:
        copy_table(r, scene.other)
    state = _play_out(r, terms, own, settings, players, scene, state)
    if second:
        other = scene.other
        state = deal_own(other, own, belief, scene, state)
        if other[ACTOR] < 0:
            settle(other, terms)
        else:
            _play_out(other, terms, own, settings, players, scene, state)
    _back_up(_reward(r, root, own, terms), root, settings, players, length, terms, work)


@njit(allocates=False)
def _play_out(
    r: Any, terms: Any, own: Any, settings: Settings, players: Players, scene: Scene, state: Any
) -> Any:
    if settings.playout == BY_MODEL:
        how, reads = settings.own, settings.reads_hands
        return play_by_model(r, terms, players, own, how, reads, scene, state)
    show_down(r, terms, settings.playout == DEBTORS_LEAVE)
    return state


@njit(inline="always")
def _reward(r: Any, root: Any, seat: Any, terms: Any) -> Any:
    """What a seat wins from the root on, in big blinds."""
    return (r[PAYOFF + seat] / PARTS + root[PAID + seat]) / terms[BIG_BLIND]


@njit(inline="always")
def _back_up(
    reward: Any,
    root: Any,
    settings: Settings,
    players: Players,
    length: Any,
    terms: Any,
    work: Any,
) -> None:
    """Add our reward to the moves on the path."""
    tree, _belief, scene = work
    own, path = root[ACTOR], scene.path
    change = reward
    for at in range(length - 1, -1, -1):
        node, move = path[0, at], path[1, at]
        tree.count[node] += 1.0
        tree.visits[node, move] += 1.0
        tree.reward[node, move] += reward
        tree.square[node, move] += reward * reward
        tree.total[node, move] += change
        if tree.actor[node] != own:
            if settings.trust < 1.0:
                theirs = _reward(scene.other, root, tree.actor[node], terms)
                tree.theirs[node, move] += theirs
        elif not settings.plain:
            worth = tree.count[node] * _value_of(node, settings.knows, players, tree, scene)
            change = worth - tree.worth[node]
            tree.worth[node] = worth


@njit(allocates=False)
def _value_of(node: Any, knows: Any, players: Players, tree: Tree, scene: Scene) -> Any:
    """The value of an own node by the back-up rule; the mean, and a fault, if it gives none."""
    values, errors, visits = scene.values, scene.errors, scene.visits
    total = 0.0
    for move in range(len(values)):
        n = tree.visits[node, move]
        values[move], errors[move], visits[move] = 0.0, 0.0, n
        if n > 0.0:
            total += tree.total[node, move]
            values[move] = tree.total[node, move] / n
            errors[move] = np.sqrt(variance_of(node, move, tree) / n)
    if knows and tree.legal[node] & 1:
        values[FOLD], errors[FOLD], visits[FOLD] = tree.fold[node], 0.0, max(2.0, tree.count[node])
    found = players.backup(visits, values, errors)
    if not np.isfinite(found):
        scene.faults[WRONG_RULE] += 1
        return total / tree.count[node]
    return found


# --- moves ----------------------------------------------------------------------------------------


@njit(allocates=False)
def _random_legal(legal: Any, state: Any) -> Any:
    """A random move of a set of bits."""
    count, rest = 0, legal
    while rest:
        rest &= rest - 1
        count += 1
    skip, move = below(state, count), 0
    while not legal >> move & 1 or skip:
        skip -= legal >> move & 1
        move += 1
    return move


@njit(allocates=False)
def _own_move(
    node: Any,
    settings: Settings,
    players: Players,
    scale: Any,
    state: Any,
    tree: Tree,
    scene: Scene,
) -> Any:
    """Our move at a node: random or by the model for the first visits, then that of the highest
    score."""
    legal, all_visits = tree.legal[node], tree.count[node]
    if all_visits < settings.random_visits:
        return _random_legal(legal, state)
    if all_visits < settings.model_visits:
        return sample_move(tree.prior[node], unit(state))
    moves, best, chosen = tree.visits.shape[1], -np.inf, -1
    mean = 0.0
    for move in range(moves):
        mean += tree.total[node, move]
    mean /= max(1.0, all_visits)
    wrong = False
    first = below(state, moves)  # so that equal scores are tried in random order
    for turn in range(moves):
        move = turn + first if turn + first < moves else turn + first - moves
        if not legal >> move & 1:
            continue
        if move == FOLD and settings.knows:
            if tree.fold[node] / scale > best:
                best, chosen = tree.fold[node] / scale, FOLD
            continue
        visits = tree.visits[node, move]
        value, variance = mean, 0.0
        if visits > 0.0:
            value = tree.total[node, move] / visits
            variance = variance_of(node, move, tree)
        score = players.select(
            value / scale,
            variance / (scale * scale),
            visits,
            max(1.0, all_visits),
            tree.prior[node, move],
            settings.c,
        )
        wrong = wrong or np.isnan(score)
        if score > best:
            best, chosen = score, move
    if wrong or chosen < 0:
        scene.faults[WRONG_RULE] += 1
        return _random_legal(legal, state)
    return chosen


@njit(allocates=False)
def _even_move(spread: Any, tree: Tree) -> Any:
    """The least tried move of the root that may still be the best."""
    moves, legal = tree.visits.shape[1], tree.legal[0]
    bound = 0.0 if legal & 1 else -np.inf  # what the best move is worth at least; a fold 0
    chosen, fewest, highest, hope = np.int64(CALL), np.inf, -np.inf, np.int64(CALL)
    for move in range(CALL, moves):
        if legal >> move & 1 and tree.visits[0, move] >= _LEAST_VISITS:
            visits = tree.visits[0, move]
            bound = max(bound, tree.total[0, move] / visits - _DOUBT * spread / np.sqrt(visits))
    for move in range(CALL, moves):
        if not legal >> move & 1:
            continue
        visits, most = tree.visits[0, move], np.inf
        if visits >= _LEAST_VISITS:
            most = tree.total[0, move] / visits + _DOUBT * spread / np.sqrt(visits)
        if most > highest:
            highest, hope = most, np.int64(move)
        if most >= bound and visits < fewest:
            chosen, fewest = np.int64(move), visits
    return chosen if fewest < np.inf else hope


@njit(inline="always")
def _their_move(
    node: Any,
    terms: Any,
    settings: Settings,
    players: Players,
    scale: Any,
    state: Any,
    tree: Tree,
    scene: Scene,
) -> Any:
    """An opponent's move: by its model, or else what its own rewards so far make best by UCB1."""
    r = scene.row
    if settings.trust == 1.0 or unit(mixed(state)) < settings.trust:
        reads, models = settings.reads_hands, players.models
        return drawn_move(r, terms, reads, models, scene, state)
    legal, all_visits = tree.legal[node], tree.count[node]
    if all_visits < settings.random_visits:
        return _random_legal(legal, state)
    best, chosen = -np.inf, np.int64(CALL)
    for move in range(tree.visits.shape[1]):
        if not legal >> move & 1:
            continue
        visits = tree.visits[node, move]
        score = np.inf
        if visits > 0.0:
            often = np.log(max(1.0, all_visits)) / visits
            score = tree.theirs[node, move] / visits / scale + settings.c * np.sqrt(often)
        if score > best:
            best, chosen = score, np.int64(move)
    return chosen


# --- nodes ----------------------------------------------------------------------------------------


@njit(allocates=False)
def _new_node(
    parent: Any,
    move: Any,
    code: Any,
    root: Any,
    terms: Any,
    settings: Settings,
    players: Players,
    scene: Scene,
    tree: Tree,
) -> Any:
    """Add a node for the turn at the table of the scene, with its legal moves, what a fold wins,
    and our prior."""
    r, own = scene.row, root[ACTOR]
    node = add_node(parent, move, code, r[ACTOR], tree)
    mine = r[ACTOR] == own
    if node == NO_NODE or not (mine or settings.trust < 1.0):
        return node
    legal = scene.legal
    for m in range(len(legal)):
        legal[m] = players.considered[m]
    legal_moves(r, terms, players.sizes, legal)
    for m in range(len(legal)):
        tree.legal[node] |= np.int64(legal[m]) << m
    if mine:
        tree.fold[node] = (root[PAID + own] - r[PAID + own]) / terms[BIG_BLIND]
    if mine and (settings.reads_prior or settings.model_visits > 0):
        strength = strength_of_actor(r, settings.reads_hands, scene)
        chances_at(r, terms, strength, 0, players.models, scene)
        _set_prior(scene.space.chances, players, legal, tree.prior[node])
    return node


@njit(allocates=False)
def _set_prior(chances: Any, players: Players, legal: Any, prior: Any) -> None:
    """The prior of the legal moves from chances of all moves: a raise that is not considered counts
    for the nearest one that is, and all share a part of it equally."""
    count = 0
    for move in range(len(legal)):
        prior[move] = 0.0
        count += legal[move]
    for move in range(len(legal)):
        nearest, apart = np.int64(CALL), len(legal)
        if move < RAISE:
            nearest = np.int64(move if legal[move] else CALL)
        else:
            for other in range(RAISE, len(legal)):
                if legal[other] and abs(other - move) < apart:
                    nearest, apart = np.int64(other), abs(other - move)
        prior[nearest] += (1.0 - _SHARED) * chances[move]
    for move in range(len(legal)):
        if legal[move]:
            prior[move] += _SHARED / count


@njit(allocates=False)
def _code_of(r: Any, board: Any, scene: Scene) -> Any:
    """What we see at our first turn after new cards, above 0; 0 if boards do not count."""
    if board == 0:
        return np.int64(0)
    if board == 1:
        strength = actor_strength(r, scene.space.known, scene.space.cards)
        share, potential = (strength & 255) / 255.0, strength >> 8
        at = 0
        while at < len(_BOUNDS) and share >= _BOUNDS[at]:
            at += 1
        draws = at < _DRAWS and potential >= _POTENTIAL
        return np.int64(1 + 2 * at + draws + 32 * r[STREET])
    a, b, c = r[BOARD], r[BOARD + 1], r[BOARD + 2]
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    code = ((a << 6 | b) << 6 | c) + 1
    for place in range(3, BOARD_CARDS[r[STREET]]):
        code = code << 6 | r[BOARD + place]
    return np.int64(code)
