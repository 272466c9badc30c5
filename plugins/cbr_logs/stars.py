"""Reader of hand histories in the format of PokerStars, and of rooms with nearly the same format.

    PokerStars Hand #77:  Hold'em Limit ($1/$2 USD) - 2010/07/26 6:17:21 ET
    Table 'Demo' 6-max Seat #3 is the button
    Seat 1: ann ($48 in chips)
    ...

Limit stakes are the small and the big bet, no-limit stakes the blinds. Seats are physical; the
order of play follows from the button. A player's name may contain any text, even that of an action,
so every line is matched against the names of the seat list first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cbr import BadValue, CaseSource, Raw, Skipped
from cbr_holdem.table import BOARD_CARDS, MOST_SEATS, Game, Hand, verify_names
from cbr_logs.amounts import chips, money, unit_for
from cbr_logs.cutting import sections
from cbr_logs.domains import DOMAINS, domain_of

_M = r"[$€£]?((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)"
_ALL_IN = r"(?: and is all-in)?\s*\Z"

_BEGINS = re.compile(rb"^(?:\xef\xbb\xbf)?(?:PokerStars|Poker)\b[^#\n]*\b(?:Hand|Game) #\w", re.M)
_HEADER = re.compile(r"(?:PokerStars|Poker)\b[^#]*\b(?:Hand|Game) #([\w-]+)\W*(.*)")
_TERMS = re.compile(r"(?<!\+ )Hold'?em (No Limit|Pot Limit|Fixed Limit|Limit)\b")
_STAKES = re.compile(rf"[(,]\s*{_M}/{_M}(.*)")
_BUTTON = re.compile(r"Seat #(\d+) is the button")
_SEAT = re.compile(rf"Seat (\d+): (.+) \({_M} in chips(?:, [^()]*)?\)\s*(.*)\Z")
_CANCELLED = re.compile(r"(?:This )?hand (?:was |has been )?cancell?ed", re.IGNORECASE)
_STREET = re.compile(r"\*\*\* ([A-Z ]+) \*\*\*(.*)")
_RETURNED = re.compile(rf"Uncalled bet \({_M}\) returned to (.+)\Z")
_POT = re.compile(rf"Total pot {_M}")
_HOUSE = re.compile(rf"\| [A-Z][A-Za-z ]* {_M}")
_IN_SUMMARY = re.compile(r"(?: \([a-z ]+\))* (?:showed|mucked) \[([^\]]*)\]")

# What may follow a name:
_POSTS = re.compile(
    rf": posts (?:the |an? )?(small & big blinds|small blind|big blind|ante|straddle) {_M}{_ALL_IN}"
)
_FOLDS = re.compile(r": folds(?: \[([^\]]*)\])?\s*\Z")
_CHECKS = re.compile(r": checks\s*\Z")
_PUTS_IN = re.compile(rf": (calls|bets|raises {_M} to) {_M}{_ALL_IN}")
_SHOWS = re.compile(r": shows \[([^\]]*)\]")
_COLLECTED = re.compile(rf" collected {_M} from ")
_AWAY = re.compile(r":? (?:is sitting out|sits out|will be allowed to play after the button)\s*\Z")
#: A line that begins like this and matches none of the above is an error.
_ACTS = re.compile(r": (?:posts|folds|checks|calls|bets|raises|shows)\b")

_CARD = re.compile(r"[2-9TJQKA][cdhs]\Z")
_CARDS_OF = {"FLOP": 3, "TURN": 4, "RIVER": 5}


@dataclass
class _Player:
    """A seat of the list, and what the log records about its player."""

    number: int
    name: str
    stack: str
    away: bool
    posts: dict[str, list[str]] = field(default_factory=dict)
    hole: str = ""
    acted: bool = False
    collected: list[str] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)

    @property
    def dealt_in(self) -> bool:
        """Whether the player takes part: by an action, shown cards or winnings; or by a post, since
        a hand may end before the player acts."""
        return self.acted or bool(self.hole or self.collected or (self.posts and not self.away))


@dataclass
class _Log:
    """The parsed lines of a hand; amounts are text as written."""

    number: str
    limit: bool
    stakes: tuple[str, str]
    button: int
    players: list[_Player]
    board: list[str] = field(default_factory=list)
    tournament: bool = False
    #: Street, player, verb and amount.
    moves: list[tuple[int, _Player, str, str]] = field(default_factory=list)
    pot: str = ""
    house: list[str] = field(default_factory=list)

    @property
    def amounts(self) -> Iterator[str]:
        yield from self.stakes
        for _, _, _, amount in self.moves:
            yield amount or "0"
        for player in self.players:
            yield player.stack
            for amounts in (*player.posts.values(), player.collected, player.returned):
                yield from amounts
        yield from (self.pot or "0", *self.house)


def _can_read(path: Path, head: bytes) -> bool:
    return any(_BEGINS.match(line) for line in head.split(b"\n"))


def read(path: Path) -> Iterator[Raw | Skipped]:
    """The hands of a file, as bytes for `parse`."""
    return sections(path, _BEGINS, keep_first=True)


def parse(data: bytes) -> str:
    """The `Hand.text` of a hand in PokerStars' format."""
    return _hand(_read_log(data)).text


