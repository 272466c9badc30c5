"""PokerStars text: invented hands with what a reader has to cope with."""

from __future__ import annotations

from pathlib import Path

import pytest

from cbr.errors import BadValue
from cbr.store.records import Raw, Skipped
from cbr_holdem.situation import replay
from cbr_holdem.table import Game, Hand
from cbr_logs import write_phh
from cbr_logs.phh import parse as parse_phh
from cbr_logs.phh import read as read_phh
from cbr_logs.stars import STARS, parse, read

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

NOLIMIT = "PokerStars Hand #77:  Hold'em No Limit ($0.50/$1.00 USD) - 2010/07/26 6:17:21 ET"
LIMIT = "PokerStars Game #78:  Hold'em Limit ($1/$2 USD) - 2010/07/26 6:17:21 ET"
TABLE = "Table 'Demo' 6-max Seat #3 is the button"
SEATS = """\
Seat 1: ann ($48 in chips)
Seat 3: bob ($100 in chips)
Seat 6: cy ($20.50 in chips)"""
BLINDS = """\
cy: posts small blind $0.50
ann: posts big blind $1"""


def log(play: str, header: str = NOLIMIT, seats: str = SEATS, blinds: str = BLINDS) -> str:
    """A hand's text; `play` is all from the hole cards on."""
    return f"{header}\n{TABLE}\n{seats}\n{blinds}\n*** HOLE CARDS ***\n{play.strip()}\n"


def hand(given: str, encoding: str = "utf-8") -> Hand:
    return Hand.read(parse(given.encode(encoding)))


def legal(given: str, encoding: str = "utf-8") -> Hand:
    """The hand, which must replay."""
    found = hand(given, encoding)
    assert replay([found]).rejected == {}
    return found


def reason(given: str) -> str:
    with pytest.raises(BadValue) as found:
        parse(given.encode())
    assert "\n" not in str(found.value)
    return str(found.value)


WALK = """
bob: folds
cy: folds
Uncalled bet ($0.50) returned to ann
ann collected $1 from pot
ann: doesn't show hand
*** SUMMARY ***
Total pot $1 | Rake $0
Seat 1: ann (big blind) collected ($1)
Seat 3: bob (button) folded before Flop (didn't bet)
Seat 6: cy (small blind) folded before Flop
"""
SHOWDOWN = """
Dealt to ann [Ah Kd]
bob: raises $1.50 to $2.50
cy: folds
ann: calls $1.50
*** FLOP *** [Ts 4c 2h]
ann: checks
bob: bets $3
ann: raises $5 to $8
bob: calls $5
*** TURN *** [Ts 4c 2h] [9d]
ann: checks
bob: checks
*** RIVER *** [Ts 4c 2h 9d] [9s]
ann: bets $37.50 and is all-in
bob: calls $37.50
*** SHOW DOWN ***
ann: shows [Ah Kd] (a pair of Nines)
bob: mucks hand
ann collected $94.50 from pot
*** SUMMARY ***
Total pot $96.50 | Rake $2
Board [Ts 4c 2h 9d 9s]
Seat 1: ann (big blind) showed [Ah Kd] and won ($94.50) with a pair of Nines
Seat 3: bob (button) mucked [Qc Jc]
Seat 6: cy (small blind) folded before Flop
"""


def test_a_showdown() -> None:
    found = legal(log(SHOWDOWN))
    assert found.game == Game("nolimit", 50, 100)
    assert (found.number, found.unit) == ("77", 100)
    assert found.players == ("cy", "ann", "bob")
    assert (found.stacks, found.posts) == ((2050, 4800, 10000), (50, 100, 0))
    assert found.holes == ("", "AhKd", "QcJc")
    assert found.board == "Ts4c2h9d9s"
    assert found.actions == "Cr250AfBc/BcCr300Br800Cc/BcCc/Br3750Cc"
    assert found.result == (-50, 4650, -4800)
    assert STARS.domain_of is not None
    assert STARS.domain_of(found.text) == "holdem-nolimit"


