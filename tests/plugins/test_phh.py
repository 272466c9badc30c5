"""PHH: every quirk of the logs in an invented hand, and what we write read by PokerKit."""

from __future__ import annotations

import lzma
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from cbr.errors import BadValue
from cbr.store.records import Raw, Skipped
from cbr_holdem.cards import UNKNOWN, cards
from cbr_holdem.situation import case_types, replay, situate
from cbr_holdem.table import (
    ACTOR,
    UNKNOWN_STACK,
    Game,
    Hand,
    act,
    deal_posted,
    new_tables,
    raise_limits,
)
from cbr_logs import cutting, phh, write_phh
from cbr_logs.amounts import chips, money, unit_for
from cbr_logs.phh import PHH, parse, read, read_toml
from cbr_logs.phh_fast import fast_text

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

DATA = ROOT.parent / "shared" / "data"
DEAL_2 = "'d dh p1 ????', 'd dh p2 ????'"
DEAL_3 = f"{DEAL_2}, 'd dh p3 ????'"


def text(actions: str, **fields: str) -> str:
    """A no-limit hand of three players as lines; a field of "" is left out."""
    lines = {
        "variant": "'NT'",
        "antes": "[0, 0, 0]",
        "blinds_or_straddles": "[0.25, 0.50, 0]",
        "min_bet": "0.50",
        "starting_stacks": "[50, 50, 20]",
        "actions": f"[{actions}]",
        **fields,
    }
    return "".join(f"{key} = {value}\n" for key, value in lines.items() if value)


def heads_up(actions: str, **fields: str) -> str:
    two = {"antes": "[0, 0]", "blinds_or_straddles": "[0.25, 0.50]", "starting_stacks": "[50, 50]"}
    return text(actions, **{**two, **fields})


def hand(given: str) -> Hand:
    return Hand.read(parse(given.encode()))


def legal(given: str) -> Hand:
    """The hand, which must replay."""
    found = hand(given)
    assert replay([found]).rejected == {}
    return found


WALK = f"{DEAL_3}, 'p3 f', 'p1 f'"


# --- reading a hand -----------------------------------------------------------------------------


def test_a_hand() -> None:
    found = legal(
        text(
            f"{DEAL_3}, 'p3 cbr 1.50', 'p1 f', 'p2 cc', 'd db 2c7d9h', 'p2 cc', 'p3 cbr 3', "
            "'p2 cc', 'd db Js', 'p2 cc', 'p3 cc', 'd db 3c', 'p2 cbr 4.25', 'p3 cc', "
            "'p2 sm AhAs', 'p3 sm ????'",
            hand="59937796506",
            players="['ann', 'bob', 'cy']",
        )
    )
    assert found.game == Game("nolimit", 25, 50)
    assert (found.unit, found.number) == (100, "59937796506")
    assert (found.stacks, found.posts) == ((5000, 5000, 2000), (25, 50, 0))
    assert found.actions == "Cr150AfBc/BcCr300Bc/BcCc/Br425Cc"
    assert (found.holes, found.board) == (("", "AhAs", ""), "2c7d9hJs3c")
    assert found.players == ("ann", "bob", "cy")
    assert found.result is None


def test_heads_up_the_blinds_are_turned_round() -> None:
    found = legal(heads_up(f"{DEAL_2}, 'p2 cc', 'p1 cc', 'd db 2c7d9h', 'p1 cbr 1', 'p2 f'"))
    assert found.posts == (50, 25)
    assert found.actions == "BcAc/Ar100Bf"


def test_heads_up_list_the_other_way() -> None:
    """Then p1 has the small blind and opens: the amounts count, not the places."""
    given = heads_up(f"{DEAL_2}, 'p1 cc', 'p2 cc', 'd db 2c7d9h', 'p1 cbr 1', 'p2 f'")
    found = legal(given.replace("[0.25, 0.50]", "[0.50, 0.25]"))
    assert found.posts == (25, 50)
    assert (found.game.small_blind, found.game.big_blind) == (25, 50)


def test_heads_up_antes_are_turned_round() -> None:
    assert hand(heads_up("'p2 f'", antes="[0, 0.10]")).antes == (10, 0)


def test_a_newcomers_post_is_live() -> None:
    found = legal(
        text(f"{DEAL_3}, 'p3 cc', 'p1 f', 'p2 f'", blinds_or_straddles="[0.25, 0.50, -0.50]")
    )
    assert found.posts == (25, 50, -50)


