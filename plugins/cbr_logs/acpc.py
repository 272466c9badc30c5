"""Reader and writer of ACPC match logs (Annual Computer Poker Competition).

A log has a `STATE:` line for each hand:

    # name/game/hands/seed demo holdem.limit.2p.reverse_blinds.game 1000 0
    STATE:12:rc/crc/rf:Ah2d|Kc9c/8h8d3s/Qd:30|-30:Ann|Bo
    SCORE:30|-30:Ann|Bo

The log does not contain blinds, bets or stacks. They come from the game definition that its header
names, if that file is beside the log; else from `--game`; else from the definition of that name in
this package.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PureWindowsPath

from cbr import BadValue, BuildOption, CaseSource, Raw, Skipped
from cbr.files import BROKEN, lines_of, open_bytes, whole_file
from cbr_holdem.table import Hand
from cbr_logs.domains import DOMAINS, domain_of
from cbr_logs.gamedef import SHIPPED, GameDef, gamedef_text, read_gamedef

_HEADER = re.compile(rb"#\s*name/game/hands/seed\s+\S+\s+(\S+)")
_MOVE = re.compile(r"r(\d+)|/")
_WHOLE = re.compile(r"(?:[fc]|r\d{0,15}|/)*\Z")


def _can_read(path: Path, head: bytes) -> bool:
    """Whether this is a match log, or a game definition, which belongs to one."""
    if path.suffix == ".game":
        return b"gamedef" in head.lower()
    return head.startswith(b"STATE:") or b"\nSTATE:" in head or _HEADER.match(head) is not None


def read(path: Path, game: str = "") -> Iterator[Raw | Skipped]:
    """The hands of a match, each with its game; one `Skipped` for all hands if it is unknown."""
    if path.suffix == ".game":
        return
    definition: GameDef | None = None
    number = 0
    with open_bytes(path) as (stream, position):
        try:
            for number, line in lines_of(stream):
                if line is None:
                    yield Skipped(number, "a line of more than a million bytes", position())
                elif line.startswith(b"STATE:"):
                    try:
                        definition = definition or _game_for(path, b"", game)
                    except BadValue as error:
                        yield Skipped(number, f"all hands: {error}", position())
                        return
                    yield Raw((definition, line), number, position())
                elif header := _HEADER.match(line):
                    try:
                        definition = _game_for(path, header[1], game)
                    except BadValue as error:
                        yield Skipped(number, f"all hands: {error}", position())
                        return
                elif line and not line.startswith((b"#", b";", b"SCORE:")):
                    yield Skipped(number, "not a line of a match log", position())
        except BROKEN as error:
            yield Skipped(number + 1, f"the file breaks off: {error}", position())


def _game_for(path: Path, named: bytes, wish: str) -> GameDef:
    """The definition for a log: the file beside it, else that of `--game`, else the shipped one."""
    name = PureWindowsPath(named.decode("latin-1")).name  # knows both kinds of slash
    for folder in path.parents[:2]:
        if name and (folder / name).is_file():
            return _read_file(folder / name)
    if wish:
        return _read_file(Path(wish)) if Path(wish).is_file() else _of_name(wish)
    if not name:
        raise BadValue("the log has no header that names its game; name one with --game")
    return _of_name(name)


def _of_name(name: str) -> GameDef:
    if name not in SHIPPED:
        raise BadValue(
            f"no game definition {name!r} beside the log, and none of that name ships here "
            f"({', '.join(SHIPPED)}); name a file with --game"
        )
    return SHIPPED[name]


def _read_file(path: Path) -> GameDef:
    try:
        return read_gamedef(path.read_text("utf-8"))
    except (BadValue, OSError, UnicodeDecodeError) as error:
        raise BadValue(f"{path.name} is not a game definition: {error}") from None


def parse(data: tuple[GameDef, bytes]) -> str:
    """The hand of a `STATE:` line.

    >>> line = b"STATE:12:rc/crc/rf:Ah2d|Kc9c/8h8d3s/Qd:30|-30:Ann|Bo"
    >>> game = SHIPPED["holdem.limit.2p.reverse_blinds.game"]
    >>> Hand.read(parse((game, line))).holes
    ('Ah2d', 'Kc9c')
    """
    definition, line = data
    try:
        fields = line.decode("utf-8").split(":")
    except UnicodeDecodeError:
        raise BadValue("bytes that are not UTF-8") from None
    if len(fields) != 6:
        raise BadValue(f"a STATE line has 6 parts between colons, not {len(fields)}")
    _, number, betting, shown, results, names = fields
    players = names.split("|")
    if len(players) != len(definition.posts):
        raise BadValue(
            f"{len(players)} players in a game for {len(definition.posts)}; "
            f"name another game with --game"
        )
    if not _WHOLE.match(betting):
        raise BadValue(f"betting {betting[:60]!r} is not f, c, r and the streets' /")
    cards, *board = shown.split("/")
    try:
        result = [float(part) for part in results.split("|")]
    except ValueError:
        raise BadValue(f"results {results[:60]!r} are not numbers") from None
    if len(result) != len(players):
        raise BadValue(f"{len(result)} results for {len(players)} players")
    return Hand(
        game=definition.game,
        stacks=definition.stacks,
        posts=definition.posts,
        antes=(0,) * len(players),
        holes=[hole if len(hole) == 4 else _unseen(hole) for hole in cards.split("|")],
        board="".join(board),
        actions=betting if definition.game.betting == "limit" else _by_street(betting, definition),
        players=players,
        result=result,
        number=number,
    ).text


def _unseen(hole: str) -> str:
    if hole:
        raise BadValue(f"a player holds {hole!r}, not two cards")
    return ""


def _by_street(betting: str, definition: GameDef) -> str:
    """No-limit betting with amounts per street; in the log they are totals of the hand."""
    before = 0
    top = max(definition.posts)

    def own(move: re.Match[str]) -> str:
        nonlocal before, top
        if move[1] is None:
            before = top
            return "/"
        top = int(move[1])
        return f"r{top - before}"

    return _MOVE.sub(own, betting.rstrip("/"))


# --- writing ------------------------------------------------------------------------------------


def write_acpc(bodies: Iterator[str], path: Path) -> int:
    """Write hands of one game as a match log, with its game definition beside it; returns the
    number of hands."""
    from cbr_holdem.table import Table

    count, definition = 0, None
    totals: Counter[str] = Counter()
    beside = path.with_suffix(".game")
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for body in bodies:
            hand = Hand.read(body)
            own = GameDef(hand.game, tuple(hand.posts), tuple(hand.stacks))
            if definition is None:
                definition = own
                file.write(f"# name/game/hands/seed {path.stem} {beside.name} 0 0\n")
            _verify_one_game(definition, own, hand, count)
            table = Table.of(hand)
            result = hand.result if hand.result is not None else table.payoffs
            totals.update(dict(zip(hand.players, result, strict=True)))
            betting = _betting(hand, table.tables.history(0))
            file.write(_line(hand, betting, result, count) + "\n")
            count += 1
        score = "|".join(_amount(total) for total in totals.values())
        file.write(f"SCORE:{score}:{'|'.join(totals)}\n")
    if definition is not None:
        with whole_file(beside) as part:
            part.write_text(gamedef_text(definition), "utf-8")
    return count


def _verify_one_game(first: GameDef, own: GameDef, hand: Hand, count: int) -> None:
    if own != first:
        raise BadValue(f"a match log has one game and one stack; hand {count + 1} has another")
    if any(hand.antes) or any(post < 0 for post in hand.posts) or hand.unit != 1:
        raise BadValue(f"hand {count + 1} has antes, a newcomer's post or cents; a match has none")
    for name in hand.players:
        if ":" in name or "|" in name:
            raise BadValue(f"{name!r} cannot be in a match log, which divides names by : and |")


def _line(hand: Hand, betting: str, result: Sequence[float], count: int) -> str:
    shown = [street for street in (hand.board[:6], hand.board[6:8], hand.board[8:]) if street]
    cards = "/".join(["|".join(hand.holes), *shown])
    won = "|".join(_amount(amount) for amount in result)
    number = hand.number if hand.number.isdecimal() else count
    return f"STATE:{number}:{betting}:{cards}:{won}:{'|'.join(hand.players)}"


def _amount(amount: float) -> str:
    return f"{amount:.6f}".rstrip("0").rstrip(".")


def _betting(hand: Hand, moves: Sequence[tuple[int, int, int, int]]) -> str:
    """The actions in the format of the competition: no-limit amounts are totals of the hand."""
    written, street, before, top = [], 0, 0, max(hand.posts)
    for when, _, kind, amount in moves:
        if when > street:
            written.append("/" * (when - street))
            street, before = when, top
        raised = kind == "fcr".index("r")
        if raised:
            top = before + amount
        sized = raised and hand.game.betting != "limit"
        written.append("fcr"[kind] + (str(top) if sized else ""))
    # When all players are all in, the remaining streets have no betting.
    left = (0, 3, 4, 5).index(len(hand.board) // 2) - street
    return "".join(written) + "/" * max(0, left)


ACPC = CaseSource(
    name="acpc",
    meaning="match logs of the computer poker competition (STATE: lines)",
    can_read=_can_read,
    read=read,
    parse=parse,
    domains=DOMAINS,
    domain_of=domain_of,
    write=write_acpc,
    suffix=".log",
    options=(
        BuildOption("game", "Game of ACPC logs: a definition file, or the name of a shipped one."),
    ),
)
