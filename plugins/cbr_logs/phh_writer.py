"""Writer of hands in the PHH format, which PokerKit and other programs read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import IO

from cbr import BadValue
from cbr.files import plain_name, whole_file
from cbr_holdem.table import BOARD_CARDS, FOLD, RAISE, UNKNOWN_STACK, Hand, Table, game_text
from cbr_logs.amounts import MOST_PLACES, money
from cbr_logs.phh import BETS, BETTING, GAME, game_of, verify_unit

_VARIANTS = {betting: variant for variant, betting in BETTING.items()}


def write_phh(bodies: Iterator[str], path: Path) -> int:
    """Write hands to a file, a section for each, or one hand to a `.phh`; returns their number.

    The file appears only when it is complete: if a hand cannot be written, no file is left.
    """
    if plain_name(path) != path.name:
        raise BadValue(f"{path.name} would be compressed; PHH is written as text, to a .phhs")
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        return _write(bodies, file, path.suffix == ".phh")


def _write(bodies: Iterator[str], file: IO[str], alone: bool) -> int:
    count = 0
    for body in bodies:
        count += 1
        if alone and count > 1:
            raise BadValue("a .phh file has one hand; write more to a .phhs")
        hand = Hand.read(body)
        try:
            lines = list(_lines(hand))
        except BadValue as error:
            raise BadValue(f"hand {hand.number or count} cannot be written: {error}") from None
        file.write("" if alone else f"{'' if count == 1 else chr(10)}[{count}]\n")
        file.writelines(line + "\n" for line in lines)
    if alone and not count:
        raise BadValue("a .phh file has one hand, and there is none to write")
    return count


def _lines(hand: Hand) -> Iterator[str]:
    """The lines of a hand in PHH."""
    unit, game = hand.unit, hand.game
    if game.betting not in _VARIANTS:
        raise BadValue(f"there is no variant for {game.betting}")
    verify_unit(unit)
    variant = _VARIANTS[game.betting]
    bets: tuple[int, ...] = (game.big_blind,)
    if variant == "FT":
        small, second, third, big = game.bet_sizes or (bets * 2 + (2 * bets[0],) * 2)
        if small != second or third != big:
            raise BadValue("its four streets do not have two small and two big bets")
        bets = (small, big)
    # PHH lists posts and antes in reverse with two players.
    turn = -1 if len(hand.stacks) == 2 else 1
    yield f"variant = '{variant}'"
    yield f"antes = {_amounts(hand.antes[::turn], unit)}"
    yield f"blinds_or_straddles = {_amounts(hand.posts[::turn], unit)}"
    for key, bet in zip(BETS[variant], bets, strict=True):
        yield f"{key} = {money(bet, unit)}"
    stacks = ["inf" if s == UNKNOWN_STACK else money(s, unit) for s in hand.stacks]
    yield f"starting_stacks = [{', '.join(stacks)}]"
    yield f"actions = [{', '.join(map(_string, _actions(hand)))}]"
    if hand.number:
        yield f"hand = {_bare(hand.number) or _string(hand.number)}"
    yield f"players = [{', '.join(map(_string, hand.players))}]"
    if hand.result is not None and "inf" not in stacks:
        ends = zip(hand.stacks, hand.result, strict=True)
        yield f"finishing_stacks = [{', '.join(_ending(s, w, unit) for s, w in ends)}]"
    if not _told(hand, variant, bets):
        yield f"{GAME} = {_string(game_text(game, unit))}"


def _told(hand: Hand, variant: str, bets: tuple[int, ...]) -> bool:
    """Whether the other fields determine the game."""
    unit = hand.unit
    return unit in {1, *(10**places for places in range(2, MOST_PLACES + 1))} and (
        game_text(game_of(variant, bets, tuple(hand.posts))) == game_text(hand.game)
    )


def _amounts(amounts: Iterable[int], unit: int) -> str:
    return f"[{', '.join(money(amount, unit) for amount in amounts)}]"


def _ending(stack: int, won: float, unit: int) -> str:
    """A stack after the hand; a split pot may give fractions of a chip."""
    end = stack + Decimal(f"{won:.6f}")
    if end == int(end):
        return money(int(end), unit)
    return f"{(end / unit).normalize():f}"


def _bare(number: str) -> str:
    """A hand's number as a TOML integer; "" if it would not read back as the same text."""
    whole = number.isascii() and number.isdigit() and len(number) < 19
    return number if whole and str(int(number)) == number else ""


def _string(text: str) -> str:
    if "'" not in text:
        return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _actions(hand: Hand) -> Iterator[str]:
    """The actions of a legal hand in PHH, with the cards dealt and shown."""
    table = Table.of(hand)
    if not table.over:
        raise BadValue("the hand is not over")
    for seat, hole in enumerate(hand.holes):
        yield f"d dh p{seat + 1} {hole or '????'}"
    street = 0
    for when, seat, kind, amount in table.tables.history(0):
        while street < when:
            street += 1
            yield _dealt(hand.board, street)
        if kind == RAISE:
            yield f"p{seat + 1} cbr {money(amount, hand.unit)}"
        else:
            yield f"p{seat + 1} {'f' if kind == FOLD else 'cc'}"
    # The players left show their cards, when all are all in before the rest of the board. Unknown
    # cards stay unknown on each street.
    left = table.showdown
    for seat in left:
        yield f"p{seat + 1} sm {hand.holes[seat] or '????'}"
    while left and street < 3:
        street += 1
        yield _dealt(hand.board, street)
        yield from (f"p{seat + 1} sm ????" for seat in left if not hand.holes[seat])


def _dealt(board: str, street: int) -> str:
    return f"d db {board[2 * BOARD_CARDS[street - 1] : 2 * BOARD_CARDS[street]]}"
