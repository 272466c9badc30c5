"""What an iteration samples: hidden cards, opponents' moves, and the rest of the hand.

An opponent's move depends on the cards sampled for it, and never on ours, but for the fact that it
cannot hold them: its chances are those of its own hand against any other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cbr.jit import njit
from cbr_holdem.cards import DECK, HANDS
from cbr_holdem.chance import below, step, unit
from cbr_holdem.situation import raised_to
from cbr_holdem.strength import hand_number
from cbr_holdem.table import (
    ACTOR,
    BOARD,
    BOARD_CARDS,
    CALL,
    FOLD,
    FOLDED,
    HISTORY,
    HOLE,
    LIMIT,
    MOST_SEATS,
    MOVES,
    PLAYERS,
    RAISE,
    RAISES,
    SEATS,
    STREET,
    WIDTH,
    act,
    pot_of,
    raise_limits,
    to_call,
)
from cbr_mcts.corrections import (
    BETTER,
    CELLS,
    COUNT,
    KINDS,
    LOGITS,
    TRAITS,
    correct,
    correct_hand,
    is_known,
)
from cbr_opponents import (
    BoardHands,
    Workspace,
    actor_strength,
    board_hands,
    move_chances,
    move_of,
    sample_move,
)

_ONE, _TWO = HANDS[:, 0].astype(np.int64), HANDS[:, 1].astype(np.int64)
#: Equal parts of a range, for quick draws from it.
PARTS_OF_RANGE = 256
#: Draws of a hand that may fail because a card is taken; then any free cards are drawn.
_TRIES = 40
#: Draws of the hands of all opponents together that may fail because a card came twice.
_WHOLE_DRAWS = 40
#: How a hand is played out from a leaf: as `PLAYOUTS` says.
PLAYOUTS = ("model", "call", "leave")
BY_MODEL, ALL_CALL, DEBTORS_LEAVE = range(3)
#: How our own seat acts there.
SELVES = ("model", "call", "odds")
OWN_CALLS, OWN_ODDS = 1, 2
#: What a hand before the flop is worth against any other, by the share of hands that it is better
#: than: about 0.34 for the worst hand, 0.5 in the middle and 0.85 for aces.
_EQUITY = 0.34 + 0.26 * BETTER + 0.25 * BETTER**6
#: For the seat that plays by pot odds: chances from which it bets, and raises; and what each raise
#: that it faces takes from its hand, as one more opponent would.
_BETS, _RAISES, _PER_RAISE = 0.5, 0.62, 0.7
# What went wrong, counted in `Scene.faults`.
WRONG_CHANCES, WRONG_RANGE, WRONG_RULE = range(3)
FAULTS = 3


class Belief(NamedTuple):
    """What is believed of hidden cards, for M models: cumulative sums of the weights of hands by
    model and seat, `sums` [M, 10, 1326], with a `guide` [M, 10, PARTS_OF_RANGE + 1] to where each
    of equal parts begins, and of the chances of models by seat, `models` [10, M]. `hands` are all
    hands on the board of the root, `street` [1] its street."""

    sums: Any
    guide: Any
    models: Any
    hands: BoardHands
    street: Any


class Scene(NamedTuple):
    """Arrays of a search that are used again for each iteration.

    The table `row` [WIDTH] and the one with other cards of our own, `other`; the model drawn for
    each seat, `which` [10]; `profiles` uint8 [M, 10, PROFILE] of the players, and the `factors`
    [M, 10, CELLS, KINDS] and `slopes` [M, 10, LOGITS, TRAITS] that correct their chances (see
    `corrections`), with `traits` [TRAITS] and `odds` [4, 1326]; `space` of the models; `taken` [53]
    cards; the nodes and moves of the iteration, `path` [2, 256]; `faults` [FAULTS];
    working space `legal`, `values`, `errors` and `visits` [moves]."""

    row: Any
    other: Any
    which: Any
    profiles: Any
    factors: Any
    slopes: Any
    traits: Any
    odds: Any
    space: Workspace
    taken: Any
    path: Any
    faults: Any
    legal: Any
    values: Any
    errors: Any
    visits: Any


def new_belief(models: int) -> Belief:
    """Arrays for beliefs."""
    return Belief(
        np.zeros((models, MOST_SEATS, COUNT)),
        np.zeros((models, MOST_SEATS, PARTS_OF_RANGE + 1), np.int64),
        np.ones((MOST_SEATS, models)),
        board_hands(),
        np.zeros(1, np.int64),
    )


def new_scene(profiles: Any, space: Any, moves: int) -> Scene:
    """Arrays for a search."""
    return Scene(
        np.zeros(WIDTH, np.int64),
        np.zeros(WIDTH, np.int64),
        np.zeros(MOST_SEATS, np.int64),
        profiles,
        np.ones((len(profiles), MOST_SEATS, CELLS, KINDS)),
        np.zeros((len(profiles), MOST_SEATS, LOGITS, TRAITS)),
        np.empty(TRAITS),
        np.empty((4, COUNT)),
        space,
        np.zeros(DECK + 1, np.bool_),
        np.zeros((2, 256), np.int64),
        np.zeros(FAULTS, np.int64),
        np.zeros(moves, np.bool_),
        np.zeros(moves),
        np.zeros(moves),
        np.zeros(moves),
    )


@njit(allocates=False)
def copy_table(r: Any, to: Any) -> None:
    """Copy a table with the moves that it has."""
    for column in range(HISTORY + r[MOVES]):
        to[column] = r[column]


@njit(allocates=False)
def fill_guide(sums: Any, guide: Any) -> None:
    """Fill the guide of cumulative sums [1326]."""
    h = 0
    for part in range(PARTS_OF_RANGE):
        wanted = part / PARTS_OF_RANGE * sums[COUNT - 1]
        while h < COUNT - 1 and sums[h] <= wanted:
            h += 1
        guide[part] = h
    guide[PARTS_OF_RANGE] = COUNT - 1


@njit(allocates=False)
def _draw(sums: Any, guide: Any, uniform: Any) -> Any:
    """The place that a uniform number draws by cumulative sums."""
    wanted, part = uniform * sums[COUNT - 1], np.int64(uniform * PARTS_OF_RANGE)
    low, high = guide[part], guide[part + 1]
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] > wanted:
            high = middle
        else:
            low = middle + 1
    return low


@njit(allocates=False)
def _choose_model(seat: Any, belief: Belief, scene: Scene, state: Any) -> Any:
    """Draw the model that a seat follows; returns the random state."""
    sums, model = belief.models[seat], 0
    if len(sums) > 1:
        state = step(state)
        wanted = unit(state) * sums[len(sums) - 1]
        while model < len(sums) - 1 and sums[model] <= wanted:
            model += 1
        for column in range(scene.profiles.shape[2]):
            scene.space.profiles[seat, column] = scene.profiles[model, seat, column]
    scene.which[seat] = model
    return state


@njit(allocates=False)
def _deal_hand(r: Any, seat: Any, sums: Any, guide: Any, state: Any, taken: Any) -> Any:
    """Draw a hand of free cards for a seat by cumulative sums [1326]; returns the random state."""
    one: Any = np.int64(DECK)
    two: Any = np.int64(DECK)
    for _ in range(_TRIES if sums[COUNT - 1] > 0.0 else 0):
        state = step(state)
        h = _draw(sums, guide, unit(state))
        one, two = _ONE[h], _TWO[h]
        if not taken[one] and not taken[two]:
            break
    while taken[one]:
        state = step(state)
        one = below(state, DECK)
    taken[one] = True
    while taken[two]:
        state = step(state)
        two = below(state, DECK)
    taken[two] = True
    r[HOLE + 2 * seat], r[HOLE + 2 * seat + 1] = one, two
    return state


@njit(allocates=False)
def _draw_all(r: Any, own: Any, belief: Belief, scene: Scene, state: Any) -> Any:
    """Draw a model and a hand for each opponent, independently of one another. Returns whether no
    card came twice, and the random state; if one did, no card is taken."""
    taken, which = scene.taken, scene.which
    apart, drawn = True, 0
    while apart and drawn < r[SEATS]:
        seat = drawn
        drawn += 1
        if seat == own or r[FOLDED] >> seat & 1:
            continue
        state = _choose_model(seat, belief, scene, state)
        sums = belief.sums[which[seat], seat]
        state = step(state)
        h = _draw(sums, belief.guide[which[seat], seat], unit(state))
        apart = sums[COUNT - 1] > 0.0 and not taken[_ONE[h]] and not taken[_TWO[h]]
        r[HOLE + 2 * seat], r[HOLE + 2 * seat + 1] = _ONE[h], _TWO[h]
        if apart:
            taken[_ONE[h]] = taken[_TWO[h]] = True
    if apart:
        return True, state
    for seat in range(drawn - 1):  # all but the hand that clashed
        if seat != own and not r[FOLDED] >> seat & 1:
            taken[r[HOLE + 2 * seat]] = taken[r[HOLE + 2 * seat + 1]] = False
    return False, state


@njit(allocates=False)
def _deal_in_turn(r: Any, own: Any, belief: Belief, scene: Scene, state: Any) -> Any:
    """Draw the hands of opponents one after the other, from a random seat on, and once more given
    the others, which is a step of Gibbs sampling; returns the random state."""
    taken, which, n = scene.taken, scene.which, r[SEATS]
    state = step(state)
    first = below(state, n)
    for turn in range(2 * n):
        seat = (first + turn) % n
        if seat == own or r[FOLDED] >> seat & 1:
            continue
        if turn >= n:
            taken[r[HOLE + 2 * seat]] = taken[r[HOLE + 2 * seat + 1]] = False
        else:
            state = _choose_model(seat, belief, scene, state)
        sums, guide = belief.sums[which[seat], seat], belief.guide[which[seat], seat]
        state = _deal_hand(r, seat, sums, guide, state, taken)
    return state


@njit(allocates=False)
def deal_hidden(r: Any, own: Any, belief: Belief, scene: Scene, state: Any) -> Any:
    """Draw a model and a hand for each opponent, and the rest of the board; no card comes twice.
    Returns the random state."""
    taken, known = scene.taken, scene.space.known
    n, street = r[SEATS], belief.street[0]
    shown = BOARD_CARDS[street]
    for card in range(DECK):
        taken[card] = False
    taken[DECK] = True  # DECK stands for no card yet
    taken[r[HOLE + 2 * own]] = taken[r[HOLE + 2 * own + 1]] = True
    for place in range(shown):
        taken[r[BOARD + place]] = True
    apart = False
    for _ in range(_WHOLE_DRAWS if r[PLAYERS] > 2 else 1):
        apart, state = _draw_all(r, own, belief, scene, state)
        if apart:
            break
    if not apart:
        state = _deal_in_turn(r, own, belief, scene, state)
    for seat in range(n):
        for later in range(4):
            known[seat, later] = -1
        if not r[FOLDED] >> seat & 1:
            h = hand_number(r[HOLE + 2 * seat], r[HOLE + 2 * seat + 1])
            known[seat, street] = belief.hands.strength[h]
    for place in range(shown, 5):
        state = step(state)
        card = below(state, DECK)
        while taken[card]:
            state = step(state)
            card = below(state, DECK)
        taken[card] = True
        r[BOARD + place] = card
    return state


@njit(allocates=False)
def deal_own(r: Any, own: Any, belief: Belief, scene: Scene, state: Any) -> Any:
    """Draw other cards for our own seat, by what our moves tell of them, into a table whose hidden
    cards are dealt; returns the random state."""
    taken = scene.taken
    taken[r[HOLE + 2 * own]] = taken[r[HOLE + 2 * own + 1]] = False
    state = _deal_hand(r, own, belief.sums[0, own], belief.guide[0, own], state, taken)
    for street in range(4):
        scene.space.known[own, street] = -1
    return state


@njit(inline="always")
def strength_of_actor(r: Any, reads_hands: Any, scene: Scene) -> Any:
    """The packed strength of the actor's hand, -1 for models that do not look at it."""
    return actor_strength(r, scene.space.known, scene.space.cards) if reads_hands else np.int64(-1)