def test_one_blind_only() -> None:
    found = legal(text(f"{DEAL_3}, 'p2 f', 'p3 f'", blinds_or_straddles="[0.50, 0, 0]"))
    assert found.posts == (50, 0, 0)
    assert (found.game.small_blind, found.game.big_blind) == (0, 50)


def test_a_straddle() -> None:
    found = legal(
        text(f"{DEAL_3}, 'p1 f', 'p2 cc', 'p3 cc'", blinds_or_straddles="[0.25, 0.50, 1]").replace(
            "'p3 cc'", "'p3 cc', 'd db 2c7d9h', 'p2 cbr 0.50', 'p3 f'"
        )
    )
    assert found.posts == (25, 50, 100)
    assert (found.game.small_blind, found.game.big_blind) == (25, 50)


def test_limit_without_a_cap() -> None:
    given = heads_up(
        f"{DEAL_2}, 'p2 cbr 2', 'p1 cbr 3', 'p2 cbr 4', 'p1 cbr 5', 'p2 cbr 6', 'p1 f'",
        variant="'FT'",
        min_bet="",
        small_bet="1",
        big_bet="2",
        blinds_or_straddles="[0.5, 1]",
    )
    found = legal(given)
    assert found.game == Game("limit", 50, 100, bet_sizes=(100, 100, 200, 200), cap=None)
    assert phh.domain_of(found.text) == "holdem"


def test_limit_with_stacks_that_are_not_known() -> None:
    found = hand(
        text(
            WALK,
            variant="'FT'",
            min_bet="",
            small_bet="0.50",
            big_bet="1",
            starting_stacks="[inf, 50, inf]",
            finishing_stacks="[inf, 50.25, inf]",
        )
    )
    assert found.stacks[1] == 5000 < found.stacks[0]
    assert found.result is None


def test_no_limit_with_stacks_that_are_not_known(tmp_path: Path) -> None:
    """What depends on them is missing; the rest is as with stacks."""
    types = {one.stage: one for one in case_types() if one.domain == "holdem-nolimit"}
    played = f"{DEAL_3}, 'p3 cbr 3', 'p1 f', 'p2 cc', 'd db 2c7d9h', 'p2 cbr 4', 'p3 f'"
    found = legal(text(played, starting_stacks="[inf, 50, inf]", finishing_stacks=""))
    assert found.stacks == (UNKNOWN_STACK, 5000, UNKNOWN_STACK)
    write_phh(iter([found.text]), tmp_path / "again.phhs")
    assert "starting_stacks = [inf, 50.00, inf]" in (tmp_path / "again.phhs").read_text()
    [again] = hands_of(tmp_path / "again.phhs")
    assert isinstance(again, Raw)
    assert parse(again.data) == found.text
    deep = text(played, starting_stacks="[50, 50, 50]")
    unknown, known = (situate([one.text], list(types.values())) for one in (found, legal(deep)))
    for stage, batch in unknown.batches.items():
        same = known.batches[stage]
        assert batch.solution == same.solution
        for feature in types[stage].indexed:
            if feature.private:
                continue
            values = feature.of(batch.situations)
            if feature.name in {"call_share", "pot_share"}:
                assert np.isnan(values).all()
                assert feature.missing == "ignore"
            else:
                np.testing.assert_array_equal(values, feature.of(same.situations))


@pytest.mark.parametrize(
    ("shown", "held"),
    [
        ("'p2 sm ????', 'p3 sm ????'", ("", "", "")),
        ("'p2 sm AhAs', 'p3 sm'", ("", "AhAs", "")),
        ("'p2 sm Ah??', 'p3 sm -'", ("", "", "")),
        ("'p2 sm ????', 'p3 sm ????', 'p2 sm QhQs', 'p3 sm KdKc'", ("", "QhQs", "KdKc")),
        ("'p2 sm QhQs # the nuts', '', '# gg', 'p3 sm ????'", ("", "QhQs", "")),
    ],
)
def test_what_is_shown(shown: str, held: tuple[str, ...]) -> None:
    found = legal(
        text(
            f"{DEAL_3}, 'p3 cbr 20', 'p1 f', 'p2 cc', 'd db 2c7d9h', 'd db Js', 'd db 3c', {shown}"
        )
    )
    assert found.holes == held
    assert found.actions == "Cr2000AfBc"


