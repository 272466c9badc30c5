"""Reader of the IRC poker database: one folder of related files for each channel and month.

    holdem1/199906/hdb           928000001 1 35840 2  2/20 0/0 0/0 1/30  6h 2c 5h
    holdem1/199906/hroster       928000001 2 ann bob
    holdem1/199906/pdb/pdb.ann   ann 928000001 2 1 Bc b - -  2498 20 30
    holdem1/199906/pdb/pdb.bob   bob 928000001 2 2 Bk f - -   870 10  0

`hdb` has a line for each hand, `hroster` its players, and `pdb.NAME` what a player did in each of
his hands; the timestamp joins them. Bet amounts are not logged, so only fixed limit can be read,
where the stakes follow from the channel, from `--stakes`, or from what big blinds lost who folded
at once. A hand whose lines are missing, truncated or inconsistent is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, islice, zip_longest
from operator import sub
from pathlib import Path
from typing import Any

from cbr import BadValue, BuildOption, CaseSource, Raw, Skipped
from cbr.files import BROKEN, lines_of, open_bytes, plain_name
from cbr_holdem.table import BOARD_CARDS, MOST_SEATS, Game, game_text
from cbr_logs.domains import DOMAINS, domain_of
from cbr_logs.irc_files import LONGEST, UNSHOWN, file_in


@dataclass(frozen=True)
class _Channel:
    """The game of a channel, as bytes for `Hand.text`."""

    text: bytes
    blinds: tuple[int, int]
    two_blinds: bytes
    one_blind: bytes


@cache
def _limit(small_bet: int) -> _Channel:
    """A limit game with blinds of half a small bet and one small bet. It has no cap, because the
    logs have raises beyond any cap."""
    half = small_bet // 2
    game = game_text(Game("limit", half, small_bet, cap=None))
    blinds = half, small_bet
    return _Channel(game.encode(), blinds, b"%d,%d" % blinds, b"%d,0" % small_bet)


#: Small bets of the channels with fixed limit.
_SMALL_BETS = {
    **dict.fromkeys(("holdem", "holdemii", "holdem1", "botsonly", "h1-nobots"), 10),
    "holdem2": 20,
    "holdem3": 50,
}
#: What the other channels of the database played.
_OTHERS = {
    "nolimit": "no-limit hold'em",
    "holdempot": "pot-limit hold'em",
    "tourney": "tournaments of no-limit hold'em",
    **dict.fromkeys(("7stud", "7studhi"), "seven-card stud"),
    **dict.fromkeys(("omaha", "omahapl"), "Omaha"),
}
_STAKES = re.compile(r"(\d{1,9})/(\d{1,9})")
_HDB = re.compile(rb"^[ \t]*\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+/\d+[ \t]", re.MULTILINE)
_CARDS = frozenset(f"{rank}{suit}".encode() for rank in "23456789TJQKA" for suit in "cdhs")
#: Lines of hdb that are joined with the other files in one step.
_CHUNK = 4096
_SEATS = "ABCDEFGHIJ"
#: The positions at a table as the database writes them, by number of players.
_POSITIONS = {
    b"%d" % count: [b"%d" % position for position in range(1, count + 1)]
    for count in range(2, MOST_SEATS + 1)
}
#: Possible numbers of fields in a line of hdb: eight, and the cards of the board.
_DEALT = frozenset(8 + cards for cards in BOARD_CARDS)
#: Numbers of fields in a line of pdb: without and with cards.
_FIELDS = frozenset((UNSHOWN, UNSHOWN + 2))
#: Number of streets reached, by the number of cards on the board.
_REACHED = {cards: street + 1 for street, cards in enumerate(BOARD_CARDS)}
_LETTERS = {"k": "c", "c": "c", "b": "r", "r": "r", "f": "f", "Q": "f", "K": "f"}

#: The parts of a hand: the small bet, its line of hdb, its lines of hroster and of pdb.
_Joined = tuple[int, bytes, bytes, bytes]


# --- files --------------------------------------------------------------------------------------


def _can_read(path: Path, head: bytes) -> bool:
    """Whether this is a list of hands (hdb), or one of the files that belong to one.

    A month has thousands of the latter, so for them only the existence of hdb is checked.
    """
    name = plain_name(path)
    if name == "hdb":
        return _HDB.search(head) is not None
    if name == "hroster" or (name.startswith("pdb.") and path.parent.name == "pdb"):
        return file_in(_month(path), "hdb") is not None
    return False


def _month(path: Path) -> Path:
    """The folder of a month that a file of the database is in."""
    return path.parent.parent if plain_name(path).startswith("pdb.") else path.parent


def _identity(path: Path) -> str:
    """Channel, month and name, since the files of every month have the same names.

    >>> _identity(Path("/data/h1-nobots/199911/hdb.gz"))
    'h1-nobots/199911/hdb'
    """
    month = _month(path).resolve()
    inside = ["pdb"] if plain_name(path).startswith("pdb.") else []
    return "/".join([month.parent.name, month.name, *inside, plain_name(path)])


def _read(path: Path, stakes: str = "") -> Iterator[Raw | Skipped]:
    """Each hand of a month with the lines that belong to it, in the order of hdb."""
    given = _given(stakes)
    if plain_name(path) != "hdb":
        return
    from cbr_logs.irc_month import Month  # compiled, and most commands read no logs

    month, refusal = None, ""
    try:
        known = given or _small_bet(_month(path).resolve().parent.name)
        month = Month(path, _month(path), known)
    except BadValue as error:
        refusal = str(error)
    with open_bytes(path) as (stream, position):
        lines = _numbered(lines_of(stream, LONGEST))
        while chunk := list(islice(lines, _CHUNK)):
            offset = position()
            if month is None:
                yield from (Skipped(number, refusal, offset) for number, _ in chunk)
            else:
                yield from month.hands(chunk, offset)


def _given(stakes: str) -> int:
    """The small bet of `--stakes`; 0 if it is not given."""
    if not stakes:
        return 0
    found = _STAKES.fullmatch(stakes.strip())
    small, big = (int(found[1]), int(found[2])) if found else (0, 0)
    if not small or small % 2 or big != 2 * small:
        raise BadValue(
            f"--stakes {stakes!r} must be the small and the big bet in chips, such as 10/20, of "
            "which the small one is even"
        )
    return small


def _small_bet(channel: str) -> int:
    """The small bet of a channel; 0 if it is not one of the database."""
    if channel in _OTHERS:
        raise BadValue(
            f"channel {channel!r} plays {_OTHERS[channel]}, and the database holds no amounts of "
            "bets, so that only fixed-limit hold'em can be read"
        )
    return _SMALL_BETS.get(channel, 0)


def _numbered(lines: Iterator[tuple[int, bytes | None]]) -> Iterator[tuple[int, bytes | str]]:
    """The lines that are not blank with their numbers; for an unreadable line, the reason."""
    number = 0
    try:
        for number, line in lines:
            if line is None:
                yield number, f"the line is longer than {LONGEST} characters"
            elif line.strip():
                yield number, line
    except BROKEN as error:
        yield number + 1, f"the file breaks off: {error}"


# --- hands --------------------------------------------------------------------------------------


def parse(data: _Joined) -> str:
    """The `Hand.text` of joined lines; `BadValue` if they are not one consistent hand.

    Compiled code converts consistent hands; the slow path gives the reason for all others.
    """
    from cbr_logs.irc_fast import fast_text  # compiled, and most commands read no logs

    small_bet, line, roster, lines = data
    game = _limit(small_bet)
    usual = fast_text(line, roster, lines, game.text, game.blinds)
    return parse_slowly(data) if usual is None else usual


def parse_slowly(data: _Joined) -> str:
    """The same in pure Python; the `BadValue` says what is wrong with the hand."""
    small_bet, line, roster, lines = data
    dealt = line.split()
    if len(dealt) not in _DEALT or not dealt[0].isdigit():
        raise BadValue(f"the line of hdb has {len(dealt)} fields; it must be 8, 11, 12 or 13")
    seats = _seated([player.split() for player in lines.split(b"\n")], dealt[3], roster)
    names, _, _, _, preflop, flop, turn, river, stacks, paid, won, *_ = zip(*seats, strict=False)
    if not b"".join(stacks + paid + won).isdigit():
        raise BadValue("amounts of chips are not whole numbers")
    put, win = list(map(int, paid)), list(map(int, won))
    blinds, outs, *moves = zip(*map(_moves, _SEATS, preflop, flop, turn, river), strict=True)
    _verify_end(dealt[7], outs.count(False), sum(put), sum(win))
    game = _limit(small_bet)
    fields = (
        dealt[0],
        game.text,
        b",".join(stacks),
        _posts(blinds, game),
        b"",  # no antes
        _holes(seats, dealt[8:]),
        b"".join(dealt[8:]),
        _actions(moves, 1 + blinds[1], len(dealt) - 8),
        b",".join([b"%d" % net for net in map(sub, win, put)]),
        *names,
    )
    return _text(b"\t".join(fields))


def _text(text: bytes) -> str:
    return text.decode("latin-1")


def _seated(players: list[list[bytes]], count: bytes, roster: bytes) -> list[list[bytes]]:
    """The players' lines in the order of their seats; `BadValue` unless each player has one."""
    listed = roster.split()
    if _FIELDS.issuperset(map(len, players)) and listed[1:2] == [count]:
        seated = {fields[3]: fields for fields in players}
        seats = [seated[position] for position in _POSITIONS.get(count, ()) if position in seated]
        if (
            len(seats) == len(players) == len(listed) - 2 == int(count)
            and [fields[2] for fields in seats].count(count) == len(seats)
            and len({fields[0] for fields in seats}.intersection(listed[2:])) == len(seats)
        ):
            return seats
    raise BadValue(_trouble(players, count, roster))