def test_a_walk() -> None:
    found = legal(log(WALK))
    assert found.actions == "CfAf"
    assert found.result == (-50, 50, 0)


def test_limit_stakes_are_bets() -> None:
    play = """
bob: raises $1 to $2
cy: folds
ann: raises $1 to $3
bob: calls $1
*** FLOP *** [Ts 4c 2h]
ann: bets $1
bob: folds
Uncalled bet ($1) returned to ann
ann collected $6.25 from pot
*** SUMMARY ***
Total pot $6.50 | Rake $0.25
"""
    found = legal(log(play, LIMIT))
    assert found.game == Game("limit", 50, 100, bet_sizes=(100, 100, 200, 200), cap=None)
    assert found.actions == "Cr200AfBr300Cc/Br100Cf"
    assert found.result == (-50, 325, -300)
    assert STARS.domain_of is not None
    assert STARS.domain_of(found.text) == "holdem"


def test_heads_up_the_button_posts_the_small_blind() -> None:
    play = """
bob: calls $0.50
ann: checks
*** FLOP *** [Ts 4c 2h]
ann: bets $1
bob: folds
Uncalled bet ($1) returned to ann
ann collected $2 from pot
*** SUMMARY ***
Total pot $2 | Rake $0
"""
    seats = "Seat 1: ann ($48 in chips)\nSeat 3: bob ($100 in chips)"
    blinds = "bob: posts small blind $0.50\nann: posts big blind $1"
    found = legal(log(play, seats=seats, blinds=blinds))
    assert found.players == ("ann", "bob")
    assert found.posts == (100, 50)
    assert found.actions == "BcAc/Ar100Bf"


def test_a_tournament_with_antes_and_side_pots() -> None:
    header = (
        "PokerStars Hand #79: Tournament #456, $5.00+$0.50 USD Hold'em No Limit - "
        "Level XI (600/1,200) - 2010/07/26 6:17:21 ET"
    )
    seats = """\
Seat 1: ann (4,800 in chips)
Seat 3: bob (10000 in chips, $1.25 bounty)
Seat 6: cy (2,050 in chips)"""
    blinds = """\
ann: posts the ante 100
bob: posts the ante 100
cy: posts the ante 100
cy: posts small blind 600
ann: posts big blind 1,200"""
    play = """
bob: raises 8,700 to 9,900 and is all-in
cy: calls 1350 and is all-in
ann: calls 3500 and is all-in
Uncalled bet (5200) returned to bob
*** FLOP *** [Ts 4c 2h]
*** TURN *** [Ts 4c 2h] [9d]
*** RIVER *** [Ts 4c 2h 9d] [9s]
*** SHOW DOWN ***
ann: shows [Ah Kd] (a pair of Nines)
bob: shows [Qc Jc] (a pair of Nines)
ann collected 5500 from side pot
cy: shows [9h 9c] (four of a kind, Nines)
cy collected 6150 from main pot
*** SUMMARY ***
Total pot 11,650 Main pot 6,150. Side pot 5,500. | Rake 0
"""
    found = legal(log(play, header, seats, blinds))
    assert found.game == Game("nolimit", 600, 1200)
    assert (found.unit, found.antes) == (1, (100, 100, 100))
    assert found.actions == "Cr9900AcBc"
    assert found.result == (4100, 700, -4800)