def test_all_in_with_shows_between_the_cards() -> None:
    found = legal(
        text(
            f"{DEAL_3}, 'p3 cbr 20', 'p1 f', 'p2 cc', 'p3 sm ????', 'p2 sm ????', 'd db 2c7d9h', "
            "'p2 sm ????', 'p3 sm ????', 'd db Js', 'p2 sm ????', 'p3 sm ????', 'd db 3c', "
            "'p2 sm AhAs', 'p3 sm ????'"
        )
    )
    assert (found.board, found.holes[1]) == ("2c7d9hJs3c", "AhAs")


def test_one_alone_shows() -> None:
    assert legal(text(f"{WALK}, 'p2 sm AhKs'")).holes == ("", "AhKs", "")


def test_a_fold_where_a_check_was_free() -> None:
    found = legal(text(f"{DEAL_3}, 'p3 cc', 'p1 f', 'p2 f'"))
    assert found.actions == "CcAfBf"


def test_cards_dealt_one_by_one() -> None:
    given = "'d dh p1 ??', 'd dh p2 Ah', 'd dh p3 ??', 'd dh p1 ??', 'd dh p2 Ks', 'd dh p3 ??'"
    assert hand(text(f"{given}, 'p3 f', 'p1 f'")).holes == ("", "AhKs", "")


def test_the_result_is_by_finishing_stacks_and_not_by_winnings() -> None:
    ends = {"finishing_stacks": "[49.75, 50.25, 20]", "winnings": "[0, 7, 0]"}
    assert legal(text(WALK, **ends)).result == (-25, 25, 0)
    assert hand(text(WALK, winnings="[0, 7, 0]")).result is None


def test_pots_that_are_split_more_finely_than_into_chips() -> None:
    given = text(
        "'d dh p1 2c3c', 'd dh p2 AhKs', 'd dh p3 AdKc', 'p3 cc', 'p1 f', 'p2 cc', 'd db 2d7d9h', "
        "'p2 cc', 'p3 cc', 'd db Js', 'p2 cc', 'p3 cc', 'd db 3d', 'p2 cc', 'p3 cc'",
        blinds_or_straddles="[25, 50, 0]",
        min_bet="50",
        starting_stacks="[5000, 5000, 5000]",
        finishing_stacks="[4975, 5012.5, 5012.5]",
    )
    found = legal(given)
    assert (found.unit, found.result) == (1, (-25, 12.5, 12.5))


def test_without_names_players_are_numbered() -> None:
    assert hand(text(WALK)).players == ("p1", "p2", "p3")


def test_a_hand_number_may_be_a_text() -> None:
    assert hand(text(WALK, hand="'R5-2761906-929'")).number == "R5-2761906-929"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (text(WALK, variant="'PO'"), "variant is 'PO'; FT and NT"),
        (text(WALK, variant=""), "the hand has no variant"),
        (text(WALK, min_bet=""), "the hand has no min_bet"),
        (text(WALK, antes=""), "the hand has no antes"),
        (text(WALK, min_bet="0"), "they must be above 0"),
        (text(WALK, starting_stacks="[50]"), "1 players; a table has 2 to 10"),
        (text(WALK, antes="[0, 0]"), "2 antes for 3 starting_stacks"),
        (text(WALK, players='["ann", "a\\tb", "cy"]'), "holds control characters"),
        (text(WALK, players="['ann', 3, 'cy']"), "players are not all strings"),
        (text(WALK, finishing_stacks="[50, 50]"), "2 finishing_stacks for 3"),
        (text(WALK, min_bet="0.0000005"), "an amount has 7 decimals; at most 6 can be read"),
        (text(WALK, min_bet="nan"), "'nan' is not an amount of money"),
        (text(WALK, min_bet="true"), "which is not a number"),
        (text(WALK, antes="0"), "antes is not a list"),
        (text("'p3 sd'"), "'p3 sd' is not an action that hold'em has"),
        (text("'p11 f'"), "'p11 f' is not an action"),
        (text("'p3 cbr 1,5'"), "'1,5' is not an amount of money"),
        (text("'p3 cbr 0'"), "a player raises to 0"),
        (text("'d dh p4 AhKs', 'p3 f', 'p1 f'"), "p4 is dealt cards, but there are 3 players"),
        (text("'d dh p1 AhKsQd', 'p3 f', 'p1 f'"), "is dealt AhKsQd, not two cards"),
        (text("'d dh p1 1hKs', 'p3 f', 'p1 f'"), "is not an action"),
        (text("'d db 2c', 'p3 f', 'p1 f'"), "when the board has 1 cards"),
        (text(f"{WALK}, 'p2 sm AhKs'").replace("p2 ????", "p2 AhQs"), "was dealt AhQs and shows"),
        (text(WALK, hand='"a\\tb"'), "with characters that do not print"),
        (text(WALK) + text(WALK), "not in TOML"),
        ("variant = 'NT", "not in TOML"),
    ],
)
def test_reasons(given: str, reason: str) -> None:
    with pytest.raises(BadValue, match=reason) as found:
        parse(given.encode())
    assert "\n" not in str(found.value)