@njit(allocates=False)
def chances_at(r: Any, terms: Any, strength: Any, which: Any, models: Any, scene: Scene) -> None:
    """The chances of the actor's moves by a model, into `scene.space.chances`. Where they are no
    chances, fold, call and raise are equally likely, and a fault is counted."""
    chances = scene.space.chances
    move_chances(r, terms, strength, models[which], scene.space)
    total, least = 0.0, 0.0
    for move in range(len(chances)):
        total += chances[move]
        least = min(least, chances[move])
    if not (abs(total - 1.0) < 1e-6 and least >= 0.0):
        scene.faults[WRONG_CHANCES] += 1
        uniform_chances(r, chances)
        return
    correct(scene.factors[which, r[ACTOR]], scene.space)
    slopes = scene.slopes[which, r[ACTOR]]
    if strength >= 0 and is_known(r[STREET], slopes):
        correct_hand(r, strength, slopes, scene.traits, chances)


@njit(inline="always")
def uniform_chances(r: Any, chances: Any) -> None:
    """Fold, call and raise equally likely, without a fold where a check is free."""
    facing = to_call(r) > 0
    part = 1.0 / 3.0 if facing else 0.5
    chances[FOLD], chances[CALL] = part if facing else 0.0, part
    for move in range(RAISE, len(chances)):
        chances[move] = part / (len(chances) - RAISE)