def _trouble(players: list[list[bytes]], count: bytes, roster: bytes) -> str:
    """Why the lines are not one for each player."""
    listed = roster.split()
    if count not in _POSITIONS:
        return f"{_text(count)} players; a table has 2 to {MOST_SEATS}"
    if not listed:
        return "no line in hroster"
    if b"\n" in roster:
        return "two hands have one timestamp in hroster"
    if listed[1:2] != [count] or len(listed) != len(_POSITIONS[count]) + 2:
        return f"{_text(count)} players in hdb, but hroster is cut off or lists others"
    for fields in players:
        if len(fields) not in _FIELDS:
            return _bad_line(fields, listed[2])
        if fields[2] != count:
            return f"{_text(fields[2])} players in the line of {_text(fields[0])!r}, not as in hdb"
    names = [fields[0] for fields in players]
    missing = next((_text(name) for name in listed[2:] if name not in names), "")
    other = next((_text(name) for name in names if name not in listed[2:]), "")
    if missing and other:
        return f"players of hroster and pdb differ: {missing!r} and {other!r}"
    if missing:
        return f"no line for player {missing!r}"
    if other or len(names) != len(_POSITIONS[count]) or len(set(names)) != len(names):
        return f"{len(names)} lines in pdb for {_text(count)} players, or one sits there twice"
    return "the players' positions are not each once from 1 on"