def test_bytes_that_are_not_utf_8() -> None:
    with pytest.raises(BadValue, match="not UTF-8"):
        parse(text(WALK, players="['ann', 'b\xf6b', 'cy']").encode("latin-1"))


def test_cards_twice_are_for_the_replay_to_find() -> None:
    found = hand(text(WALK.replace("p1 ????", "p1 AhKs").replace("p2 ????", "p2 AhQs")))
    assert "Ah is twice" in replay([found, hand(text(WALK))]).rejected[0]


# --- the two ways of reading --------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.replace("', '", "',\n  '").replace("]\n", ",\n]\n"),
        lambda t: t.replace("'", '"'),
        lambda t: t.replace("\n", " # as played\n"),
        lambda t: t.replace(" = ", "="),
        lambda t: t.replace(" = ", "  =\t"),
        lambda t: t.replace("\n", "\r\n"),
        lambda t: t.replace("players", "'players'").replace("hand =", '"hand" ='),
        lambda t: "# a hand\n\n" + t + "notes = '''\nvariant = 'FT'\n'''\n",
        lambda t: t.replace("[50, 50, 20]", "[5e1, 5_0.0_0, +20]"),
        lambda t: t.replace("59937796506", "59_937_796_506"),
    ],
)
def test_other_forms_of_the_same_hand(change: Callable[[str], str]) -> None:
    given = text(WALK, hand="59937796506", players="['ann', 'bob', 'cy']")
    assert fast_text(given.encode()) is not None
    other = change(given)
    assert other != given
    assert parse(other.encode()) == parse(given.encode())


def test_a_name_with_a_quote_and_an_escape() -> None:
    assert hand(text(WALK, players='["O\'Neil", "\\u0041b", "c\\\\y"]')).players == (
        "O'Neil",
        "Ab",
        "c\\y",
    )


@pytest.mark.parametrize(
    "given",
    [
        text(WALK, players="['ann', '''bob''', 'cy']"),
        text(WALK, players="['ann', 'bob', 'cy'] # ', ''"),
        text(WALK, hand="5 # five"),
        text(WALK, hand="true"),
        text(WALK, min_bet="'0.50'"),
        text(WALK) + "[more]\n",
        " " + text(WALK),
        text(WALK) + "hand  = 5\n",
        text(WALK) + "'hand' = 5\n",
    ],
)
def test_what_may_not_be_simple_is_left_to_toml(given: str) -> None:
    assert fast_text(given.encode()) is None


# --- files --------------------------------------------------------------------------------------


def hands_of(path: Path) -> list[Raw | Skipped]:
    return list(read(path))


def test_a_file_of_hands(tmp_path: Path) -> None:
    path = tmp_path / "log.phhs"
    path.write_text(f"\ufeff[1]\n{text(WALK)}\n[ 2 ] # next\n{text(WALK, hand='7')}", "utf-8")
    first, second = hands_of(path)
    assert (first.line, second.line) == (1, 9)
    assert isinstance(first, Raw)
    assert isinstance(second, Raw)
    assert Hand.read(parse(second.data)).number == "7"
    assert first.offset <= second.offset <= path.stat().st_size


def test_a_file_of_one_hand(tmp_path: Path) -> None:
    path = tmp_path / "one.phh"
    path.write_bytes(text(WALK).replace("\n", "\r\n").encode())
    (only,) = hands_of(path)
    assert isinstance(only, Raw)
    assert parse(only.data) == parse(text(WALK).encode())


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "none.phhs"
    path.write_bytes(b"")
    assert hands_of(path) == []


