"""What hostile bots and odd options tried: a fair table, an honest interval, and a match that goes
on."""

from __future__ import annotations

import numpy as np
import pytest

from cbr.plugging.plugins import Plugins, use_plugins
from cbr.statistics import quantile
from cbr_arena import Match, lines_of, play, players_of, rate_of, sittings


def match(*specs: str, hands: int = 200, **options) -> Match:
    return Match(players_of(specs), hands=hands, **options)


def load(plugin_file, text: str, name: str = "hostile.py") -> None:
    use_plugins(Plugins().load([plugin_file(text, name)]))


class TestFairness:
    @pytest.mark.parametrize(
        ("specs", "options"),
        [
            (["call*3"], {}),
            (["waterman", "call"], {"session": 7}),
            (["waterman", "call*5"], {"session": 4}),
            (["waterman", "call*8"], {"session": 1}),
        ],
    )
    def test_no_deal_is_played_twice_at_the_same_time(self, specs, options) -> None:
        """Whoever is asked for two seatings of one deal at once knows everybody's cards."""
        one = match(*specs, hands=300, **options)
        room = one.room()
        met, memories = [], []
        for sitting in sittings(one, range(one.deals), room):
            assert len(np.unique(sitting.deal)) == len(sitting.deal)
            met += [
                (deal, *seated)
                for deal, seated in zip(sitting.deal.tolist(), sitting.player.tolist(), strict=True)
            ]
            memories += list(zip(sitting.session.tolist(), sitting.deal.tolist(), strict=True))
        assert len(met) == len(set(met)) == one.deals * one.seatings
        if room.remembers:
            assert len(set(memories)) == len(memories)
            for session in {s for s, _ in memories}:
                deals = {deal // one.session for s, deal in memories if s == session}
                assert len(deals) == 1

    def test_a_bot_cannot_act_for_others(self, plugin_file) -> None:
        text = """
import numpy as np
from cbr_arena import CALL, bot
@bot("grabber")
class Grabber:
    memory = None
    def act(self, situations, memory, chance):
        situations.which[:] = 0
        return np.full(situations.count, CALL)
@bot("swapper")
class Swapper:
    memory = None
    def act(self, situations, memory, chance):
        situations.which = situations.which[::-1].copy()
        situations.call = situations.call * 0
        return np.full(situations.count, CALL)
"""
        load(plugin_file, text)
        one = match("raise", "grabber")
        first, second = lines_of(one, play(one))
        assert any("read-only" in why for why in second.faults)
        assert first.pfr == 0.5  # wherever the other did not fold before
        one = match("raise", "swapper")
        honest = match("raise", "call")
        assert np.array_equal(play(one).won, play(honest).won)

    @pytest.mark.long
    def test_nobody_sees_what_the_arena_draws_by(self, plugin_file) -> None:
        text = """
import numpy as np
from cbr_arena import Triples, bot
@bot("honest")
class Honest:
    memory = None
    def act(self, situations, memory, chance):
        return Triples(np.tile([0.0, 0.7, 0.3], (situations.count, 1)))
@bot("liar")
class Liar:
    memory = None
    def act(self, situations, memory, chance):
        chance.state[:] = 0
        chance.random()
        return Triples(np.tile([0.0, 0.7, 0.3], (situations.count, 1)))
"""
        load(plugin_file, text)
        honest, liar = (
            play(match(name, "call", hands=400, adjust="aivat")) for name in ("honest", "liar")
        )
        assert np.array_equal(honest.won, liar.won)
        assert np.array_equal(honest.judged, liar.judged)

    def test_several_sizes_are_drawn(self, plugin_file) -> None:
        from cbr_holdem.table import Game

        text = """
from cbr_arena import bot
@bot("two")
class Two:
    def act(self, view):
        if not view.raise_to:
            return "c"
        return {("r", view.raise_from): 0.5, ("r", view.raise_to): 0.5}
"""
        load(plugin_file, text)
        one = match("two", "fold", hands=300, game=Game("nolimit", 50, 100), duplicate=False)
        played = play(one)
        assert not played.faults
        assert 5 < played.pots[2] / played.pots[0] / 100 < 100  # some all in, some not


class TestIntervals:
    @pytest.mark.long
    def test_blocks_of_a_session_go_together_where_something_was_remembered(
        self, plugin_file
    ) -> None:
        text = """
from cbr_arena import bot
@bot("moody")
class Moody:
    def __init__(self):
        self.mood = None
    def act(self, view):
        self.mood = self.mood or view.rng.choice("fc")
        return self.mood
@bot("plain")
class Plain:
    def act(self, view):
        return "c"
"""
        load(plugin_file, text)
        moody = play(match("moody", "raise", hands=1_200, session=50))
        assert moody.session is not None
        assert len(np.unique(moody.session)) == 12
        assert play(match("plain", "raise", hands=1_200, session=50)).session is None
        assert play(match("waterman", "raise", hands=60)).session is not None

    def test_what_a_session_has_in_common_is_in_the_interval(self) -> None:
        rng = np.random.default_rng(0)
        session = np.repeat(np.arange(40), 50)
        inside = 0
        for _ in range(200):
            won = rng.normal(size=40)[session] + rng.normal(size=2_000)
            rate = rate_of(won, session)
            assert rate.ci95 > 3 * rate_of(won).ci95
            inside += abs(rate.rate) <= rate.ci95
        assert inside >= 180

    @pytest.mark.long
    def test_few_blocks_have_wide_intervals(self) -> None:
        """By Student's t: so the interval holds the truth as often with few blocks as with many."""
        for count in (2, 5, 40):
            draws = np.random.default_rng(count).normal(size=(2_000, count))
            inside = [abs(rate.rate) <= rate.ci95 for rate in map(rate_of, draws)]
            assert np.mean(inside) == pytest.approx(0.95, abs=0.02)
        assert quantile(11) == pytest.approx(2.201, abs=0.003)
        assert quantile(10_000) == pytest.approx(1.96, abs=0.001)
        assert rate_of(np.array([1.0])).ci95 is None
        assert rate_of(np.ones(6), np.zeros(6, int)).ci95 is None


HOSTILE = """
import numpy as np
from cbr_arena import CALL, bot

class BadText(Exception):
    def __str__(self):
        raise RuntimeError

@bot("fast")
class Fast:
    memory = np.dtype([("n", np.int64)])
    def act(self, situations, memory, chance):
        {act}
    def remember(self, tables, seats, memory):
        {remember}
"""


class TestTheMatchGoesOn:
    @pytest.mark.parametrize(
        "body",
        [
            "raise SystemExit(0)",
            "raise GeneratorExit",
            "raise BaseException('x')",
            "raise BadText",
            "raise MemoryError",
            "return np.full(situations.count, 1.7)",
            "return ['1'] * situations.count",
            "return np.zeros((2, 2), int)",
            "return (x for x in [1])",
            "return np.full(situations.count, 10**6)",
            "return None",
        ],
    )
    def test_whatever_a_fast_bot_does(self, plugin_file, body: str) -> None:
        load(plugin_file, HOSTILE.format(act=body, remember="pass"))
        one = match("fast", "call", hands=20)
        line = lines_of(one, play(one))[0]
        assert sum(line.faults.values()) > 0
        assert line.vpip == 0

    def test_whatever_it_does_in_the_end(self, plugin_file) -> None:
        text = HOSTILE.format(
            act="return np.full(situations.count, CALL)", remember="raise SystemExit(3)"
        )
        load(plugin_file, text)
        one = match("fast", "call", hands=20)
        assert "SystemExit: 3" in lines_of(one, play(one))[0].faults

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            ("def __init__(self): raise ValueError('no')", "making bot 'odd' failed: ValueError"),
            ("def __init__(self): raise SystemExit", "making bot 'odd' failed: SystemExit"),
            ("memory = 'f8'", "memory must be None or a numpy dtype"),
            ("memory = __import__('numpy').dtype(object)", "without objects"),
        ],
    )
    def test_a_bot_that_cannot_be_made(self, cbr, plugin_file, body: str, says: str) -> None:
        text = f"""
from cbr_arena import bot
@bot("odd")
class Odd:
    {body}
    def act(self, situations, memory, chance):
        return situations.call * 0 + 1
"""
        answer = cbr("match", "odd", "call", "--hands", 4, "--plugin", plugin_file(text))
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert says in answer.err

    def test_attributes_of_a_bot_are_its_own(self, plugin_file) -> None:
        text = """
from cbr_arena import bot
@bot("own", games="limit")
class Own:
    def __init__(self):
        self.faults, self.figures = 3, "none"
    def act(self, situations, memory, chance):
        return situations.call * 0 + 1
"""
        load(plugin_file, text)
        one = match("own", "call", hands=20)
        assert not play(one).faults

    @pytest.mark.long
    def test_reasons_are_bounded(self, plugin_file) -> None:
        text = """
from cbr_arena import bot
@bot("many")
class Many:
    n = 0
    def act(self, view):
        Many.n += 1
        raise ValueError(f"{Many.n} \\x1b[31m \\ud800" + "x" * 5000)
"""
        load(plugin_file, text)
        one = match("many", "call", hands=200)
        faults = lines_of(one, play(one))[0].faults
        assert len(faults) == 21
        assert faults["other faults"] > 50
        assert all(len(why) < 400 and why.isprintable() for why in faults)

    def test_one_that_catches_everything_is_broken_off(self, plugin_file, monkeypatch) -> None:
        monkeypatch.setattr("cbr_arena.views.TIME_LIMIT", 0.05)
        text = """
import time
from cbr_arena import bot
@bot("stubborn")
class Stubborn:
    def act(self, view):
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                pass
"""
        load(plugin_file, text)
        one = match("stubborn", "call", hands=2)
        assert any("0.05 seconds" in why for why in lines_of(one, play(one))[0].faults)

    @pytest.mark.long
    def test_what_bots_print_is_no_result(self, cbr, plugin_file) -> None:
        text = """
from cbr_arena import bot
@bot("chatty")
class Chatty:
    def act(self, view):
        print("hello")
        return "c"
"""
        path = plugin_file(text)
        for workers in (1, 2):
            words = ["match", "chatty", "call", "--hands", 40, "--workers", workers, "--json"]
            assert cbr(*words, "--plugin", path).json["seats"] == 2


