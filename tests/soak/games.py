"""Limit games with the cap and no-limit games, each played by our table and by PokerKit.

After each move the player to act, what is legal, the pot and the stacks are the same, and so are
the final stacks. Players act at random, or so that short all-ins, side pots, minimum raises, full
caps and split pots are frequent.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pokerkit import Automation, BettingStructure, Deck, Opening, StandardHighHand, State, Street

from cbr_holdem.cards import cards, name
from cbr_holdem.table import BET_SIZES, MOST_MOVES, MOST_RAISES, MOST_SEATS, Game, Table
from soak.part import Found, dice

AUTOMATIONS = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.CARD_BURNING,
    Automation.HOLE_CARDS_SHOWING_OR_MUCKING,
    Automation.HAND_KILLING,
    Automation.CHIPS_PUSHING,
    Automation.CHIPS_PULLING,
)
STRUCTURES = {
    "limit": BettingStructure.FIXED_LIMIT,
    "nolimit": BettingStructure.NO_LIMIT,
    "potlimit": BettingStructure.POT_LIMIT,
}
#: Boards that often or always split the pot.
SPLIT = ("As Ks Qs Js Ts", "9c 9d 9h 9s Ac", "Ac Kd Qh Js Tc", "Kc Kd Qh Qs Ac", "2c 3d 4h 5s 6c")

#: Chooses a move and its amount from what is legal.
Chooser = Callable[[random.Random, Any], tuple[str, int]]


def referee(game: Game, stacks: list[int], hands: list[int]) -> State:
    """The same game in PokerKit, holes dealt."""
    seats = len(stacks)
    streets = tuple(
        Street(
            street > 0,
            (False, False) if street == 0 else (),
            (0, 3, 1, 1)[street],
            False,
            Opening.POSITION,
            int(game.terms[BET_SIZES + street]),
            int(game.terms[MOST_RAISES + street]) if game.betting == "limit" else None,
        )
        for street in range(4)
    )
    blinds = (game.small_blind, game.big_blind) + (0,) * (seats - 2)
    structure = STRUCTURES[game.betting]
    state = State(
        AUTOMATIONS, Deck.STANDARD, (StandardHighHand,), streets, structure, True,
        (game.ante,) * seats, blinds, 0, tuple(stacks), seats,
    )  # fmt: skip
    for seat in range(seats):
        state.deal_hole("".join(name(card) for card in hands[2 * seat : 2 * seat + 2]))
    return state


# --- how players act --------------------------------------------------------------------------


def _anyhow(raising: float) -> Chooser:
    """Raises so often, by the least, the most or any amount; folds now and then."""

    def choose(rng: random.Random, legal: Any) -> tuple[str, int]:
        chance, span = rng.random(), (legal.raise_from, legal.raise_to)
        if legal.raise_to and chance < raising:
            return "r", rng.choice([*span, rng.randint(*span)])
        return ("f" if legal.fold and chance > 0.85 else "c"), 0

    return choose


def _least(rng: random.Random, legal: Any) -> tuple[str, int]:
    """Minimum raises, so that caps are reached and full raises are told from short ones."""
    if legal.raise_to and rng.random() < 0.8:
        return "r", legal.raise_from
    return ("f" if legal.fold and rng.random() < 0.05 else "c"), 0


def _most(rng: random.Random, legal: Any) -> tuple[str, int]:
    """All-in or call: as many side pots as there are stacks."""
    if legal.raise_to and rng.random() < 0.5:
        return "r", legal.raise_to
    return ("f" if legal.fold and rng.random() < 0.1 else "c"), 0


def random_game(rng: random.Random, betting: str) -> int:
    """A game of random rules, stacks and manners, played by both; returns its number of moves."""
    seats = rng.randint(2, 10)
    blinds = rng.choice([(1, 2), (1, 2), (1, 3), (5, 10)])
    ante = rng.choice([0, 0, 1, 3])
    cap = rng.choice([4, 4, 3, 2, 1]) if betting == "limit" else 4
    game = Game(betting, *blinds, ante=ante, cap=cap)
    manner = rng.choice([_anyhow(0.35 + 0.3 * rng.random()), _least, _most])
    # Around a few big blinds lie the stacks whose all-ins are less than a full raise.
    deepest = rng.choice([30, 200, 2000, 4 * blinds[1] + ante])
    stacks = [rng.randint(1, deepest) for _ in range(seats)]
    board = cards(rng.choice(SPLIT)) if rng.random() < 0.25 else []
    deck = rng.sample([card for card in range(52) if card not in board], 52 - len(board))
    hands = deck[: 2 * seats]
    return play_both(rng, game, stacks, hands, (board + deck[2 * seats :])[:5], manner)


def play_both(
    rng: random.Random,
    game: Game,
    stacks: list[int],
    hands: list[int],
    board: list[int],
    choose: Chooser,
) -> int:
    """Play a game here and there, and compare all that can be seen; returns the moves."""
    ours, theirs = Table(game, stacks, hands, board), referee(game, stacks, hands)
    dealt, moves = 0, 0
    while theirs.status:
        if theirs.actor_index is None:
            count = 1 if dealt else 3
            theirs.deal_board("".join(name(card) for card in board[dealt : dealt + count]))
            dealt += count
            continue
        legal = ours.legal()
        assert ours.actor == theirs.actor_index
        assert legal.call == theirs.checking_or_calling_amount
        assert legal.fold == (theirs.bets[theirs.actor_index] < max(theirs.bets))
        # A hand has room for MOST_MOVES; when only calls to the end fit in, ours has no raises.
        room = moves + 5 * MOST_SEATS < MOST_MOVES
        least = theirs.min_completion_betting_or_raising_to_amount if room else 0
        most = theirs.max_completion_betting_or_raising_to_amount if room else 0
        assert (legal.raise_from, legal.raise_to) == (least or 0, most or 0)
        assert ours.pot == theirs.total_pot_amount
        assert ours.stacks == list(theirs.stacks)
        move, to = choose(rng, legal)
        if move == "r":
            theirs.complete_bet_or_raise_to(to)
            ours.play("r", to)
        elif move == "f":
            theirs.fold()
            ours.play("f")
        else:
            theirs.check_or_call()
            ours.play("c")
        moves += 1
    assert ours.over
    assert ours.final_stacks == list(theirs.stacks)
    assert sum(ours.payoffs) == 0
    assert [stack + won for stack, won in zip(stacks, ours.payoffs, strict=True)] == list(
        theirs.stacks
    )
    assert len(ours.tables.history(0)) == moves
    return moves


def piece(seed: int, number: int, folder: Path, count: int = 300) -> Found:
    """Even pieces play limit games with the cap, odd ones no-limit games."""
    betting, found = ("limit", "nolimit")[number % 2], Found()
    for place in range(count):
        rng = dice(f"games {place}", seed, number)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # PokerKit wonders about some folds
                random_game(rng, betting)
        except AssertionError as error:
            told = " ".join(str(error).split()) or "the two differ"
            found.wrong.append(f"{betting} game {place}: {told}")
        except Exception as error:
            found.crashed.append(f"{betting} game {place}: {type(error).__name__}: {error}")
        found.items += 1
    return found
