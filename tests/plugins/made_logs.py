"""Logs for tests: hands played here at random or by bots, and some written by hand."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from cbr_holdem.table import Game
from cbr_holdem.table import random_hands as play_randomly

#: A hand in progress: bob is to act on the flop.
OPEN_HAND = """\
variant = 'NT'
antes = [0, 0, 0, 0]
blinds_or_straddles = [0.50, 1.00, 0, 0]
min_bet = 1.00
starting_stacks = [100.00, 120.50, 80.00, 100.00]
players = ['ann', 'bob', 'cyd', 'dan']
actions = [
  'd dh p1 ????', 'd dh p2 AhTh', 'd dh p3 ????', 'd dh p4 ????',
  'p3 f', 'p4 cbr 3.00', 'p1 f', 'p2 cc',
  'd db Ts7h2c', 'p2 cc', 'p4 cbr 4.00',
]
"""


def random_hands(count: int, seats: int, betting: str = "limit", seed: int = 1) -> list[str]:
    """Texts of hands by players who act at random; every card is known."""
    game = Game(betting, 5, 10, rules="acpc")
    return [hand.text for hand in play_randomly(count, seats, game, seed=seed)]


def acpc_log(path: Path, count: int, seats: int, betting: str = "limit", seed: int = 1) -> Path:
    """A match log of random hands, its game definition beside it."""
    from cbr_logs import write_acpc

    write_acpc(iter(random_hands(count, seats, betting, seed)), path)
    return path


def made(folder: Path, name: str, specs: list[str], hands: int, game: Game | None = None) -> Path:
    """A casebase of hands that these bots played, its log beside it."""
    from cbr.building.pipeline import build
    from cbr.plugging.plugins import default_plugins
    from cbr_arena import Match, play, players_of, write_log

    match = Match(
        players_of(specs),
        hands=hands,
        seed=5,
        duplicate=False,
        keep_hands=True,
        **({"game": game} if game else {}),
    )
    log, out = folder / f"{name}.phhs", folder / f"{name}.db"
    write_log(play(match).hands, log)
    build([log], out, plugins=default_plugins())
    return out


def limit_base(folder: Path) -> Path:
    """A casebase of limit hands of five players of two kinds."""
    return _made_once(folder, "limit", ("miniloki*3", "lag*2"), 900)


def no_limit_base(folder: Path) -> Path:
    """A casebase of no-limit hands of three players."""
    specs = ("lag?size=1/2", "miniloki?size=1", "random")
    return _made_once(folder, "nolimit", specs, 500, Game("nolimit", 50, 100))


def _made_once(folder: Path, name: str, specs: tuple[str, ...], hands: int, *game: Game) -> Path:
    """Copies of a casebase that many tests need, and of its log: it takes seconds to make."""
    first = _first(name, specs, hands, *game)
    shutil.copy(first.with_suffix(".phhs"), folder)
    return Path(shutil.copy(first, folder))


@cache
def _first(name: str, specs: tuple[str, ...], hands: int, *game: Game) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="cbr-made-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return made(folder, name, list(specs), hands, *game)


def with_folds_hidden(base: Path, folder: Path) -> Path:
    """The hands of a casebase once more, without the cards of those who folded."""
    from dataclasses import replace

    from cbr.building.pipeline import build
    from cbr.plugging.plugins import default_plugins
    from cbr.store.casebase import Casebase
    from cbr_arena import write_log
    from cbr_holdem.situation import replay
    from cbr_holdem.table import Hand

    with Casebase.open(base) as opened:
        hands = [Hand.read(body) for _, some in opened.read_records(1_000) for body in some]
    played = replay(hands)
    seat = played.situations.place[:, 1]
    folded = set(
        zip(played.hand.tolist(), seat.tolist(), (played.action == 0).tolist(), strict=True)
    )
    shown = [
        replace(
            hand, holes=["" if (n, at, True) in folded else h for at, h in enumerate(hand.holes)]
        )
        for n, hand in enumerate(hands)
    ]
    log, out = folder / "shown.phhs", folder / "shown.db"
    write_log([hand.text for hand in shown], log)
    build([log], out, plugins=default_plugins())
    return out


#: Sizes of no-limit solutions in casebases of earlier versions: the last was two pots and more.
OLD_SIZES = ("min", "1/4", "1/2", "3/4", "1", "3/2", "2")


def with_old_sizes(base: Path, folder: Path) -> Path:
    """A no-limit casebase as earlier versions built it: with all large sizes in one class, and with
    values and learned arrays of that time."""
    from dataclasses import replace

    import numpy as np

    from cbr.store import digest
    from cbr.store.casebase import Casebase
    from cbr.store.schema import case_table, quoted

    out = folder / "old.db"
    shutil.copy(base, out)
    with Casebase.open(out, write=True) as opened, opened.transaction():
        for case_type in opened.case_types:
            table = quoted(case_table(case_type.stage))
            names = [name for name in case_type.solutions if name[1:] not in ("", *OLD_SIZES)]
            for name in names:
                for where in (table, "hidden"):
                    opened.db.execute(
                        f"UPDATE {where} SET solution = ? WHERE solution = ?", [name[0] + "2", name]
                    )
            old = replace(
                case_type, solutions=[name for name in case_type.solutions if name not in names]
            )
            cases = list(opened.cases(old.stage))
            columns = [[case.values[f.name] for case in cases] for f in old.features]
            rows = [*columns, [case.solution for case in cases]]
            opened.redefine(old, digest.add("", digest.sum_of_rows(old, rows)))
            ids = [case.id for case in cases[:40]]
            for name in old.solutions:
                opened.put_values(old.stage, ids, name, [0.5] * len(ids), [0.1] * len(ids))
        opened.put_learned("worlds.grid", np.full((4, 36, 36, 9), 1 / 9))
        opened.put_learned("worlds.hands", np.array([opened.count_records()]))
    return out


STARS = """\
PokerStars Hand #101:  Hold'em Limit ($2/$4 USD) - 2010/07/26 6:17:21 ET
Table 'Demo' 6-max Seat #3 is the button
Seat 1: ann ($80 in chips)
Seat 2: bob ($80 in chips)
Seat 3: cy ($80 in chips)
ann: posts small blind $1
bob: posts big blind $2
*** HOLE CARDS ***
cy: raises $2 to $4
ann: folds
bob: calls $2
*** FLOP *** [Ts 4c 2h]
bob: checks
cy: bets $2
bob: calls $2
*** TURN *** [Ts 4c 2h] [9d]
bob: checks
cy: checks
*** RIVER *** [Ts 4c 2h 9d] [9s]
bob: bets $4
cy: calls $4
*** SHOW DOWN ***
bob: shows [Tc 8c] (two pair, Tens and Nines)
cy: mucks hand
bob collected $21 from pot
*** SUMMARY ***
Total pot $21 | Rake $0
Board [Ts 4c 2h 9d 9s]
Seat 2: bob (big blind) showed [Tc 8c] and won ($21) with two pair, Tens and Nines
Seat 3: cy (button) mucked [Kd Qd]
"""

IRC = {
    "hdb": "900000001 5 77 3  2/45 2/65 2/65 2/105  Th 6c 2d Ks 9h\n",
    "hroster": "900000001 3 ann bob cyd\n",
    "pdb/pdb.ann": "ann 900000001 3 1 Bf  -   -  -   850   5   0\n",
    "pdb/pdb.bob": "bob 900000001 3 2 Bc  kc  k  kc 1420  50   0  Tc 8c\n",
    "pdb/pdb.cyd": "cyd 900000001 3 3 r   b   k  b   990  50 105  Kd Qd\n",
}


def irc_month(folder: Path) -> Path:
    """A month of the IRC database with one hand."""
    for name, text in IRC.items():
        path = folder / "holdem1" / "199909" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "latin-1")
    return folder


PHH = """\
[1]
variant = 'FT'
antes = [0, 0, 0]
blinds_or_straddles = [1, 2, 0]
small_bet = 2
big_bet = 4
starting_stacks = [100, 100, 100]
actions = ['d dh p1 ????', 'd dh p2 QhQs', 'd dh p3 9d8d', 'p3 cbr 4', 'p1 f', 'p2 cbr 6', \
'p3 cc', 'd db Qc7d2d', 'p2 cbr 2', 'p3 cc', 'd db 3s', 'p2 cbr 4', 'p3 cc', 'd db 4d', 'p2 cc', \
'p3 cbr 4', 'p2 cc', 'p3 sm 9d8d', 'p2 sm']
players = ['Ann', 'Bo', 'Cy']
finishing_stacks = [99, 84, 117]
"""