def _bad_line(fields: list[bytes], first: bytes) -> str:
    """Why a line of pdb is invalid."""
    if not fields:
        return f"no line for player {_text(first)!r}, nor for any other"
    what = "is cut off" if len(fields) < max(_FIELDS) else "holds more than one record"
    return f"the line of player {_text(fields[0])!r} {what}: it has {len(fields)} fields"


def _verify_end(pair: bytes, players: int, put: int, won: int) -> None:
    """Check the players left at the end and the pot against hdb."""
    listed = pair.split(b"/")
    if len(listed) != 2 or not all(part.isdigit() for part in listed):
        raise BadValue(f"{_text(pair)!r} in hdb is not players and pot")
    if int(listed[0]) != players:
        raise BadValue(f"hdb has {int(listed[0])} players at the end, actions leave {players}")
    if not int(listed[1]) == put == won:
        raise BadValue(f"the pot is {int(listed[1])}, but {put} were put in and {won} won")


def _holes(seats: list[list[bytes]], board: list[bytes]) -> bytes:
    """The cards that each player showed; `BadValue` if one of them or of the board is no card."""
    known = [*board]
    holes = []
    for fields in seats:
        if len(fields) > UNSHOWN:
            known += fields[UNSHOWN:]
            holes.append(b"".join(fields[UNSHOWN:]))
        else:
            holes.append(b"")
    if not _CARDS.issuperset(known):
        wrong = next(card for card in known if card not in _CARDS)
        raise BadValue(f"{_text(wrong)!r} is not a card")
    return b",".join(holes)


