"""Reader of hand histories in the PHH format (TOML).

A `.phh` file has one hand, a `.phhs` file a section for each hand:

    [1]
    variant = 'NT'
    antes = [0, 0]
    blinds_or_straddles = [0.25, 0.50]
    min_bet = 0.50
    starting_stacks = [50.20, 75.75]
    actions = ['d dh p1 ????', 'd dh p2 ????', 'p2 cbr 1.50', 'p1 f']

Here p1 posts 0.50: with two players, antes and blinds are listed in reverse. A TOML parser takes
half a millisecond for a hand, so hands in the usual form are read by compiled code (`phh_fast`),
and only the others by `tomllib`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from cbr import BadValue, CaseSource, Raw, Skipped
from cbr.files import plain_name
from cbr_holdem.table import (
    BOARD_CARDS,
    MOST_SEATS,
    UNKNOWN_STACK,
    Game,
    Hand,
    read_game,
    verify_names,
)
from cbr_logs.amounts import MOST_PLACES, chips, unit_for
from cbr_logs.cutting import sections
from cbr_logs.domains import DOMAINS, domain_of

_SECTION = re.compile(rb"^[ \t]*\[[ \t]*['\"]?\d+['\"]?[ \t]*\][ \t\r]*(?:#.*)?$", re.M)
_VARIANT = re.compile(rb"^\s*variant\s*=\s*['\"]", re.MULTILINE)

BETTING = {"FT": "limit", "NT": "nolimit"}
BETS = {"FT": ("small_bet", "big_bet"), "NT": ("min_bet",)}
_NUMBERS = ("antes", "blinds_or_straddles", "starting_stacks", "finishing_stacks")
_AMOUNTS = ("min_bet", "small_bet", "big_bet")
_TEXTS = ("actions", "players")
#: Our own field: the game of a hand, written where the other fields do not determine it.
GAME = "_cbr_game"

#: The stack in big bets where the log has none: more than can be lost in a hand.
_DEEP = 10_000
_UNKNOWN_STACK = {"inf", "+inf"}


def _can_read(path: Path, head: bytes) -> bool:
    if Path(plain_name(path)).suffix in {".phh", ".phhs"}:
        return True
    return _VARIANT.search(head) is not None


def read(path: Path) -> Iterator[Raw | Skipped]:
    """The hands of a file, as bytes for `parse`."""
    return sections(path, _SECTION, keep_first=False)


# --- reading a hand -----------------------------------------------------------------------------


def parse(data: bytes) -> str:
    """The text of a hand in PHH.

    >>> lines = ["variant = 'NT'", "antes = [0, 0]", "blinds_or_straddles = [0.25, 0.50]"]
    >>> lines += ["min_bet = 0.50", "starting_stacks = [50.20, 75.75]"]
    >>> lines += ["actions = ['d dh p1 ????', 'd dh p2 AhKs', 'p2 cbr 1.50', 'p1 f']"]
    >>> hand = Hand.read(parse("\\n".join(lines).encode()))
    >>> hand.posts, hand.actions, hand.holes, hand.unit
    ((50, 25), 'Br150Af', ('', 'AhKs'), 100)
    """
    from cbr_logs.phh_fast import fast_text  # compiled, and most commands read no logs

    usual = fast_text(data)
    if usual is not None:
        return usual
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise BadValue("the hand has bytes that are not UTF-8") from None
    return _hand(read_toml(text)).text


_STRINGS = ("variant", "hand", GAME)


def read_toml(text: str) -> dict[str, Any]:
    """The fields of a hand in any form that TOML allows."""
    try:
        # Floats stay text, so that they convert exactly to whole chips.
        given = tomllib.loads(text, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise BadValue(f"the hand is not in TOML: {error}") from None
    fields: dict[str, Any] = {}
    for key in _NUMBERS:
        if key in given:
            fields[key] = [_number(number, key) for number in _list(given[key], key)]
    for key in _AMOUNTS:
        if key in given:
            fields[key] = _number(given[key], key)
    for key in _TEXTS:
        if key in given:
            fields[key] = _list(given[key], key)
            if not all(isinstance(text, str) for text in fields[key]):
                raise BadValue(f"{key} are not all strings")
    for key in _STRINGS:
        if key in given:
            fields[key] = str(given[key])
    return fields


def _list(value: object, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadValue(f"{key} is not a list")
    return value


def _number(value: object, key: str) -> str:
    """A number as plain decimal text, without an exponent or underscores."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise BadValue(f"{key} has {str(value)[:40]!r}, which is not a number")
    text = str(value)
    if "e" in text.lower() and len(text) < 30:
        try:
            exact = Decimal(text)
            text = f"{exact:f}" if abs(exact.adjusted()) < 30 else text
        except ArithmeticError:
            pass
    return text.replace("_", "")


