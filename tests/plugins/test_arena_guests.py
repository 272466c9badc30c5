"""What a bot that is not our own can find behind what it is given, and that it changes nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import pytest

from cbr.plugging.plugins import Plugins, use_plugins
from cbr_arena import Chance, Match, Sitting, play, players_of
from cbr_arena.chance import siphash
from cbr_holdem.cards import UNKNOWN
from cbr_holdem.table import ACTOR, BOARD, BOARD_CARDS, HOLE, MOST_SEATS, STREET, WIDTH, decks

CBR = [sys.executable, "-c", "from cbr.cli import main; main()"]
SEED = 0x1234_5678_9ABC_DEF1
FIRST = 7_000_000_001

SPIES = """
import numpy as np
from cbr_arena import CALL, bot
GIVEN = []

@bot("spy")
class Spy:
    memory = np.dtype([("n", np.int64)])
    def act(self, situations, memory, chance):
        memory["n"] += 1
        situations["hand_rank"], situations.hole, chance.random()
        GIVEN.append((situations, memory, chance))
        return np.full(situations.count, CALL)
    def remember(self, tables, seats, memory):
        GIVEN.append((tables, seats, memory))

@bot("viewer")
class Viewer:
    def act(self, view):
        view.rng, view.moves, view.situation["hand_rank"]
        GIVEN.append((view,))
        return "c"
"""


@pytest.fixture
def given(plugin_file: Any) -> list[Any]:
    """What two spies were given in some hands against others."""
    use_plugins(Plugins().load([plugin_file(SPIES, "spies.py")]))
    room = Match(players_of(["spy", "viewer", "call"]), seed=SEED).room()
    count = 20
    deal = FIRST + np.arange(count)
    player = (np.arange(3) + deal[:, None]) % 3
    room.begin(count)
    room.play(Sitting(deal, player, np.arange(count)))
    assert not room.faults
    # `Plugins` names modules by their files, of which each test has another.
    module = [module for name, module in sys.modules.items() if "_spies_" in name][-1]
    found: list[Any] = module.GIVEN
    assert len(found) > 50
    return found


def walk(things: list[Any]) -> Iterator[Any]:
    """All objects that attributes and items lead to. Not what a function could import: its globals
    are those of a module, and who reads them can as well import it."""
    seen: dict[int, Any] = {}
    left = list(things)
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | FunctionType | str | bytes):
            continue
        seen[id(one)] = one
        yield one
        if isinstance(one, np.ndarray):
            left += [one.base, *(one.tolist() if one.dtype.hasobject else ())]
        elif isinstance(one, Mapping):
            left += [value for key in one for value in (key, _item(one, key))]
        elif isinstance(one, list | tuple | set | frozenset):
            left += list(one)
        elif isinstance(one, MethodType):
            left.append(one.__self__)
        elif isinstance(one, partial):
            left += [one.func, *one.args, *one.keywords.values()]
        if type(one).__module__.startswith(("cbr", "random")):
            left += [_attribute(one, name) for name in {*dir(one), *getattr(one, "__dict__", ())}]
    assert len(seen) < 1_000_000


def _attribute(one: Any, name: str) -> Any:
    try:
        return getattr(one, name)
    except Exception:
        return None


def _item(one: Mapping[Any, Any], key: Any) -> Any:
    try:
        return one[key]
    except Exception:
        return None


def test_nothing_that_it_is_given_leads_to_what_it_may_not_know(given: list[Any]) -> None:
    tables = 0
    for one in walk(given):
        numbers = np.zeros(0, np.int64)
        if isinstance(one, np.ndarray) and one.dtype.kind in "iuf":
            numbers = one
        elif isinstance(one, int | np.integer) and abs(int(one)) < 2**64:
            numbers = np.array([int(one)], object)
        assert not np.isin(numbers, [SEED, *range(FIRST, FIRST + 20)]).any()
        if isinstance(one, np.ndarray) and one.shape[-1:] == (WIDTH,):
            for row in one.reshape(-1, WIDTH):
                if row[ACTOR] >= 0:  # in the end of a hand what was shown is seen
                    tables += 1
                    held = row[HOLE : HOLE + 2 * MOST_SEATS].reshape(-1, 2)
                    assert (np.delete(held, row[ACTOR], axis=0) == UNKNOWN).all()
                    assert (row[BOARD + BOARD_CARDS[row[STREET]] : BOARD + 5] == UNKNOWN).all()
    assert tables > 50


def test_the_walk_finds_what_is_there() -> None:
    """It would: the arena's own objects lead to all of it."""
    deal = FIRST + np.arange(2)
    found = list(walk([Chance(SEED, deal, deal * 0, deal * 0)]))
    assert any(one is deal for one in found)
    assert SEED in [one for one in found if isinstance(one, int)]