class TestOptions:
    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["lag", "--vs", "call", "lag*2"], "'lag*2' is several"),
            (["lag", "call", "--until-width", "nan"], "must be above 0"),
            (["lag", "call", "--stack", "100000000000000"], "it must be 1 to"),
            (["lag", "call", "--workers", "1000000"], "at most 256"),
            (["lag", "call", "--session", "1000000000000"], "--session"),
            (["loki?style=3", "call"], "no style of loki '3'"),
            (["miniloki?style=true", "call"], "no style of miniloki 'true'"),
            (["sim?trials=99999999999999999999999", "call"], "must be 1 to 100,000"),
            (["lag*" + "9" * 5000, "call"], "no bot"),
            (["triple", "call"], "write triple:CHANCES"),
            (["cbr", "call"], "write cbr:FILE"),
            (["triple:1,1,1?chances=2", "call"], "given twice"),
        ],
    )
    def test_bad_input(self, cbr, words: list[str], says: str) -> None:
        answer = cbr("match", *words, "--hands", 10)
        assert answer.code == 2
        assert says in answer.err
        assert "Traceback" not in answer.err

    def test_a_game_beside_a_log_is_not_overwritten(self, cbr, tmp_path) -> None:
        log, beside = tmp_path / "m.log", tmp_path / "m.game"
        beside.write_text("mine")
        words = ["match", "lag", "triple:0.1,0.5,0.4", "--hands", 20, "--log", log]
        answer = cbr(*words)
        assert (answer.code, beside.read_text()) == (2, "mine")
        beside.unlink()
        assert cbr(*words).code == 0
        assert cbr("build", log, "--out", tmp_path / "m.db").code == 0

    @pytest.mark.long
    def test_pots_that_do_not_divide_are_read_back(self, cbr, tmp_path) -> None:
        log, base = tmp_path / "m.log", tmp_path / "m.db"
        words = ["lag", "random", "raise", "ace1", "miniloki", "--stack", 7, "--seed", 3]
        assert cbr("match", *words, "--hands", 1500, "--log", log).code == 0
        cbr("build", log, "--out", base)
        info = cbr("info", base, "--json").json
        assert (info["hands"], info["skipped"]) == (1500, {})