def test_a_newcomer_and_one_who_comes_back() -> None:
    seats = f"{SEATS}\nSeat 2: dora ($50 in chips)\nSeat 4: eve ($50 in chips)"
    table = TABLE.replace("#3", "#4")
    blinds = f"{BLINDS}\neve: posts big blind $1\ndora: posts small & big blinds $1.50"
    play = """
dora: checks
bob: folds
eve: checks
cy: folds
ann: checks
*** FLOP *** [Ts 4c 2h]
ann: bets $1
dora: folds
eve: folds
Uncalled bet ($1) returned to ann
ann collected $4 from pot
*** SUMMARY ***
Total pot $4 | Rake $0
"""
    found = legal(log(play, seats=seats, blinds=blinds).replace(TABLE, table))
    assert found.players == ("cy", "ann", "dora", "bob", "eve")
    assert found.posts == (50, 100, -100, 0, -100)
    assert found.antes == (0, 0, 50, 0, 0)
    assert found.result == (-50, 300, -150, 0, -100)


def test_a_second_small_blind_is_dead() -> None:
    seats = f"{SEATS}\nSeat 2: dora ($50 in chips)"
    play = "dora: folds\nbob: folds\ncy: folds\n"
    found = hand(log(play, seats=seats, blinds=f"{BLINDS}\ndora: posts small blind $0.50"))
    assert (found.posts, found.antes) == ((50, 100, 0, 0), (0, 0, 50, 0))


def test_a_straddle() -> None:
    seats = f"{SEATS}\nSeat 2: dora ($50 in chips)"
    play = "bob: folds\ncy: folds\nann: folds\n"
    found = legal(log(play, seats=seats, blinds=f"{BLINDS}\ndora: posts straddle $2"))
    assert found.posts == (50, 100, 200, 0)


def test_a_dead_button_and_no_small_blind() -> None:
    """The button is on an empty seat, and the order goes from there."""
    found = legal(
        log("bob: folds\ncy: folds\n", blinds="ann: posts big blind $1").replace("#3 is", "#6 is")
    )
    assert found.players == ("ann", "bob", "cy")
    empty = log("cy: folds\nann: folds\n", blinds="bob: posts big blind $1")
    found = legal(empty.replace("#3 is", "#2 is"))
    assert found.players == ("bob", "cy", "ann")
    assert found.posts == (100, 0, 0)


def test_who_is_not_dealt_in() -> None:
    seats = f"""{SEATS}
Seat 2: dora ($50 in chips) is sitting out
Seat 4: eve ($50 in chips)
Seat 5: fay ($50 in chips) out of hand (moved from another table into small blind)"""
    blinds = f"{BLINDS}\ndora: posts big blind $1\neve: sits out"
    found = hand(log("bob: folds\ncy: folds\n", seats=seats, blinds=blinds))
    assert found.players == ("cy", "ann", "bob")


def test_who_sits_out_and_is_dealt_in() -> None:
    """In tournaments the absent are dealt in, and fold or win the blinds."""
    away = SEATS.replace("48 in chips)", "48 in chips) is sitting out")
    away = away.replace("100 in chips)", "100 in chips) is sitting out")
    assert legal(log(WALK, seats=away)).players == ("cy", "ann", "bob")


def test_lines_that_are_not_about_the_play() -> None:
    noise = """
bob has timed out while disconnected
zed joins the table at seat #2
ann said, "bob: folds"
bob said, "*** FLOP *** [Ah Ad Ac]"
ann is connected
cy: is sitting out
Seat 4: is not a seat
cy leaves the table
bob will be allowed to play after the button
*********** # 2 **************
"""
    folds = WALK.replace("\ncy: folds", noise + "cy: folds")
    assert legal(log(folds)).text == legal(log(WALK)).text


@pytest.mark.parametrize(
    "name",
    [
        "an n",
        "ann: folds",
        "$1.50",
        "ann (button)",
        "[Ah Kd]",
        "ann: raises $5 to $10",
        "cy: x",
        ":D",
        "Seat 3: bob",
        "(48 in chips)",
        "über",
        ".*",
    ],
)
def test_strange_names(name: str) -> None:
    found = legal(log(SHOWDOWN).replace("ann", name))
    assert found.players == ("cy", name, "bob")
    assert found.text.replace(name, "ann") == legal(log(SHOWDOWN)).text