def test_what_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "LONGEST", 1000)
    path = tmp_path / "log.phhs"
    long, many = "x" * 1500, "y = 1\n" * 300
    path.write_text(f"[1]\na = '{long}'\n[2]\n{many}[3]\n{text(WALK)}", "utf-8")
    one, two, three = hands_of(path)
    assert one == Skipped(1, "a hand of more than 1,000 bytes", one.offset)
    assert two == Skipped(3, "a hand of more than 1,000 bytes", two.offset)
    assert isinstance(three, Raw)
    assert three.line == 304


def test_a_file_that_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "log.phhs.xz"
    many = "".join(f"[{n}]\n{text(WALK, hand=str(n * 7919))}\n" for n in range(1, 3000))
    path.write_bytes(lzma.compress(many.encode())[:-2000])
    *good, last = hands_of(path)
    assert len(good) > 100
    assert all(isinstance(one, Raw) for one in good)
    assert isinstance(last, Skipped)
    assert last.reason.startswith("the file breaks off: ")


@pytest.mark.parametrize(
    ("name", "head", "ours"),
    [
        ("a.phh", b"", True),
        ("a.phhs.xz", b"", True),
        ("a.txt", b"# x\n[1]\nvariant = 'NT'\n", True),
        ("a.txt", b"the variant = 5 of them", False),
        ("a.csv", b"variant,antes\n", False),
    ],
)
def test_which_files_are_ours(name: str, head: bytes, ours: bool) -> None:
    assert PHH.can_read(Path(name), head) is ours


# --- writing ------------------------------------------------------------------------------------


BOARD = "2c7d9hJs3c"
NAMES = ("ann", "bob", "cy")
NOLIMIT = Game("nolimit", 50, 100)
HANDS = {
    "walk": Hand(NOLIMIT, [1000] * 3, [50, 100, 0], [0] * 3, [""] * 3, "", "CfAf", NAMES),
    "showdown": Hand(
        NOLIMIT,
        [1000] * 3,
        [50, 100, 0],
        [10] * 3,
        ["", "AhAs", "KdKc"],
        BOARD,
        "CcAfBc/BcCr200Bc/BcCc/BcCr300Bc",
        NAMES,
        result=[-60, 670, -610],
        unit=100,
        number="12",
    ),
    "side pots": Hand(
        NOLIMIT,
        [1000, 300, 500],
        [50, 100, 0],
        [0] * 3,
        ["8h8s", "AhAs", "KdKc"],
        BOARD,
        "Cr500AcBc",
        NAMES,
        number="R5-7",
    ),
    "mucked": Hand(
        NOLIMIT,
        [1000, 300, 500],
        [50, 100, 0],
        [0] * 3,
        ["", "AhAs", ""],
        BOARD,
        "Cr300AcBc/AcCr200Ac",
        NAMES,
    ),
    "heads-up": Hand(
        Game("nolimit", 25, 50),
        [5000, 2000],
        [50, 25],
        [10, 10],
        ["AhAs", "KdKc"],
        BOARD,
        "BcAc/AcBc/AcBc/AcBr100Ac",
        ("O'Neil \\ \"x\"", "b"),
        unit=100,
        number="007",
    ),
    "newcomer": Hand(
        NOLIMIT, [1000] * 4, [50, 100, 0, -100], [0] * 4, [""] * 4, "", "CfDr300AfBf", (*NAMES, "d")
    ),
    "one blind": Hand(NOLIMIT, [1000] * 3, [100, 0, 0], [0] * 3, [""] * 3, "", "BfCf", NAMES),
    "limit": Hand(
        Game("limit", 5, 10, bet_sizes=(10, 10, 20, 20), cap=None),
        [1000] * 3,
        [5, 10, 0],
        [0] * 3,
        ["AhKs", "", "AdKc"],
        "2c7d9hJs3d",
        "Cr20AcBf/Ar10Cc/AcCc/Ar20Cr40Ac",
        NAMES,
        result=[5, -10, 5],
    ),
    "all in by the blinds": Hand(
        NOLIMIT, [30, 100], [100, 50], [0] * 2, ["AhKs", "QdQc"], BOARD, "", ("a", "b")
    ),
}  # fmt: skip
#: Without seats and amounts, and with a game that the fields of PHH do not tell.
COMPETITION = Hand(
    Game("limit", 5, 10, bet_sizes=(10, 10, 20, 20), rules="acpc"),
    [100_000] * 2,
    [10, 5],
    [0] * 2,
    ["AhKs", "AdKc"],
    "2c7d9hJs3d",
    "rc/cc/rrc/rc",
    ("a", "b"),
    result=[0, 0],
    number="3",
)