def test_arrays_are_read_only_and_copies(given: list[Any]) -> None:
    for what in given:
        if len(what) == 3 and isinstance(what[0], Mapping):
            situations = what[0]
            for name in ("hole", "board", "call", "raise_to", "which", "place"):
                with pytest.raises(ValueError, match="read-only"):
                    getattr(situations, name)[...] = 0
            with pytest.raises(ValueError, match="read-only"):
                situations["hand_rank"][:] = 0
            with pytest.raises(ValueError, match="read-only"):
                situations.take(np.arange(1)).hole[:] = 0
        elif len(what) == 3:
            for array in what[:2]:
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = 0


def undone(x: int) -> int:
    """The number whose `mixed` is x."""
    size = (1 << 64) - 1
    x ^= x >> 31 ^ x >> 62
    x = x * pow(0x94D049BB133111EB, -1, 1 << 64) & size
    x ^= x >> 27 ^ x >> 54
    x = x * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & size
    return x ^ x >> 30 ^ x >> 60


def deck_behind(state: int, seat: int, decision: int) -> list[int]:
    """The deck of a deal, from the state of a stream for bots: its key undone up to the deal, and
    gone on with as that of the deck."""
    from cbr_holdem.chance import below, mixed, step

    golden, size = 0x9E3779B97F4A7C15, (1 << 64) - 1
    state = undone(state) ^ (decision + golden & size)
    state = undone(state) ^ (0x626F7473 + seat + golden & size)
    for counter in (0x6465636B, 0):
        state = int(mixed(np.uint64(state ^ (counter + golden & size))))
    deck = list(range(52))
    at = np.uint64(state)
    with np.errstate(over="ignore"):
        for place in range(9):
            at = np.uint64(step(at))
            other = place + int(below(at, 52 - place))
            deck[place], deck[other] = deck[other], deck[place]
    return deck[:9]


def test_random_numbers_of_a_guest_lead_to_no_deck() -> None:
    deal, seat, decision = (np.array([one]) for one in (5, 1, 3))
    true = decks(SEED, 5, 1)[0, :9].tolist()
    ours = Chance(SEED, deal, seat, decision)
    assert deck_behind(int(ours.state[0]), 1, 3) == true  # so it can be done
    assert deck_behind(int(ours.for_guests().state[0]), 1, 3) != true


def test_random_numbers_of_a_guest() -> None:
    """The reference values of SipHash-2-4, and streams that differ in each part of the key."""
    first, second = np.frombuffer(bytes(range(16)), "<u8")
    for length, value in ((8, 0x93F5F5799A932462), (16, 0x3F2ACC7F57C29BDB)):
        assert int(siphash(first, second, np.frombuffer(bytes(range(length)), "<u8"))) == value
    one = np.arange(6).reshape(-1, 1)
    keys = [
        (seed, deal, seat, decision)
        for seed in (0, 1)
        for deal in one
        for seat in one
        for decision in one
    ]
    states = [int(Chance(*key).for_guests().state[0]) for key in keys]
    assert len(set(states)) == len(keys)
    again = Chance(*keys[7]).for_guests()
    assert again.take(np.array([0])).random() == again.random()


def test_what_a_guest_writes_changes_nothing(plugin_file: Any) -> None:
    text = """
import numpy as np
from cbr_arena import CALL, bot
@bot("vandal")
class Vandal:
    memory = None
    def act(self, situations, memory, chance):
        situations._own._rows[:] = 0
        situations._own.game.__dict__["big_blind"] = 1_000
        situations.game.__dict__["small_blind"] = 1_000
        chance._begin[:] = 0
        chance.state[:] = 0
        return np.full(situations.count, CALL)
@bot("painter")
class Painter:
    def act(self, view):
        view._seen[:] = 0
        view.game.__dict__["big_blind"] = 1_000
        return "c"
"""
    use_plugins(Plugins().load([plugin_file(text)]))
    honest = play(Match(players_of(["call", "lag", "call"]), hands=60, keep_hands=True))
    for name in ("vandal", "painter"):
        found = play(Match(players_of([name, "lag", "call"]), hands=60, keep_hands=True))
        assert not found.faults
        assert np.array_equal(found.won, honest.won)


NOISY = """
import atexit, ctypes, os, sys
from cbr_arena import bot
os.write(1, b"import")
atexit.register(os.write, 1, b"atexit")
@bot("noisy")
class Noisy:
    def act(self, view):
        print("print")
        os.write(1, b"write")
        os.system("echo system")
        sys.__stdout__.write("dunder")
        ctypes.CDLL(None).printf(b"printf")
        return "c"
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ["match", "noisy", "call", "--hands", "4"],
        ["match", "noisy", "call", "--hands", "4", "--isolate"],
        ["play", "noisy", "--hands", "1", "--seed", "1"],
    ],
)
def test_prints_to_file_descriptor_1_are_no_results(plugin_file: Any, words: list[str]) -> None:
    import json

    path = plugin_file(NOISY, "noisy.py")
    answer = subprocess.run(
        [*CBR, *words, "--json", "--plugin", str(path)],
        input="c\n" * 20,
        capture_output=True,
        text=True,
        cwd=path.parent,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)
    for what in ("import", "atexit", "print", "write", "system", "dunder", "printf"):
        assert what in answer.stderr