#: Kinds of action strings: no action, hole or board cards dealt, cards shown, fold or call, raise.
_NOTHING, _HOLE, _BOARD, _SHOW, _MOVE, _RAISE = range(6)
_SEATS = {f"p{seat + 1}": seat for seat in range(MOST_SEATS)}
_LETTERS = "ABCDEFGHIJ"
_RAISED = [f"{letter}r%d" for letter in _LETTERS]
_CARDS = re.compile(r"(?:[2-9TJQKA?][cdhs?])*\Z")
_STREET = {2 * cards: street for street, cards in enumerate(BOARD_CARDS)}


@lru_cache(maxsize=1 << 16)
def _action(text: str) -> tuple[int, int, str]:
    """The kind of an action string, the seat, and the cards, move or amount."""
    match text.partition("#")[0].split():
        case [player, "f"] if player in _SEATS:
            return _MOVE, _SEATS[player], _letter(player) + "f"
        case [player, "cc"] if player in _SEATS:
            return _MOVE, _SEATS[player], _letter(player) + "c"
        case [player, "cbr", amount] if player in _SEATS:
            return _RAISE, _SEATS[player], amount
        case ["d", "dh", player, held] if player in _SEATS and _CARDS.match(held):
            return _HOLE, _SEATS[player], held
        case ["d", "db", dealt] if _CARDS.match(dealt) and "?" not in dealt:
            return _BOARD, 0, dealt
        case [player, "sm"] if player in _SEATS:
            return _NOTHING, _SEATS[player], ""
        case [player, "sm", "-"] if player in _SEATS:
            return _NOTHING, _SEATS[player], ""
        case [player, "sm", shown] if player in _SEATS and _CARDS.match(shown):
            return _SHOW, _SEATS[player], shown
        case []:
            return _NOTHING, 0, ""
    raise BadValue(f"{text[:60]!r} is not an action that hold'em has")


def _letter(player: str) -> str:
    return _LETTERS[_SEATS[player]]


def _hand(fields: Mapping[str, Any]) -> Hand:
    """The hand with these PHH fields."""
    variant = _needed(fields, "variant")
    if variant not in BETTING:
        raise BadValue(f"variant is {variant[:40]!r}; FT and NT are hold'em with limit and without")
    stacks = _needed(fields, "starting_stacks")
    seats = len(stacks)
    if not 2 <= seats <= MOST_SEATS:
        raise BadValue(f"{seats} players; a table has 2 to {MOST_SEATS}")
    posts, antes = _needed(fields, "blinds_or_straddles"), _needed(fields, "antes")
    bets = [_needed(fields, key) for key in BETS[variant]]
    players = fields.get("players") or list(_SEATS)[:seats]
    for what, given in ("blinds_or_straddles", posts), ("antes", antes), ("players", players):
        if len(given) != seats:
            raise BadValue(f"{len(given)} {what} for {seats} starting_stacks")
    verify_names(players)
    if seats == 2:
        posts, antes = posts[::-1], antes[::-1]
    holes, board, moves, raised = _play(_needed(fields, "actions"), seats)
    known = stacks
    if not _UNKNOWN_STACK.isdisjoint(stacks):
        known = [stack for stack in stacks if stack not in _UNKNOWN_STACK]
    if GAME in fields:
        terms, unit = read_game(fields[GAME])
        if terms.betting != BETTING[variant]:
            raise BadValue(f"{GAME} is {terms.betting}, the variant {variant}")
        verify_unit(unit)
        live = tuple([chips(post, unit) for post in posts])
    else:
        unit = unit_for([*known, *posts, *antes, *bets, *raised])
        live = tuple([chips(post, unit) for post in posts])
        terms = game_of(variant, tuple([chips(bet, unit) for bet in bets]), live)
    deep = UNKNOWN_STACK if variant == "NT" else _DEEP * (terms.bet_sizes or [terms.big_blind])[-1]
    own = [deep if stack in _UNKNOWN_STACK else chips(stack, unit) for stack in stacks]
    return Hand(
        game=terms,
        stacks=own,
        posts=live,
        antes=[chips(ante, unit) for ante in antes],
        holes=holes,
        board=board,
        actions=moves % tuple([_above_zero(to, unit) for to in raised]),
        players=players,
        result=_result(fields.get("finishing_stacks"), own, unit),
        unit=unit,
        number=_line(fields.get("hand", "")),
    )


def verify_unit(unit: int) -> None:
    """Check that one unit of the currency is a power of ten of chips."""
    if len(str(unit)) > MOST_PLACES + 1 or str(unit).rstrip("0") != "1":
        raise BadValue(f"{unit} chips to one of the currency, which must be a power of ten")