def parse_open(data: bytes) -> str:
    """The `Hand.text` of a hand that is not over. Who has not acted yet is dealt in, unless he sits
    out; in a tournament, also then."""
    log = _read_log(data)
    for player in log.players:
        player.acted |= log.tournament or not player.away
    return _hand(log).text


def _read_log(data: bytes) -> _Log:
    lines = [line.strip("\ufeff\r ") for line in _decoded(data).split("\n")]
    return _told([line for line in lines if line])


def _decoded(data: bytes) -> str:
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            pass
    return data.decode("latin-1")


# --- parsing lines ------------------------------------------------------------------------------


def _told(lines: Sequence[str]) -> _Log:
    """Parse the lines of a hand."""
    log = _opening(lines)
    # Longest first: a long name may begin with a short one.
    players = sorted(log.players, key=lambda player: -len(player.name))
    street, summary = 0, False
    for line in lines[1:]:
        if _CANCELLED.match(line):
            raise BadValue("the hand was cancelled")
        if line.startswith("*** ") and (mark := _STREET.match(line)):
            summary |= mark[1] == "SUMMARY"
            street = _street(log, mark[1], mark[2]) or street
        elif summary:
            _read_summary(log, line)
        elif found := _RETURNED.match(line):
            _named(log, found[2]).returned.append(_plain(found[1]))
        elif line.startswith("Dealt to "):
            _read_dealt(players, line.removeprefix("Dealt to "))
        else:
            _read_line(log, players, line, street)
    return log


def _opening(lines: Sequence[str]) -> _Log:
    """Parse the header and the list of seats."""
    header = _HEADER.match(lines[0]) if lines else None
    if not header:
        raise BadValue("the text does not begin with the header of a hand")
    terms = _TERMS.search(header[2])
    if not terms or terms[1] == "Pot Limit":
        raise BadValue(f"{header[2][:60]!r} is not Hold'em with limit or no limit")
    stakes = _STAKES.search(header[2], terms.end())
    if not stakes:
        raise BadValue(f"{header[2][:60]!r} does not name the stakes")
    if re.match(r" - .* Cap\b", stakes[3]):
        raise BadValue("the game caps what may be lost in a hand, which is not supported")
    button, players = 0, []
    for line in lines[1:]:
        if line.startswith("*** "):
            break
        if seat := _SEAT.match(line):
            away = seat[4].startswith(("is sitting out", "out of hand"))
            players.append(_Player(int(seat[1]), seat[2], _plain(seat[3]), away))
        elif not players and (found := _BUTTON.search(line)):
            button = int(found[1])
    if not button:
        raise BadValue("no line says who has the button")
    verify_names([player.name for player in players])
    if len({player.number for player in players}) != len(players):
        raise BadValue("two players sit in the same seat")
    both = (_plain(stakes[1]), _plain(stakes[2]))
    tournament = "Tournament" in header[2]
    return _Log(header[1], terms[1] != "No Limit", both, button, players, tournament=tournament)


def _street(log: _Log, name: str, cards: str) -> int:
    """The street that a line between asterisks begins, 0 if none; its cards are stored."""
    if name.startswith(("FIRST ", "SECOND ", "THIRD ")):
        raise BadValue("the board was dealt more than once")
    if name not in _CARDS_OF:
        return 0
    board = cards.replace("[", " ").replace("]", " ").split()
    _verify_cards(board)
    if len(board) != _CARDS_OF[name] or board[: len(log.board)] != log.board:
        raise BadValue(f"the {name.lower()} is {cards.strip()[:60]!r} after {' '.join(log.board)}")
    log.board = board
    return BOARD_CARDS.index(len(board))