def written(path: Path, *hands: Hand) -> list[str]:
    assert write_phh(iter([one.text for one in hands]), path) == len(hands)
    return [parse(raw.data) for raw in read(path) if isinstance(raw, Raw)]


@pytest.mark.parametrize("name", HANDS)
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    assert written(tmp_path / "a.phhs", HANDS[name]) == [HANDS[name].text]
    assert written(tmp_path / "a.phh", HANDS[name]) == [HANDS[name].text]


def test_written_in_the_simple_form(tmp_path: Path) -> None:
    written(tmp_path / "a.phhs", HANDS["showdown"])
    assert (tmp_path / "a.phhs").read_text("utf-8").splitlines() == [
        "[1]",
        "variant = 'NT'",
        "antes = [0.10, 0.10, 0.10]",
        "blinds_or_straddles = [0.50, 1.00, 0.00]",
        "min_bet = 1.00",
        "starting_stacks = [10.00, 10.00, 10.00]",
        "actions = ['d dh p1 ????', 'd dh p2 AhAs', 'd dh p3 KdKc', 'p3 cc', 'p1 f', 'p2 cc', "
        "'d db 2c7d9h', 'p2 cc', 'p3 cbr 2.00', 'p2 cc', 'd db Js', 'p2 cc', 'p3 cc', 'd db 3c', "
        "'p2 cc', 'p3 cbr 3.00', 'p2 cc', 'p3 sm KdKc', 'p2 sm AhAs']",
        "hand = 12",
        "players = ['ann', 'bob', 'cy']",
        "finishing_stacks = [9.40, 16.70, 3.90]",
    ]


def test_a_game_that_phh_does_not_tell(tmp_path: Path) -> None:
    (again,) = written(tmp_path / "a.phhs", COMPETITION)
    found = Hand.read(again)
    assert found.game == COMPETITION.game
    assert found.actions == "Br20Ac/AcBc/Ar20Br40Ac/Ar20Bc"
    assert written(tmp_path / "b.phhs", found) == [again]
    old = (tmp_path / "a.phhs").read_text("utf-8").replace("'FT'", "'NT'\nmin_bet = 10")
    with pytest.raises(BadValue, match="_cbr_game is limit, the variant NT"):
        parse(old.removeprefix("[1]\n").encode())
    with pytest.raises(BadValue, match="3 chips to one of the currency"):
        parse(text(WALK, _cbr_game="'nolimit 1/2 unit=3'").encode())


def test_parts_of_chips_are_written(tmp_path: Path) -> None:
    half = Hand.read(HANDS["limit"].text.replace("5,-10,5", "4.5,-10,5.5"))
    assert written(tmp_path / "a.phhs", half) == [half.text]


@pytest.mark.parametrize("name", [*HANDS, "competition"])
def test_pokerkit_comes_to_the_same_stacks(name: str, tmp_path: Path) -> None:
    notation = pytest.importorskip("pokerkit.notation")
    one = HANDS.get(name, COMPETITION)
    path = tmp_path / "a.phhs"
    written(path, one)
    with path.open("rb") as file:
        (history,) = notation.HandHistory.load_all(file)
    *_, end = history
    assert not end.status
    ours = payoffs(one)
    theirs = [
        round((after - before) * one.unit)
        for after, before in zip(end.stacks, history.starting_stacks, strict=True)
    ]
    assert theirs == ours
    if one.result is not None:
        assert [round(won) for won in one.result] == ours


def payoffs(one: Hand) -> list[int]:
    """What the rules give each seat."""
    unseen = [UNKNOWN, UNKNOWN]
    deck = [card for hole in one.holes for card in (cards(hole) if hole else unseen)]
    deck += cards(one.board) or [UNKNOWN] * 5
    tables = new_tables(1)
    row, terms = tables.rows[0], one.game.terms
    given = [np.array(part, np.int64) for part in (one.stacks, one.posts, one.antes, deck)]
    deal_posted(row, terms, len(one.stacks), *given)
    for kind, amount in re.findall(r"([fcr])(\d*)", one.actions):
        to = int(amount) if amount else raise_limits(row, terms)[0]
        act(row, terms, "fcr".index(kind), to if kind == "r" else 0)
    assert row[ACTOR] < 0
    return [round(float(won)) for won in tables.payoff[0, : len(one.stacks)]]