def _posts(blinds: Sequence[bool], game: _Channel) -> bytes:
    """The posts of all seats: two blinds, or one full blind of the first seat."""
    if not blinds[0] or sum(blinds) > 1 + blinds[1]:
        posted = ", ".join(str(seat + 1) for seat, blind in enumerate(blinds) if blind)
        raise BadValue(f"blinds are posted by positions {posted or 'none'}; it must be 1, or 1, 2")
    return (game.two_blinds if blinds[1] else game.one_blind) + b",0" * (len(blinds) - 2)


def _actions(moves: Sequence[tuple[Any, ...]], blinds: int, board: int) -> bytes:
    """All actions in order of play: each player's first action of a street, then the second, ...

    Before the flop the players who posted a blind come last.
    """
    first, *firsts, more, more_flop, more_turn, more_river = moves
    streets = [b"".join(first[blinds:] + first[:blinds]), *map(b"".join, firsts)]
    if any(more):
        streets[0] += _in_turn(more[blinds:] + more[:blinds])
    if any(more_flop):
        streets[1] += _in_turn(more_flop)
    if any(more_turn):
        streets[2] += _in_turn(more_turn)
    if any(more_river):
        streets[3] += _in_turn(more_river)
    reached = _REACHED[board]
    if any(streets[reached:]):
        raise BadValue(f"the betting goes on after the last street of a board of {board} cards")
    return b"/".join(streets[:reached])


def _in_turn(players: Sequence[Sequence[bytes]]) -> bytes:
    """The first action of each player, then the second of each, and so on.

    >>> _in_turn([[b"Cc", b"Cf"], [], [b"Br"]])
    b'CcBrCf'
    """
    return b"".join(chain.from_iterable(zip_longest(*filter(None, players), fillvalue=b"")))


@lru_cache(maxsize=1 << 15)
def _moves(seat: str, *streets: bytes) -> tuple[bool | bytes | Sequence[bytes], ...]:
    """Whether a player posted a blind, whether he was out at the end, his first action on each of
    the four streets, and his further actions on each of them.

    >>> _moves("A", b"Bc", b"kr", b"bA", b"-")
    (True, False, b'Ac', b'Ac', b'Ar', b'', (), (b'Ar',), (), ())

    Leaving the table (`Q`, or `K` for kicked) is a fold, unless the player has folded before.

    >>> _moves("C", b"c", b"KQ", b"-", b"-")[:6], _moves("D", b"f", b"Q", b"-", b"-")[:6]
    ((False, True, b'Cc', b'Cf', b'', b''), (False, True, b'Df', b'', b'', b''))
    """
    out = all_in = False
    played = []
    for street in (streets[0].removeprefix(b"B"), *streets[1:]):
        moves = []
        for letter in "" if street == b"-" else _text(street):
            if letter in "QK" and all_in:
                raise BadValue("a player who is all in leaves: a fold when it is not his turn")
            if letter in "QK" and out:
                continue
            if letter == "A" and not (out or all_in):
                all_in = True
            elif letter in _LETTERS and not (out or all_in):
                moves.append(f"{seat}{_LETTERS[letter]}".encode())
                out = _LETTERS[letter] == "f"
            else:
                raise BadValue(f"actions {_text(b' '.join(streets))!r} cannot be")
        played.append(tuple(moves))
    first = [b"".join(moves[:1]) for moves in played]
    return streets[0].startswith(b"B"), out, *first, *(moves[1:] for moves in played)


IRC = CaseSource(
    name="irc",
    meaning="IRC poker database: hdb of a month, with hroster and pdb beside it (fixed limit)",
    can_read=_can_read,
    read=_read,
    parse=parse,
    domains=DOMAINS,
    domain_of=domain_of,
    identity=_identity,
    options=(
        BuildOption(
            "stakes",
            "Small and big bet, 10/20, of an IRC folder whose name is no channel; default: found "
            "from the log.",
            "",
        ),
    ),
)