def _read_line(log: _Log, players: Sequence[_Player], line: str, street: int) -> None:
    """Store the action of a player in a line; lines without an action are ignored."""
    not_understood = False
    for player in players:
        if line.startswith(player.name):
            rest = line[len(player.name) :]
            if _read_act(log, player, rest, street):
                return
            not_understood |= _ACTS.match(rest) is not None
    if not_understood and ' said, "' not in line:
        raise BadValue(f"{line[:80]!r} is not understood")


def _read_act(log: _Log, player: _Player, rest: str, street: int) -> bool:
    """Store the action in the rest of a line after a player's name; whether there is one."""
    if found := _PUTS_IN.match(rest):
        verb = "raises" if found[1].startswith("raises") else found[1]
        _moves(log, street, player, verb, _plain(found[3]))
    elif found := _FOLDS.match(rest):
        _moves(log, street, player, "folds")
        _see(player, found[1] or "")
    elif _CHECKS.match(rest):
        _moves(log, street, player, "checks")
    elif found := _POSTS.match(rest):
        player.posts.setdefault(found[1], []).append(_plain(found[2]))
    elif found := _SHOWS.match(rest):
        _see(player, found[1])
    elif found := _COLLECTED.match(rest):
        player.collected.append(_plain(found[1]))
    elif _AWAY.match(rest):
        player.away = True
    else:
        return False
    return True


def _moves(log: _Log, street: int, player: _Player, verb: str, amount: str = "") -> None:
    player.acted = True
    log.moves.append((street, player, verb, amount))


def _read_dealt(players: Sequence[_Player], rest: str) -> None:
    for player in players:
        after = rest[len(player.name) :].strip()
        if rest.startswith(player.name) and after[:1] == "[" and after[-1:] == "]":
            _see(player, after[1:-1])
            return


def _read_summary(log: _Log, line: str) -> None:
    """Store the pot, the rake, and cards that were shown or mucked."""
    if found := _POT.match(line):
        log.pot, log.house = _plain(found[1]), [_plain(part) for part in _HOUSE.findall(line)]
    elif line.startswith("Seat "):
        number, _, rest = line.removeprefix("Seat ").partition(": ")
        player = next((p for p in log.players if str(p.number) == number), None)
        if player is None or not rest.startswith(player.name):
            raise BadValue(f"the summary has {line[:60]!r}, who is not in the list of seats")
        if found := _IN_SUMMARY.match(rest, len(player.name)):
            _see(player, found[1])


def _see(player: _Player, text: str) -> None:
    """Store a player's two cards. A single known card is ignored."""
    cards = text.split()
    _verify_cards(cards)
    if len(cards) != 2:
        return
    known = {player.hole[:2], player.hole[2:]}
    if player.hole and known != set(cards):
        raise BadValue(f"{player.name} holds {player.hole} and {''.join(cards)}")
    player.hole = player.hole or "".join(cards)


def _verify_cards(cards: Iterable[str]) -> None:
    for card in cards:
        if not _CARD.match(card):
            raise BadValue(f"{card[:20]!r} is not a card")


def _named(log: _Log, name: str) -> _Player:
    for player in log.players:
        if player.name == name:
            return player
    raise BadValue(f"a bet is returned to {name[:40]!r}, who is not in the list of seats")


def _plain(amount: str) -> str:
    return amount.replace(",", "")


# --- the hand -----------------------------------------------------------------------------------


def _hand(log: _Log) -> Hand:
    unit = unit_for(log.amounts)
    last = 1 + max((player.number for player in log.players), default=0) + log.button
    order = sorted(
        (player for player in log.players if player.dealt_in),
        key=lambda player: (player.number - log.button - 1) % last,
    )
    if not 2 <= len(order) <= MOST_SEATS:
        raise BadValue(f"{len(order)} players are dealt in; a table has 2 to {MOST_SEATS}")
    game = _game(log, order, unit)
    stacks = [chips(player.stack, unit) for player in order]
    posts, antes = _posted(order, game.big_blind, unit)
    paid = [abs(post) + ante for post, ante in zip(posts, antes, strict=True)]
    actions = _actions(log, order, stacks, [abs(post) for post in posts], paid, unit)
    return Hand(
        game=game,
        stacks=stacks,
        posts=posts,
        antes=antes,
        holes=[player.hole for player in order],
        board="".join(log.board),
        actions=actions,
        players=[player.name for player in order],
        result=_result(log, order, paid, unit),
        unit=unit,
        number=log.number,
    )