@njit(inline="always")
def drawn_move(r: Any, terms: Any, reads_hands: Any, models: Any, scene: Scene, state: Any) -> Any:
    """The move that the actor's model draws; it may be a raise where none is legal."""
    strength = strength_of_actor(r, reads_hands, scene)
    chances_at(r, terms, strength, scene.which[r[ACTOR]], models, scene)
    return sample_move(scene.space.chances, unit(state))


@njit(allocates=False)
def play_drawn(r: Any, terms: Any, sizes: Any, move: Any) -> Any:
    """Play a drawn move as `play_move` does, and return the move as which it is observed."""
    if move < RAISE:
        act(r, terms, move, 0)
        return move
    least, most = raise_limits(r, terms)
    if most == 0:
        act(r, terms, CALL, 0)
        return np.int64(CALL)
    if terms[LIMIT]:
        act(r, terms, RAISE, least)
        return move
    amount = raised_to(r, least, most, sizes[move - RAISE])
    observed = move_of(r, terms, RAISE, amount, RAISE + len(sizes))
    act(r, terms, RAISE, amount)
    return observed


@njit(allocates=False)
def odds_move(r: Any, considered: Any, scene: Scene) -> Any:
    """Our move by pot odds: our hand's chance to win against as many any hands as there are
    opponents and raises, with its potential, against the price of a call. We raise by the middle
    one of the sizes that we consider."""
    strength = actor_strength(r, scene.space.known, scene.space.cards)
    share, potential = (strength & 255) / 255.0, (strength >> 8) / 400.0
    equity = _EQUITY[strength] if r[STREET] == 0 else share + (1.0 - share) * potential
    call, against = to_call(r), float(r[PLAYERS] - 1)
    if call > 0:
        against += _PER_RAISE * r[RAISES]
    chance = equity**against
    if call > 0 and chance < call / (pot_of(r) + call):
        return np.int64(FOLD)
    if chance < (_RAISES if call > 0 else _BETS):
        return np.int64(CALL)
    sizes = 0
    for move in range(RAISE, len(considered)):
        sizes += considered[move]
    left = sizes // 2
    for move in range(RAISE, len(considered)):
        if considered[move]:
            if left == 0:
                return np.int64(move)
            left -= 1
    return np.int64(CALL)


@njit(inline="always")
def play_by_model(
    r: Any,
    terms: Any,
    players: Any,
    own: Any,
    how: Any,
    reads_hands: Any,
    scene: Scene,
    state: Any,
) -> Any:
    """Play a table to its end by the models; the seat `own` as `how` says (a place in `SELVES`).
    Returns the random state."""
    sizes, models = players.sizes, players.models
    while r[ACTOR] >= 0:
        state = step(state)
        move = np.int64(CALL)
        if how == 0 or r[ACTOR] != own:
            move = drawn_move(r, terms, reads_hands, models, scene, state)
        elif how == OWN_ODDS:
            move = odds_move(r, players.considered, scene)
        play_drawn(r, terms, sizes, move)
    return state


@njit(inline="always")
def show_down(r: Any, terms: Any, leave: Any) -> None:
    """Compare the hands at a leaf without further betting: players who still owe call, or with
    `leave` fold (Gerritsen's two ways)."""
    street = r[STREET]
    while r[ACTOR] >= 0:
        owes = to_call(r) > 0
        act(r, terms, FOLD if leave and owes and r[STREET] == street else CALL, 0)
