"""The arena: bots of both forms, tables in lockstep, matches, logs, and bots that misbehave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cbr.errors import BadValue, NoSuchName
from cbr.plugging.plugins import Plugins, use_plugins
from cbr.workers import executor
from cbr_arena import (
    CALL,
    RAISE,
    Actions,
    Chance,
    Match,
    Room,
    Sitting,
    difference,
    lines_of,
    play,
    players_of,
    rate_of,
    sittings,
)
from cbr_holdem.cards import UNKNOWN
from cbr_holdem.situation import Pending, Situations
from cbr_holdem.table import HOLE, Game

SHY = '''
from cbr_arena import bot

@bot("shy")
class Shy:
    """Calls small bets.

    And nothing else."""

    def act(self, view):
        if view.raise_to and view.rng.random() < 0.2:
            return "r"
        return "c" if view["pot_odds"] < 0.3 else "f"
'''

FAST = '''
import numpy as np
from cbr_arena import CALL, FOLD, bot

@bot("plain")
class Plain:
    """Calls small bets."""

    def act(self, view):
        return "c" if view["pot_odds"] < 0.2 else "f"

@bot("batched")
class Batched:
    """The same for many."""

    memory = None

    def act(self, situations, memory, chance):
        return np.where(situations["pot_odds"] < 0.2, CALL, FOLD)
'''


BAD = """
from cbr_arena import bot

@bot("bad")
class Bad:
    def act(self, view):
        {body}
"""


def match(*specs: str, hands: int = 1_000, **options: Any) -> Match:
    return Match(players_of(specs), hands=hands, **options)


def rates(one: Match) -> list[float]:
    return [line.rate for line in lines_of(one, play(one))]


class TestPlayers:
    def test_specs(self) -> None:
        found = players_of(["lag*2", "call", "lag", "loki?style=tight*2"])
        assert [player.spec for player in found] == ["lag", "lag", "call", "lag"] + [
            "loki?style=tight"
        ] * 2
        assert len({player.name for player in found}) == 6

    def test_an_unknown_bot_or_option(self) -> None:
        with pytest.raises(NoSuchName, match="no bot 'lagg'; did you mean 'lag'"):
            play(match("lagg", "call"))
        with pytest.raises(NoSuchName, match="did you mean 'style'"):
            play(match("miniloki?stile=tight", "call"))
        with pytest.raises(BadValue, match="takes nothing after a colon"):
            play(match("call:7", "call"))
        with pytest.raises(BadValue, match="three chances"):
            play(match("triple:0.5,0.5", "call"))
        with pytest.raises(BadValue, match="2 to 10 seats"):
            match("call")


class TestTables:
    def room(self, *specs: str, game: Game | None = None) -> Room:
        return match(*specs, **({"game": game} if game else {})).room()

    def test_a_seat_sees_its_own_cards_and_the_board_that_shows(self) -> None:
        found = []

        class Spy:
            memory = None

            def act(self, situations: Pending, memory: Any, chance: Chance) -> Actions:
                found.append((situations.seen(), situations.place.copy(), situations.hole.copy()))
                return Actions(np.full(situations.count, CALL))

        room = Room(Game(), 1_000, 1, [Spy()], np.zeros(3, np.int64))
        room.begin(1)
        rows = room.play(Sitting(np.arange(4), np.tile(np.arange(3), (4, 1)), np.zeros(4, int)))
        assert len(found) >= 12
        for seen, place, hole in found:
            for at, (street, seat, _) in enumerate(place.tolist()):
                cards = seen[at, HOLE : HOLE + 20].reshape(10, 2)
                assert cards[seat].tolist() == hole[at].tolist()
                assert (np.delete(cards, seat, axis=0) == UNKNOWN).all()
                board = seen[at, 105:110]
                assert (board < UNKNOWN).sum() == (0, 3, 4, 5)[street]
        assert (rows[:, HOLE] < UNKNOWN).all()  # the table itself still knows

    @pytest.mark.long
    def test_what_is_looked_at_late_is_what_is_looked_at_at_once(self) -> None:
        room = self.room("lag", "random", "miniloki")
        seen = []
        asked = room._ask

        def ask(number: int, rows: Any, which: Any, *more: Any) -> None:
            late, now = Pending(rows, room.game, which), Situations.at(rows[which], room.game)
            seen.append(len(which))
            for name in ("pot", "bets", "position", "hand_rank", "seat", "high_cards"):
                assert np.array_equal(late[name], now[name], equal_nan=True)
            some = np.arange(len(which))[::2]
            assert np.array_equal(late.take(some)["pot"], now["pot"][::2])
            asked(number, rows, which, *more)

        room._ask = ask  # type: ignore[method-assign]
        room.begin(1)
        room.play(Sitting(np.arange(50), np.tile(np.arange(3), (50, 1)), np.zeros(50, int)))
        assert sum(seen) > 200

    @pytest.mark.long
    def test_both_forms_decide_alike(self, plugin_file) -> None:
        use_plugins(Plugins().load([plugin_file(FAST)]))
        plain, batched = (
            play(match(name, "lag", "random", hands=600)) for name in ("plain", "batched")
        )
        assert np.array_equal(plain.won, batched.won)
        assert not plain.faults

    def test_chance_belongs_to_a_decision(self) -> None:
        deal, seat, step = np.arange(6), np.zeros(6, int), np.arange(6)
        all_at_once = Chance(3, deal, seat, step).random()
        assert all_at_once.tolist() == [
            Chance(3, deal[i : i + 1], seat[i : i + 1], step[i : i + 1]).random()[0]
            for i in range(6)
        ]
        assert len(set(all_at_once)) == 6
        many = Chance(
            0, np.arange(100_000), np.zeros(100_000, int), np.zeros(100_000, int)
        ).random()
        assert many.mean() == pytest.approx(0.5, abs=0.01)
        assert 0 <= many.min() < many.max() < 1


class TestFaults:
    @pytest.mark.parametrize(
        ("body", "why"),
        [
            ("return 1 / 0", "ZeroDivisionError"),
            ("return 'x'", "is not an action"),
            ("return ('r', 7)", "a raise to 7 is not from"),
            ("raise SystemExit", "SystemExit"),
            ("return None", "is not an action"),
        ],
    )
    def test_whatever_a_bot_does_the_match_goes_on(self, plugin_file, body: str, why: str) -> None:
        text = BAD.format(body=body)
        use_plugins(Plugins().load([plugin_file(text)]))
        one = match("bad", "call", hands=40)
        played = play(one)
        line = lines_of(one, played)[0]
        assert any(why in reason for reason in line.faults)
        assert len(played.won) == 20
        assert line.vpip == 0  # it checked or folded

    def test_a_batched_bot(self, plugin_file) -> None:
        text = """
