"""Results that a log states: rake has limits, and anything else that differs is refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cbr.errors import BadValue
from cbr_holdem.situation import replay_texts
from cbr_holdem.table import ANY_RAKE, USUAL_RAKE, Game, Hand, Rake

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
USUAL = Rake.read(USUAL_RAKE)


def hand(result: Sequence[float], **fields: object) -> Hand:
    """Ann wins 60 of three players in a limit game 5/10, with her 20 in it."""
    given: dict = dict(
        game=Game(),
        stacks=(1000, 1000, 1000),
        posts=(5, 10, 0),
        antes=(0, 0, 0),
        holes=("AhAs", "KdKc", "7h2c"),
        board="2s8d9hJc3d",
        actions="ccc/crcc/ccc/ccc",
        players=("ann", "bob", "cyd"),
        result=result,
    )
    return Hand(**(given | fields))


def reason(result: Sequence[float], rake: Rake = USUAL, **fields: object) -> str:
    return replay_texts([hand(result, **fields).text], rake).rejected.get(0, "")


class TestRake:
    def test_a_share_of_the_pot(self) -> None:
        assert reason((34, -20, -20)) == ""
        assert reason((33, -20, -20)) == (
            "the log gives a result of 33, -20, -20, the rules 40, -20, -20: "
            "a rake of 7 from a pot of 60 is more than --rake allows"
        )
        assert reason((33, -20, -20), Rake.read("0.2")) == ""
        assert reason((39, -20, -20), Rake.read("0")) != ""
        assert reason((-20, -20, -20), ANY_RAKE) == ""

    def test_big_blinds(self) -> None:
        """A pot of 2,000 and a big blind of 10: at most 50."""
        big = {"game": Game("nolimit"), "actions": "r1000cc"}
        assert reason((1950, -1000, -1000), **big) == ""
        assert "a rake of 51 from a pot of 3000" in reason((1949, -1000, -1000), **big)
        assert reason((1949, -1000, -1000), Rake.read("0.1"), **big) == ""

    def test_none_in_the_competition(self) -> None:
        acpc = {"game": Game(rules="acpc")}
        assert reason((40, -20, -20), **acpc) == ""
        for rake in (USUAL, ANY_RAKE):
            assert reason((39, -20, -20), rake, **acpc).endswith(
                "the rules 40, -20, -20: a rake of 1 from a pot of 60 in a game without rake"
            )

    @pytest.mark.parametrize("result", [(40, -21, -20), (37, -19, -20), (40, -20, -19), (41,) * 3])
    def test_only_winners_pay_it(self, result: tuple[float, ...]) -> None:
        for rake in (USUAL, ANY_RAKE):
            assert "the rules 40, -20, -20" in reason(result, rake)

    def test_what_comes_back_uncalled_is_not_in_the_pot(self) -> None:
        """Ann bets 900, nobody calls: the pot that may be raked is 30."""
        bet = {"game": Game("nolimit"), "actions": "ccc/r900ff"}
        assert reason((17, -10, -10), **bet) == ""
        assert "a rake of 4 from a pot of 30" in reason((16, -10, -10), **bet)

    @pytest.mark.parametrize("text", ["", "x", "2", "-0.1", "0.1,-1", "0.1,5,6", "nan", "0.1,nan"])
    def test_a_wrong_option(self, text: str) -> None:
        with pytest.raises(BadValue, match="--rake is"):
            Rake.read(text)


class TestSplitPots:
    EQUAL = ("AhKs", "AdKc", "7h6c")

    def test_winners_pay_alike(self) -> None:
        """A pot of 60 for two: a rake of 6 is 3 from each."""
        assert reason((10, 10, -20), holes=self.EQUAL) == ""
        assert reason((7, 7, -20), holes=self.EQUAL) == ""
        assert reason((6, 8, -20), holes=self.EQUAL) == ""  # rounded by the room
        assert "the rules 10, 10, -20" in reason((4, 10, -20), holes=self.EQUAL)
        assert "the rules 10, 10, -20" in reason((11, 9, -20), holes=self.EQUAL)

    def test_an_odd_chip_is_anybodys(self) -> None:
        """A pot of 35, of which cyd put in an ante of 5."""
        odd = {"holes": self.EQUAL, "antes": (5, 5, 5), "actions": "fcc/cc/cc/cc"}
        for result in ((3, 2, -5), (2, 3, -5), (2.5, 2.5, -5)):
            assert reason(result, **odd) == ""
        for result in ((4, 1, -5), (1, 4, -5), (3, 3, -6)):
            assert "the rules 3, 2, -5" in reason(result, **odd)
        assert "the rules 3, 2, -5" in reason((2.75, 2.25, -5), **odd)  # a chip cannot be cut so
        competition = odd | {"game": Game(rules="acpc")}
        for result in ((3, 2, -5), (2.5, 2.5, -5)):  # our own logs of it have whole chips
            assert reason(result, **competition) == ""
        for result in ((4, 1, -5), (2.75, 2.25, -5)):
            assert "the rules 2.5, 2.5, -5" in reason(result, **competition)

    def test_side_pots_that_the_same_players_win(self) -> None:
        """Cyd is all in with 13 and loses: a room splits 39 + 2 and 9 + 0, our rules 50 at once."""
        fields = {
            "holes": (*self.EQUAL, ""),
            "stacks": (1000, 1000, 13, 1000),
            "antes": (0, 0, 0, 2),
            "posts": (5, 10, 0, 0),
            "players": ("ann", "bob", "cyd", "dee"),
            "game": Game("nolimit"),
            "actions": "cfcc/r11cc/cc/cc",
        }
        for more in (0, 0.5, 1):
            result = (7.5 + more, 7.5 - more, -13, -2)
            assert (reason(result, **fields) == "") is (more < 1), result


class TestCardsNotShown:
    @pytest.mark.parametrize(
        ("holes", "result", "could_be"),
        [
            (("AhAs", "", ""), (40, -20, -20), True),
            (("AhAs", "", ""), (-20, 40, -20), True),  # bob had more, and did not show it
            (("AhAs", "", ""), (10, 10, -20), True),
            (("AhAs", "", ""), (0, 0, 0), True),
            (("AhAs", "", ""), (20, 0, -20), False),
            (("AhAs", "", ""), (40, -10, -30), False),
            (("AhAs", "KdKc", ""), (-20, 40, -20), False),  # he showed less than ann
            (("AhAs", "KdKc", ""), (-20, -20, 40), True),
            (("", "", ""), (40, -20, -20), True),
            (("", "", ""), (-20, -20, 37), True),
            (("", "", ""), (-20, -20, 20), False),
            (("", "", ""), (-20, -20, -20), False),
            (("", "", ""), (50, -30, -20), False),
        ],
    )
    def test_some_cards_must_lead_there(
        self, holes: Sequence[str], result: Sequence[float], could_be: bool
    ) -> None:
        found = reason(result, holes=holes)
        assert (found == "") is could_be, found

    def test_side_pots(self) -> None:
        """Cyd is all in with 10 of 20: he can win 30, and the 20 above are for the others."""
        fields = {
            "stacks": (1000, 1000, 10),
            "game": Game("nolimit"),
            "actions": "ccc/r10c/cc/cc",
            "holes": ("AhAs", "", ""),
        }
        assert reason((0, -20, 20), **fields) == ""
        assert reason((-20, 0, 20), **fields) == ""
        assert reason((30, -20, -10), **fields) == ""
        assert "cannot come to" in reason((-20, -20, 40), **fields)
        assert "cannot come to" in reason((-20, 20, 0), **fields)


def test_nobody_posted() -> None:
    for betting in ("limit", "nolimit"):
        fields = {"game": Game(betting), "posts": (0, 0, 0), "actions": "ccc/ccc/ccc/ccc"}
        assert "nobody posted" in reason((0, 0, 0), **fields)
        assert reason((20, -10, -10), **fields | {"antes": (10, 10, 10)}) == ""