def test_a_name_that_begins_with_another() -> None:
    given = log(SHOWDOWN).replace("ann", "bob: checks").replace("cy", "bo")
    assert legal(given).players == ("bo", "bob: checks", "bob")


@pytest.mark.parametrize(
    ("sign", "encoding"),
    [("€", "utf-8"), ("€", "cp1252"), ("£", "latin-1"), ("", "ascii")],
)
def test_currencies(sign: str, encoding: str) -> None:
    assert legal(log(SHOWDOWN).replace("$", sign), encoding).text == hand(log(SHOWDOWN)).text


def test_latin_1_names_and_line_ends() -> None:
    given = log(SHOWDOWN).replace("ann", "J\xf6rg").replace("\n", "\r\n")
    assert legal("\ufeff" + given).players == legal(given, "latin-1").players


def test_cards_in_other_places() -> None:
    assert hand(log(WALK.replace("cy: folds", "cy: folds [7c 2d]"))).holes[0] == "7c2d"
    assert hand(log(WALK.replace("cy: folds", "cy: folds [7c]"))).holes[0] == ""
    shown = WALK.replace("ann: doesn't show hand", "ann: shows [Kd Ah] (high card Ace)")
    assert hand(log("Dealt to ann [Ah Kd]" + shown)).holes == ("", "AhKd", "")
    assert hand(log("Dealt to ann \nDealt to cy" + WALK)).holes == ("", "", "")


def test_other_headers() -> None:
    for header in (
        "PokerStars Zoom Hand #77:  Hold'em No Limit ($0.50/$1.00) - 2010/07/26 6:17:21 ET",
        "PokerStars Home Game Hand #77: {Club #12345}  Hold'em No Limit ($0.50/$1.00 USD) - 2010",
        "PokerStars Hand #77:  HORSE (Hold'em No Limit, $0.50/$1.00 USD) - 2010/07/26 6:17:21 ET",
        "Poker Hand #77: Hold'em No Limit ($0.5/$1) - 2021/07/26 06:17:21",
    ):
        assert legal(log(WALK, header)).text == hand(log(WALK)).text
    jackpot = WALK.replace("Total pot $1 | Rake $0", "Total pot $1 | Rake $0 | Jackpot $0")
    assert legal(log(jackpot)).result == (-50, 50, 0)


def test_a_hand_that_breaks_off_has_no_result() -> None:
    found = hand(log(SHOWDOWN.partition("*** SHOW")[0]))
    assert found.result is None
    assert found.holes == ("", "AhKd", "")
    cut = hand(log(SHOWDOWN.partition("*** TURN")[0]))
    assert "the hand is not over" in replay([cut]).rejected[0]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("Hold'em", "Omaha", "is not Hold'em with limit or no limit"),
        ("Hold'em", "6+ Hold'em", "is not Hold'em"),
        ("No Limit", "Pot Limit", "is not Hold'em"),
        (" ($0.50/$1.00 USD)", "", "does not name the stakes"),
        ("$1.00 USD", "$1.00 - $20 Cap -  USD", "caps what may be lost"),
        ("PokerStars Hand", "A Hand", "does not begin with the header"),
        (" Seat #3 is the button", "", "who has the button"),
        ("Seat 6: cy", "Seat 6: ann", "'ann' sits at the table twice"),
        ("Seat 6: cy", "Seat 1: cy", "two players sit in the same seat"),
        ("ann: calls $1.50", "ann: calls $1", "ann calls 1.00 where 1.50 is to call"),
        ("ann: calls $1.50", "ann: checks", "ann checks where 1.50 is to call"),
        ("to $8", "to $0", "has put in as much before"),
        ("ann: bets $37.50", "ann: bets all", "'ann: bets all and is all-in' is not understood"),
        ("posts big blind", "posts a bigger blind", "is not understood"),
        ("[Ts 4c 2h] [9d]", "[Ts 4c 3h] [9d]", "the turn is"),
        ("*** TURN ***", "*** FIRST TURN ***", "dealt more than once"),
        ("[9s]", "[10s]", "'10s' is not a card"),
        ("mucked [Qc Jc]", "mucked [Qc Jx]", "'Jx' is not a card"),
        ("shows [Ah Kd]", "shows [Ah Ks]", "ann holds AhKd and AhKs"),
        ("Total pot $96.50", "Total pot $95", "the pot is 95, and 96.50 was put in"),
        ("Rake $2", "Rake $1", "players collected 94.50 and the house 1.00"),
        ("Seat 3: bob (button) mucked", "Seat 3: rob (button) mucked", "not in the list of seats"),
        ("*** TURN ***", "Hand cancelled\n*** TURN ***", "the hand was cancelled"),
        ("bob: mucks hand", "Uncalled bet ($1) returned to rob", "not in the list of seats"),
        ("$48 in chips", "$48.1234567 in chips", "an amount has 7 decimals"),
    ],
)
def test_reasons(old: str, new: str, why: str) -> None:
    given = log(SHOWDOWN)
    assert old in given
    assert why in reason(given.replace(old, new))