import numpy as np
from cbr_arena import bot
@bot("bad")
class Bad:
    memory = None
    def act(self, situations, memory, chance):
        if situations.place[0, 0] == 3:
            raise ValueError("no idea")
        return np.full(situations.count, 7)
"""
        use_plugins(Plugins().load([plugin_file(text)]))
        one = match("bad", "call", hands=40)
        faults = lines_of(one, play(one))[0].faults
        assert faults["an action that is not legal"] > 0
        assert any("no idea" in reason for reason in faults)

    def test_one_that_hangs(self, plugin_file, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("cbr_arena.views.TIME_LIMIT", 0.05)
        use_plugins(Plugins().load([plugin_file(BAD.format(body="while True: pass"))]))
        one = match("bad", "call", hands=2)
        assert any("0.05 seconds" in why for why in lines_of(one, play(one))[0].faults)


class TestMatches:
    def test_copies_differ_by_nothing(self) -> None:
        for spec in ("miniloki", "random", "lag"):
            assert rates(match(spec, spec)) == [0.0, 0.0]
        assert rates(match("ace1*3", hands=300)) == [0.0] * 3

    def test_without_duplicates_the_interval_holds_nothing_in_most(self) -> None:
        inside = 0
        for seed in range(100):
            played = play(match("random", "random", hands=300, seed=seed, duplicate=False))
            rate = rate_of(played.won[:, 0])
            assert rate.ci95 is not None
            inside += abs(rate.rate) <= rate.ci95
        assert inside >= 88

    def test_everybody_has_every_seat_at_every_deal(self) -> None:
        one = match("call", "lag", "random", "ace1", hands=100)
        for deal in range(8):
            seats = one.seating(np.full(4, deal), np.arange(4))
            assert sorted(map(tuple, seats.tolist())) == sorted(
                tuple((s + shift) % 4 for s in range(4)) for shift in range(4)
            )
        assert (one.deals, one.seatings) == (25, 4)
        assert play(one).counts[:, 0].tolist() == [100] * 4
        assert match("call", "call", "call", hands=100).deals == 34

    def test_how_they_play_is_counted_by_street(self) -> None:
        lines = {
            line.name: line
            for pair in (("raise", "call"), ("fold", "call"))
            for one in [match(*pair, hands=40)]
            for line in lines_of(one, play(one))
        }
        raises, folds, calls = lines["raise"], lines["fold"], lines["call"]
        # With the cap of four bets: as the small blind it raises once, as the big blind too.
        assert (raises.pfr, raises.flops, raises.early_aggression) == (1.0, 1.0, None)
        assert (calls.pfr, calls.early_aggression, calls.aggression) == (0.0, 0.0, None)
        assert folds.flops == 0.5  # the big blind checks
        assert (folds.vpip, folds.showdown) == (0.0, 0.5)

    def test_what_one_wins_others_lose(self) -> None:
        played = play(match("call", "lag", "random", hands=900))
        assert played.won.sum(axis=1) == pytest.approx(np.zeros(300), abs=1e-12)

    @pytest.mark.long
    def test_the_same_for_any_number_of_workers(self, plugin_file) -> None:
        use_plugins(Plugins().load([plugin_file(SHY)]))
        with executor(2) as pool:
            for specs, options in ((("lag", "random"), {}), (("shy", "lag"), {"session": 20})):
                one = match(*specs, hands=8_000 if not options else 800, **options)
                alone, together = play(one), play(one, pool)
                assert np.array_equal(alone.won, together.won)
                assert np.array_equal(alone.counts, together.counts)

    @pytest.mark.long
    def test_a_dask_cluster_with_a_bot_from_a_file(self, plugin_file, dask_cluster: str) -> None:
        use_plugins(Plugins().load([plugin_file(SHY)]))
        one = match("shy", "lag", hands=400, session=20)
        alone = play(one)
        with executor(dask=dask_cluster) as pool:
            together = play(one, pool)
        assert np.array_equal(alone.won, together.won)
        assert not together.faults

    @pytest.mark.long
    def test_a_memory_lasts_a_session_and_meets_a_deal_once(self) -> None:
        met: list[tuple[int, int]] = []

        class Elephant:
            memory = np.dtype([("hands", np.int64), ("last", np.int64)])

            def act(self, situations: Pending, memory: Any, chance: Chance) -> Actions:
                assert (memory["hands"] < 10).all()
                return Actions(np.full(situations.count, CALL))

            def remember(self, tables: Any, seats: Any, memory: Any) -> None:
                memory["hands"] += 1
                hole = tables[np.arange(len(seats)), HOLE + 2 * seats]
                met.extend(zip(memory["hands"].tolist(), hole.tolist(), strict=True))

        one = match("call", "call", hands=80, session=10)
        room = Room(one.game, one.stack, 0, [Elephant()], np.zeros(2, np.int64))
        deals = []
        for sitting in sittings(one, range(one.deals), room):
            room.play(sitting)
            deals += list(zip(sitting.session.tolist(), sitting.deal.tolist(), strict=True))
        assert len(set(deals)) == len(deals) == 80
        assert len(met) == 160
        assert {hands for hands, _ in met} == set(range(1, 11))
        assert not room.faults

    def test_one_deal_at_a_time_narrows_the_interval(self) -> None:
        """Common random numbers and duplicate, side by side with independent deals."""
        alone = play(match("miniloki", "call", hands=6_000, duplicate=False))
        pairs = play(match("miniloki", "call", hands=6_000))
        independent, duplicate = (rate_of(one.won[:, 0]).ci95 for one in (alone, pairs))
        assert independent is not None
        assert duplicate is not None
        assert (independent / duplicate) ** 2 > 2.5  # as if that many times the hands were played
        a, b = (play(match("lag", "lag", hero, hands=3_000)) for hero in ("miniloki", "call"))
        better = difference(a, b, 2)
        assert better.ci95 is not None
        assert better.rate - better.ci95 > 0

    def test_no_limit(self) -> None:
        game = Game("nolimit", 50, 100)
        for spec in ("random?size=1/2", "raise?size=all-in", "lag?size=3/4", "ace1?size=1"):
            one = match(spec, "call", "random", hands=90, game=game)
            played = play(one)
            assert not played.faults
            assert abs(played.won).max() <= 200
        with pytest.raises(NoSuchName, match="no size of bets 'huge'"):
            play(match("raise?size=huge", "call", game=game))

    def test_raises_are_as_large_as_they_are_said_to_be(self) -> None:
        room = self.no_limit_room("raise?size=1", "call")
        rows = room.play(Sitting(np.zeros(1, int), np.array([[0, 1]]), np.zeros(1, int)))
        raised = next(amount for _, _, kind, amount in _history(rows) if kind == RAISE)
        assert (
            raised == 300
        )  # the small blind calls, and raises by the pot of 200 that is there then

    def no_limit_room(self, *specs: str) -> Room:
        room = match(*specs, game=Game("nolimit", 50, 100)).room()
        room.begin(1)
        return room


def _history(rows: Any) -> list[tuple[int, int, int, int]]:
    from cbr_holdem.table import Tables

    return Tables(rows).history(0)


class TestCommand:
    def test_json(self, cbr) -> None:
        found = cbr("match", "lag", "call*2", "--hands", 50, "--seed", 7, "--json").json
        assert {key: found[key] for key in ("game", "seats", "hands", "seed")} == {
            "game": "limit",
            "seats": 3,
            "hands": 51,
            "seed": 7,
        }
        assert [bot["name"] for bot in found["bots"]] == ["lag", "call", "call #2"]
        assert found["bots"][0].keys() >= {
            *("name", "rate", "ci95", "sd", "vpip", "pfr", "aggression", "showdown")
        }

    @pytest.mark.long
    def test_text_and_picture(self, cbr, tmp_path: Path) -> None:
        out = tmp_path / "m.png"
        answer = cbr("match", "lag", "call", "--hands", 200, "--plot", out, "--game", "nolimit")
        assert answer.code == 0
        assert "bb/h" in answer.out
        assert out.read_bytes().startswith(b"\x89PNG")

    @pytest.mark.long
    def test_vs(self, cbr) -> None:
        words = ["match", "lag*2", "--vs", "miniloki", "call", "--hands", 3000]
        found = cbr(*words, "--json").json
        assert (found["difference"]["a"], found["difference"]["b"]) == ("miniloki", "call")
        assert found["difference"]["rate"] > found["difference"]["ci95"] > 0
        assert "miniloki less call on the same deals" in cbr(*words).out

    def test_until_width(self, cbr) -> None:
        found = cbr("match", "lag", "call", "--hands", 100, "--until-width", 0.15, "--json").json
        assert found["hands"] > 100
        assert all(bot["ci95"] <= 0.15 for bot in found["bots"])

    @pytest.mark.long
    @pytest.mark.parametrize("name", ["m.phhs", "m.log"])
    @pytest.mark.parametrize("game", ["limit", "nolimit"])
    def test_a_log_is_read_back_to_the_same_results(self, cbr, tmp_path, name, game) -> None:
        log, base = tmp_path / name, tmp_path / "m.db"
        words = ["match", "lag", "random", "call", "--hands", 60, "--game", game, "--log", log]
        found = cbr(*words, "--json").json
        assert cbr("build", log, "--out", base).code == 0
        info = cbr("info", base, "--json").json
        assert info["hands"] == 60 or info["records"] == 60
        if name == "m.phhs":
            total = _pokerkit_results(log)
            for bot in found["bots"]:
                assert total[bot["name"]] / 60 == pytest.approx(bot["rate"], abs=0.02)

    @pytest.mark.parametrize(
        ("words", "why"),
        [
            (["lagg", "call"], "did you mean 'lag'"),
            (["lag"], "a table has 2 to 10 seats"),
            (["lag*11", "call"], "2 to 10 seats"),
            (["lag", "call", "--seats", "3"], "2 bots play at a table, and --seats is 3"),
            (["lag", "call", "--game", "limt"], "did you mean 'limit'"),
            (["lag", "call", "--log", "x.txt"], "a log is called FILE.phhs"),
            (["lag", "call", "--plot", "no/x.png"], "is no folder"),
            (["lag", "--vs", "lag", "call", "--log", "x.phhs"], "leave out one"),
            (["lag", "call", "--until-width", "0"], "must be above 0"),
        ],
    )
    def test_bad_input(self, cbr, words: list[str], why: str) -> None:
        answer = cbr("match", *words)
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert why in answer.err

    def test_bots(self, cbr, plugin_file) -> None:
        answer = cbr("bots", "--plugin", plugin_file(SHY))
        assert "Calls small bets." in answer.out
        found = cbr("bots", "--json").json["bots"]
        assert {bot["name"] for bot in found} >= {"random", "call", "fold", "raise", "ace1", "lag"}


def _pokerkit_results(log: Path) -> dict[str, float]:
    """What each player won by PokerKit's reading of the hands, in big blinds."""
    from pokerkit import HandHistory

    total: dict[str, float] = {}
    with log.open("rb") as file:
        for hand in HandHistory.load_all(file):
            *_, state = hand
            for name, start, end in zip(
                hand.players, hand.starting_stacks, state.stacks, strict=True
            ):
                total[name] = total.get(name, 0.0) + (float(end) - float(start)) / 100
    return total