def _needed(fields: Mapping[str, Any], key: str) -> Any:
    if key not in fields:
        raise BadValue(f"the hand has no {key}")
    return fields[key]


def _line(number: str) -> str:
    if not number.isprintable():
        raise BadValue(f"the hand's number is {number[:40]!r}, with characters that do not print")
    return number


@lru_cache(maxsize=1000)
def game_of(variant: str, bets: tuple[int, ...], posts: tuple[int, ...]) -> Game:
    """The game, from its bets and posts; without a cap, since logs do not name one."""
    big = bets[0]
    if min(bets) <= 0:
        raise BadValue(f"bets are {list(bets)} chips; they must be above 0")
    blinds = sorted(post for post in posts if post > 0)
    # A single blind is the big one.
    small = min(blinds[0], big) if len(blinds) > 1 else 0
    if variant == "NT":
        return Game("nolimit", small, big)
    return Game("limit", small, big, bet_sizes=(big, big, bets[1], bets[1]), cap=None)


def _play(actions: Sequence[str], seats: int) -> tuple[list[str], str, str, list[str]]:
    """The known hole cards by seat, the board, the actions as in `Hand.actions` but with %d for the
    amounts of raises, and those amounts."""
    held = [""] * seats
    shown = {}
    board = ""
    cards = street = 0
    moves: list[str] = []
    raised: list[str] = []
    for text in actions:
        kind, seat, what = _action(text)
        if kind >= _MOVE:
            if len(board) != cards:
                cards = len(board)
                if cards not in _STREET:
                    raise BadValue(f"a player acts when the board has {cards // 2} cards")
                moves.append("/" * (_STREET[cards] - street))
                street = _STREET[cards]
            if kind == _RAISE:
                raised.append(what)
                what = _RAISED[seat]
            moves.append(what)
        elif kind == _HOLE:
            if seat >= seats:
                raise BadValue(f"p{seat + 1} is dealt cards, but there are {seats} players")
            held[seat] += what
        elif kind == _BOARD:
            board += what
        elif kind == _SHOW and _whole(what):
            shown[seat] = what
    holes = [_known(text) for text in held]
    for seat, text in shown.items():
        if seat >= seats or (holes[seat] and not _same(holes[seat], text)):
            dealt = holes[seat] if seat < seats else "nothing"
            raise BadValue(f"p{seat + 1} was dealt {dealt} and shows {text}")
        holes[seat] = holes[seat] or text
    return holes, board, "".join(moves), raised


def _known(dealt: str) -> str:
    """The two cards of a player, or "" where they are not both known."""
    if len(dealt) not in {0, 4}:
        raise BadValue(f"a player is dealt {dealt[:40]}, not two cards")
    return "" if "?" in dealt else dealt


def _same(one: str, other: str) -> bool:
    return {one[:2], one[2:]} == {other[:2], other[2:]}


def _whole(cards: str) -> bool:
    """Whether these are two known cards; a single known card is not used."""
    return len(cards) == 4 and "?" not in cards


def _above_zero(amount: str, unit: int) -> int:
    to = chips(amount, unit)
    if to <= 0:
        raise BadValue(f"a player raises to {amount}")
    return to


def _result(
    finishing: Sequence[str] | None, stacks: Sequence[int], unit: int
) -> list[float] | None:
    """Chips won or lost by each seat; None if the log lacks the stacks after the hand."""
    if finishing is None or _UNKNOWN_STACK.intersection(finishing):
        return None
    if len(finishing) != len(stacks):
        raise BadValue(f"{len(finishing)} finishing_stacks for {len(stacks)} starting_stacks")
    if unit == 1 and "".join(finishing).isdecimal():
        return [int(end) - stack for end, stack in zip(finishing, stacks, strict=True)]
    # A split pot may need more decimals than the bets have.
    fine = max(unit, unit_for(finishing, 2 * MOST_PLACES))
    parts = fine // unit
    won = [chips(end, fine) - parts * stack for end, stack in zip(finishing, stacks, strict=True)]
    return [float(part) for part in won] if parts == 1 else [part / parts for part in won]


def _write(bodies: Iterator[str], path: Path) -> int:
    from cbr_logs.phh_writer import write_phh

    return write_phh(bodies, path)


PHH = CaseSource(
    name="phh",
    meaning="hand histories in PHH (.phh, .phhs), limit and no-limit",
    can_read=_can_read,
    read=read,
    parse=parse,
    domains=DOMAINS,
    domain_of=domain_of,
    write=_write,
    suffix=".phhs",
)