def _game(log: _Log, order: Sequence[_Player], unit: int) -> Game:
    first, second = (chips(stake, unit) for stake in log.stakes)
    if not log.limit:
        return Game("nolimit", first, second)
    posted = [chips(p.posts["small blind"][0], unit) for p in order if "small blind" in p.posts]
    # At odd stakes the small blind is not half the bet; a player who is all in posts less.
    small = min(max(posted, default=first // 2), first)
    return Game("limit", small, first, bet_sizes=(first, first, second, second), cap=None)


def _posted(order: Sequence[_Player], big: int, unit: int) -> tuple[list[int], list[int]]:
    """The live posts of the seats, negative where they are not blinds, and their dead money.

    The big blind is the first player after the small blind who posts one; others who post one are
    newcomers. Of a post of both blinds the small one is dead, and so is a second small blind.
    """
    seats = len(order)
    posts, antes = [0] * seats, [0] * seats
    # Heads-up the button posts the small blind, and sits last.
    left = (1, 0) if seats == 2 else range(seats)
    small = next((seat for seat in left if "small blind" in order[seat].posts), None)
    start = 0 if small is None else small + 1
    turn = [seat % seats for seat in range(start, start + seats)]
    blind = next((seat for seat in turn if "big blind" in order[seat].posts), None)
    for seat, player in enumerate(order):
        given = {kind: sum(chips(a, unit) for a in all_) for kind, all_ in player.posts.items()}
        both = given.get("small & big blinds", 0)
        live = given.get("big blind", 0) + min(both, big)
        dead = both - min(both, big) + given.get("ante", 0)
        if "small blind" in given:
            if seat == small and not live:
                posts[seat] = given["small blind"]
            else:
                dead += given["small blind"]
        if live:
            posts[seat] = live if seat == blind else -live
        if "straddle" in given:
            posts[seat] = given["straddle"]
        antes[seat] = dead
    return posts, antes


def _actions(
    log: _Log,
    order: Sequence[_Player],
    stacks: Sequence[int],
    bets: list[int],
    paid: list[int],
    unit: int,
) -> str:
    """The actions as in `Hand.actions`; `paid` is updated to the chips that each seat put in."""
    seats = {player.number: seat for seat, player in enumerate(order)}
    moves = []
    now, top = 0, max(bets)
    for street, player, verb, amount in log.moves:
        if street != now:
            moves.append("/" * (street - now))
            now, top, bets = street, 0, [0] * len(bets)
        seat = seats[player.number]
        own, put = bets[seat], chips(amount or "0", unit)
        due = min(top - own, stacks[seat] - paid[seat])
        if verb in {"checks", "calls"} and put != due:
            raise BadValue(
                f"{player.name} {verb} {money(put, unit) if put else ''}".rstrip()
                + f" where {money(due, unit)} is to call"
            )
        letter = "ABCDEFGHIJ"[seat]
        if verb in {"bets", "raises"}:
            put -= own if verb == "raises" else 0
            if put <= 0:
                raise BadValue(f"{player.name} {verb} to {amount}, and has put in as much before")
            moves.append(f"{letter}r{own + put}")
        else:
            moves.append(letter + ("f" if verb == "folds" else "c"))
        paid[seat] += put
        bets[seat] += put
        top = max(top, bets[seat])
    return "".join(moves)


def _result(
    log: _Log, order: Sequence[_Player], paid: Sequence[int], unit: int
) -> list[int] | None:
    """Chips won or lost by each seat; None if the log lacks pot, rake or winnings."""
    collected = [sum(chips(amount, unit) for amount in player.collected) for player in order]
    returned = [sum(chips(amount, unit) for amount in player.returned) for player in order]
    if not log.pot or not log.house or not any(collected):
        return None
    pot, house = chips(log.pot, unit), sum(chips(part, unit) for part in log.house)
    if sum(paid) - sum(returned) != pot:
        raise BadValue(
            f"the pot is {log.pot}, and {money(sum(paid) - sum(returned), unit)} was put in"
        )
    if sum(collected) + house != pot:
        raise BadValue(
            f"the pot is {log.pot}, of which players collected {money(sum(collected), unit)} "
            f"and the house {money(house, unit)}"
        )
    won = zip(collected, returned, paid, strict=True)
    return [got + back - put for got, back, put in won]


STARS = CaseSource(
    name="pokerstars",
    meaning="hand histories as PokerStars writes them, limit and no-limit",
    can_read=_can_read,
    read=read,
    parse=parse,
    domains=DOMAINS,
    domain_of=domain_of,
)