def test_nobody_plays() -> None:
    assert "0 players are dealt in" in reason(f"{NOLIMIT}\n{TABLE}\n{SEATS}\n")
    assert "does not begin" in reason("")


# --- files --------------------------------------------------------------------------------------


def test_a_file_of_hands(tmp_path: Path) -> None:
    path = tmp_path / "hands.txt"
    parts = [log(WALK), log(SHOWDOWN).replace("#77", "#78"), log(WALK, LIMIT)]
    path.write_bytes(("\ufeff" + "\n\n".join(parts)).replace("\n", "\r\n").encode())
    found = list(read(path))
    assert all(isinstance(one, Raw) for one in found)
    assert [one.line for one in found] == [1, 21, 56]
    texts = [parse(one.data) for one in found if isinstance(one, Raw)]
    assert [Hand.read(text).number for text in texts] == ["77", "78", "78"]


def test_text_before_the_first_hand_is_not_one(tmp_path: Path) -> None:
    path = tmp_path / "hands.txt"
    path.write_text(f"Transcript for your last hands\n\n{log(WALK)}", "utf-8")
    first, second = read(path)
    assert isinstance(first, Raw)
    assert isinstance(second, Raw)
    assert second.line == 3
    with pytest.raises(BadValue, match="header"):
        parse(first.data)
    assert Hand.read(parse(second.data)).number == "77"


def test_an_empty_file_and_a_missing_end(tmp_path: Path) -> None:
    path = tmp_path / "hands.txt"
    path.write_bytes(b"\n\n")
    assert list(read(path)) == []
    path.write_bytes(b"\x1f\x8b" + bytes(20))
    (only,) = read(path)
    assert isinstance(only, Skipped)
    assert only.reason.startswith("the file breaks off")


@pytest.mark.parametrize(
    ("head", "ours"),
    [
        (log(WALK).encode()[:200], True),
        (b"\xef\xbb\xbf" + log(WALK).encode()[:200], True),
        (b"Transcript\r\n\r\n" + log(WALK).encode()[:200], True),
        (b"Poker Hand #RC123: Hold'em No Limit ($0.01/$0.02)", True),
        (b"we played a PokerStars Hand #77", False),
        (b"variant = 'NT'\n", False),
        (b"", False),
    ],
)
def test_which_files_are_ours(head: bytes, ours: bool) -> None:
    assert STARS.can_read(Path("hands.txt"), head) is ours


def test_from_one_format_to_the_other(tmp_path: Path) -> None:
    path = tmp_path / "hands.phhs"
    texts = [parse(log(play).encode()) for play in (WALK, SHOWDOWN)]
    assert write_phh(iter(texts), path) == 2
    assert [parse_phh(raw.data) for raw in read_phh(path) if isinstance(raw, Raw)] == texts