def test_many_hands(tmp_path: Path) -> None:
    many = [HANDS["walk"], HANDS["limit"]] * 400
    assert written(tmp_path / "a.phhs", *many) == [one.text for one in many]
    assert written(tmp_path / "b.phhs") == []


@pytest.mark.parametrize(
    ("name", "hands", "reason"),
    [
        ("a.phh", [HANDS["walk"]] * 2, "a .phh file has one hand"),
        ("a.phh", [], "there is none to write"),
        ("a.phhs.xz", [HANDS["walk"]], "would be compressed"),
        (
            "a.phhs",
            [Hand(NOLIMIT, [9] * 2, [2, 1], [0] * 2, [""] * 2, "", "", ("a", "b"), number="8")],
            "hand 8 cannot be written: the hand is not over",
        ),
        (
            "a.phhs",
            [Hand(Game("potlimit", 1, 2), [9] * 2, [2, 1], [0] * 2, [""] * 2, "", "f", ("a", "b"))],
            "hand 1 cannot be written: there is no variant for potlimit",
        ),
        (
            "a.phhs",
            [Hand(NOLIMIT, [9] * 2, [2, 1], [0] * 2, [""] * 2, "", "f", ("a", "b"), unit=3)],
            "3 chips to one of the currency",
        ),
    ],
)
def test_what_cannot_be_written_leaves_no_file(
    name: str, hands: list[Hand], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(BadValue, match=reason):
        write_phh(iter([one.text for one in hands]), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_keeps_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.phhs"
    path.write_text("old", "utf-8")
    with pytest.raises(BadValue):
        write_phh(iter(["nonsense"]), path)
    assert path.read_text("utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


# --- amounts ------------------------------------------------------------------------------------


def test_amounts_are_exact() -> None:
    assert chips("90071992547409.93", 100) == 9007199254740993
    assert money(9007199254740993, 100) == "90071992547409.93"
    assert unit_for(["0.1000000000", "5"]) == 100
    assert [chips(money(n, 1000), 1000) for n in (-1, 0, 1, 12345)] == [-1, 0, 1, 12345]
    for wrong in ("", ".", "-", "1.2.3", "1e3", "٣", "1_0", "0x1"):
        with pytest.raises(BadValue, match="is not an amount"):
            chips(wrong, 100)
    with pytest.raises(BadValue, match="not a whole number of chips"):
        chips("0.125", 100)


# --- real hands ---------------------------------------------------------------------------------


def real(name: str, most: int) -> list[bytes]:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"no real hands: {path} is not there")
    found = []
    for raw in read(path):
        assert isinstance(raw, Raw)
        found.append(raw.data)
        if len(found) == most:
            break
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "most", "wrong"),
    [
        ("pluribus.phhs.xz", 10_000, 0),
        ("handhq_2p.phhs.xz", 5_000, 0),
        ("handhq_6p.phhs.xz", 5_000, 0),
        ("handhq_9p.phhs.xz", 7_000, 1),  # one raises to less than everything and than he must
    ],
)
def test_real_hands_replay(name: str, most: int, wrong: int, tmp_path: Path) -> None:
    given = real(name, most)
    texts = [parse(data) for data in given]
    rejected = replay([Hand.read(one) for one in texts]).rejected
    assert len(rejected) == wrong, list(rejected.values())[:5]
    for data, one in list(zip(given, texts, strict=True))[:: most // 100]:
        assert phh._hand(read_toml(data.decode())).text == one
    good = [one for place, one in enumerate(texts) if place not in rejected]
    path = tmp_path / "again.phhs"
    assert write_phh(iter(good[::10]), path) == len(good[::10])
    assert [parse(raw.data) for raw in read(path) if isinstance(raw, Raw)] == good[::10]


def test_pokerkit_reads_real_hands_that_we_wrote(tmp_path: Path) -> None:
    notation = pytest.importorskip("pokerkit.notation")
    path = tmp_path / "again.phhs"
    write_phh(iter([parse(data) for data in real("pluribus.phhs.xz", 2_000)[::20]]), path)
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for history in notation.HandHistory.load_all(file):
            *_, end = history
            assert [float(stack) for stack in end.stacks] == pytest.approx(
                [float(stack) for stack in history.finishing_stacks], abs=0.5
            )
