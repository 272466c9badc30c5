"""Match states and actions as text, and the table that a state stands for.

    MATCHSTATE:1:7:rc/c:|AhKd/Ts4c2h

is hand 7 as position 1 sees it: the betting, with streets separated by `/`; the cards of each
position, as far as they are seen; the board. The amount of a raise in no-limit is what the player
has then put in over the whole hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cbr import BadValue
from cbr_holdem.cards import UNKNOWN, cards, name, verify_distinct
from cbr_holdem.table import (
    BET,
    BOARD,
    BOARD_CARDS,
    CALL,
    FOLD,
    HOLE,
    PAID,
    POST,
    RAISE,
    STREET,
    Table,
    act,
)
from cbr_logs import GameDef

VERSION = "VERSION:2.0.0"
#: Most actions on a street that programs of the competition can store.
MOST_ON_A_STREET = 64

_VERSION = re.compile(r"VERSION:(\d{1,9})\.(\d{1,9})\.\d{1,9}", re.ASCII)
_STATE = re.compile(r"MATCHSTATE:(\d{1,3}):(\d{1,10}):([fcr\d/]*):([\w|/]*)", re.ASCII)
_MOVE = re.compile(r"[fc/]|r(\d{0,15})", re.ASCII)
_ANSWER = {"limit": re.compile(r"[fcr]"), "nolimit": re.compile(r"[fc]|r\d{1,15}(?!\d)", re.ASCII)}
#: Most characters of a received line that a message quotes.
_QUOTED = 300


@dataclass(frozen=True)
class MatchState:
    """What a dealer sends a player. `holes` are two cards or "" for each position."""

    position: int
    hand: int
    betting: str
    holes: tuple[str, ...]
    board: str

    @property
    def text(self) -> str:
        streets = [self.board[:6], self.board[6:8], self.board[8:]]
        shown = "/".join(["|".join(self.holes), *(street for street in streets if street)])
        return f"MATCHSTATE:{self.position}:{self.hand}:{self.betting}:{shown}"

    @classmethod
    def read(cls, text: str) -> MatchState:
        """
        >>> MatchState.read("MATCHSTATE:1:7:rc/c:|AhKd/Ts4c2h").board
        'Ts4c2h'
        """
        found = _STATE.fullmatch(text)
        holes, *board = found[4].split("/") if found else ("",)
        held = tuple(holes.split("|"))
        whole = [len(street) for street in board] == [6, 2, 2][: len(board)]
        if not found or not whole or any(len(hole) not in (0, 4) for hole in held):
            raise BadValue(f"{quoted(text)} is not a match state")
        return cls(int(found[1]), int(found[2]), found[3], held, "".join(board))


def states_of(table: Table, hand: int) -> list[MatchState]:
    """The state of a table for each position: with its own cards, and at the end those shown."""
    row, seats = table.rows[0], table.seats
    betting, board = betting_of(table), board_of(table)
    held = [_cards(row[HOLE + 2 * seat : HOLE + 2 * seat + 2]) for seat in range(seats)]
    shown = set(table.showdown) if table.over else set()
    return [
        MatchState(
            position,
            hand,
            betting,
            tuple(held[seat] if seat in shown | {position} else "" for seat in range(seats)),
            board,
        )
        for position in range(seats)
    ]


def table_of(state: MatchState, definition: GameDef) -> Table:
    """The table that a state stands for, with UNKNOWN for what this position does not see.

    `BadValue` if the rules do not allow it, or if it lacks cards that it should show.
    """
    seats = len(definition.posts)
    if len(state.holes) != seats or not state.position < seats:
        raise BadValue(f"{quoted(state.text)} is not a state of a game for {seats}")
    with _refused(state):
        table = Table(definition.game, definition.stacks, *_seen(state), definition.posts)
    _go_on(table, state, state.betting)
    return table


def follow(table: Table, last: MatchState, state: MatchState) -> None:
    """Bring the table of state `last` to a later one of the same hand; `BadValue` as above."""
    with _refused(state):
        goes_on = (
            (state.position, state.hand, len(state.holes))
            == (last.position, last.hand, len(last.holes))
            and state.betting.startswith(last.betting)
            and state.board.startswith(last.board)
            and all(old in ("", new) for old, new in zip(last.holes, state.holes, strict=True))
        )
        if not goes_on:
            raise BadValue(f"it does not go on from {quoted(last.text)}")
        held, board = _seen(state)
        verify_distinct([card for card in (*held, *board) if card != UNKNOWN], "hands and board")
        table.rows[0, HOLE : HOLE + len(held)] = held
        table.rows[0, BOARD : BOARD + len(board)] = board
    _go_on(table, state, state.betting[len(last.betting) :])


def _seen(state: MatchState) -> tuple[list[int], list[int]]:
    """The cards of all hands and of the whole board, as far as a state shows them."""
    held = [card for hole in state.holes for card in cards(hole) or (UNKNOWN, UNKNOWN)]
    board = cards(state.board)
    return held, board + [UNKNOWN] * (5 - len(board))


def _go_on(table: Table, state: MatchState, moves: str) -> None:
    """Play the moves that lead to a state, and check that the table then agrees with it."""
    with _refused(state):
        if not state.holes[state.position]:
            raise BadValue("it does not show the player's own cards")
        _replay(table, moves)
        if betting_of(table) != state.betting or len(board_of(table)) != len(state.board):
            raise BadValue("its streets or its board do not fit its betting")
        if table.over and not all(state.holes[seat] for seat in table.showdown):
            raise BadValue("it ends in a showdown that does not show all hands")


@contextmanager
def _refused(state: MatchState) -> Iterator[None]:
    try:
        yield
    except BadValue as error:
        raise BadValue(f"{quoted(state.text)} is not as the game allows: {error}") from None


def _replay(table: Table, betting: str) -> None:
    limit, at = table.game.betting == "limit", 0
    while at < len(betting):
        move = _MOVE.match(betting, at)
        if move is None:
            raise BadValue(f"betting {quoted(betting[at:])} is not f, c, r and the streets' /")
        at = move.end()
        if move[0] == "/":
            continue  # streets follow from the actions, and are compared afterwards
        if move[0] == "f":
            table.verify_going()  # some dealers let players fold where they could check
            act(table.rows[0], table.terms, FOLD, 0)
        elif move[0] == "c":
            table.play("c")
        elif limit is bool(move[1]):
            raise BadValue(f"a raise is {move[0]!r}, {'without' if limit else 'with'} an amount")
        else:
            table.play("r", None if limit else int(move[1]) - before(table))


def before(table: Table) -> int:
    """What each player still in had put in before this street."""
    row, seats = table.rows[0], table.seats
    return int((row[PAID : PAID + seats] - row[BET : BET + seats]).max())


def betting_of(table: Table) -> str:
    """The betting so far, as match states write it."""
    limit = table.game.betting == "limit"
    row = table.rows[0]
    written, street, top = [], 0, int(row[POST : POST + table.seats].max())
    start = 0  # what each player still in had put in before this street
    for when, _, kind, amount in table.tables.history(0):
        if when > street:
            written.append("/" * (when - street))
            street, start = when, top
        if kind == RAISE:
            top = start + amount
        written.append("fcr"[kind] + (str(top) if kind == RAISE and not limit else ""))
    return "".join(written) + "/" * (int(row[STREET]) - street)


def board_of(table: Table) -> str:
    """The cards on the board that show."""
    return _cards(table.rows[0, BOARD : BOARD + BOARD_CARDS[int(table.rows[0, STREET])]])


def action_text(table: Table, kind: int, to: int) -> str:
    """An action as the protocol writes it."""
    sized = kind == RAISE and table.game.betting != "limit"
    return "fcr"[kind] + (str(before(table) + to) if sized else "")


def settled(table: Table, answer: str) -> tuple[int, int, str]:
    """The kind and amount that a dealer plays for an answer, and what it changed, if anything.

    An action that cannot be read or is not legal becomes a call, and an amount that is not legal
    the nearest legal one.
    """
    found = _ANSWER[table.game.betting].match(answer)
    if not found:
        return CALL, 0, "no action, changed to a call"
    legal, move = table.legal(), found[0]
    if move[0] == "c":
        return CALL, 0, ""
    if move[0] == "f":
        return (FOLD, 0, "") if legal.fold else (CALL, 0, "a fold for nothing, changed to a call")
    if not legal.raise_to or _crowded(table):
        return CALL, 0, "a raise where none is legal, changed to a call"
    wished = int(move[1:]) - before(table) if move[1:] else legal.raise_from
    to = min(max(wished, legal.raise_from), legal.raise_to)
    if to == wished:
        return RAISE, to, ""
    return RAISE, to, "an amount that is not legal, changed to the nearest"


def _crowded(table: Table) -> bool:
    """Whether a raise and its calls are more actions on a street than other programs can store."""
    street = int(table.rows[0, STREET])
    done = sum(when == street for when, *_ in table.tables.history(0))
    return done + table.seats > MOST_ON_A_STREET


def speaks_ours(line: str) -> bool:
    """Whether a greeting has a protocol version that we support."""
    found = _VERSION.match(line)
    return found is not None and int(found[1]) == 2 and int(found[2]) == 0


def quoted(text: str) -> str:
    """A received text for a message or a log: on one line, and shortened."""
    return ascii(text if len(text) <= _QUOTED else text[:_QUOTED] + "...")


def _cards(numbers: Iterable[int]) -> str:
    return "".join(map(name, numbers))
