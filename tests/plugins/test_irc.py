"""The IRC poker database: every quirk of the logs in invented hands, and a month of real ones."""

from __future__ import annotations

import gzip
import tarfile
from pathlib import Path

import pytest
from conftest import ROOT

from cbr.errors import BadValue
from cbr.files.compression import head_of
from cbr.store.records import Raw, Skipped
from cbr_holdem.situation import replay
from cbr_holdem.table import Game, Hand
from cbr_logs import irc, irc_month
from cbr_logs.irc import IRC, parse

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

DATA = ROOT.parent / "shared" / "data"

# Three players; cyd raises on the button, bob bets him out on the river.
HDB = "900000001  5    77  3  2/45    2/65    2/65     1/85     Th 6c 2d Ks 9h"
ROSTER = "900000001  3 ann cyd bob"
ANN = "ann       900000001  3  1 Bf  -     -     -          850    5    0 "
BOB = "bob       900000001  3  2 Bc  kc    k     b         1420   50   85 "
CYD = "cyd       900000001  3  3 r   b     k     f          990   30    0 "
PDB = (ANN, BOB, CYD)


def month(
    folder: Path,
    hdb: list[str] | str = HDB,
    hroster: list[str] | str | None = ROSTER,
    pdb: list[str] | tuple[str, ...] | None = PDB,
    channel: str = "holdem1",
) -> Path:
    """Write a month of these lines; the path of its hdb. None leaves files out."""
    place = folder / channel / "199906"
    place.mkdir(parents=True)
    for name, lines in {"hdb": hdb, "hroster": hroster}.items():
        if lines is not None:
            given = [lines] if isinstance(lines, str) else lines
            (place / name).write_bytes("".join(line + "\n" for line in given).encode("latin-1"))
    if pdb is not None:
        (place / "pdb").mkdir()
        for line in pdb:
            with (place / "pdb" / f"pdb.{line.split()[0]}").open("ab") as file:
                file.write(f"{line}\n".encode("latin-1"))
    return place / "hdb"


def read(hdb: Path, **options: str) -> list[Hand | str]:
    """The hands of a month, or why they were skipped."""
    found: list[Hand | str] = []
    for item in IRC.read(hdb, **options):
        if isinstance(item, Skipped):
            found.append(item.reason)
            continue
        assert isinstance(item, Raw)
        try:
            text = parse(item.data)
        except BadValue as error:
            found.append(str(error))
            continue
        found.append(Hand.read(text))
        assert Hand.read(text).text == text
    return found


def legal(hdb: Path) -> Hand:
    """The one hand of a month, which must replay."""
    (hand,) = read(hdb)
    assert isinstance(hand, Hand), hand
    assert replay([hand]).rejected == {}
    return hand


def reason(hdb: Path) -> str:
    """Why the one hand of a month was skipped."""
    (found,) = read(hdb)
    assert isinstance(found, str), found
    return found


def table(end: str, board: str, *players: str) -> tuple[str, str, list[str]]:
    """The lines of a hand: a player is `name actions... stack put-in won cards...`, by position."""
    count = len(players)
    named = [player.split(maxsplit=1) for player in players]
    return (
        f"900000001 5 77 {count}  0/0 0/0 0/0 {end}  {board}",
        f"900000001 {count} " + " ".join(name for name, _ in reversed(named)),
        [f"{name} 900000001 {count} {at + 1} {rest}" for at, (name, rest) in enumerate(named)],
    )


# --- hands ------------------------------------------------------------------------------------


def test_a_hand(tmp_path: Path) -> None:
    assert legal(month(tmp_path)) == Hand(
        game=Game("limit", 5, 10, cap=None),
        stacks=(850, 1420, 990),
        posts=(5, 10, 0),
        antes=(0, 0, 0),
        holes=("", "", ""),
        board="Th6c2dKs9h",
        actions="CrAfBc/BcCrBc/BcCc/BrCf",
        players=("ann", "bob", "cyd"),
        result=(-5, 35, -30),
        number="900000001",
    )


@pytest.mark.parametrize(("channel", "big"), [("holdem", 10), ("holdem2", 20), ("holdem3", 50)])
def test_stakes_follow_from_the_channel(tmp_path: Path, channel: str, big: int) -> None:
    lines = table(f"1/{3 * big // 2}", "", f"ann Bf - - - 500 {big // 2} 0",
                  f"bob B - - - 500 {big} {3 * big // 2}")  # fmt: skip
    hand = legal(month(tmp_path, *lines, channel=channel))
    assert hand.game == Game("limit", big // 2, big, cap=None)
    assert hand.posts == (big // 2, big)


def test_a_folder_of_another_name_has_the_stakes_that_are_given(tmp_path: Path) -> None:
    hdb = month(tmp_path, channel="mine")
    [hand] = read(hdb, stakes="10/20")
    assert isinstance(hand, Hand)
    assert hand.game == Game("limit", 5, 10, cap=None)
    for wrong in ("10", "10/30", "5/10", "ten/twenty", "0/0"):
        with pytest.raises(BadValue, match=r"--stakes .* must be the small and the big bet"):
            read(hdb, stakes=wrong)


def test_the_stakes_of_a_folder_of_another_name_are_found(tmp_path: Path) -> None:
    """They are what big blinds lost who folded at once."""
    hdb, hroster, pdb = [], [], []
    for stamp in range(900000001, 900000007):
        hdb.append(f"{stamp} 5 77 3 0/0 0/0 0/0 1/70")
        hroster.append(f"{stamp} 3 ann cyd bob")
        pdb += [f"ann {stamp} 3 1 Bf - - - 850 10 0", f"bob {stamp} 3 2 Bf - - - 850 20 0"]
        pdb.append(f"cyd {stamp} 3 3 r - - - 850 40 70")
    hands = read(month(tmp_path, hdb, hroster, pdb, channel="mine"))
    assert [getattr(hand, "game", hand) for hand in hands] == [
        Game("limit", 10, 20, cap=None)
    ] * len(hdb)


def test_cards_are_those_shown(tmp_path: Path) -> None:
    lines = table("2/25", "Th 6c 2d Ks 9h", "ann Bf - - - 100 5 0", "bob Bk k k k 100 10 0 Ac 7d",
                  "cyd c k k k 100 10 25 Kd Qd")  # fmt: skip
    assert legal(month(tmp_path, *lines)).holes == ("", "Ac7d", "KdQd")


def test_heads_up_the_small_blind_acts_first_on_every_street(tmp_path: Path) -> None:
    lines = table("1/60", "Th 6c 2d Ks", "ann Bc kc b - 300 40 60", "bob Bk b f - 300 20 0")
    assert legal(month(tmp_path, *lines)).actions == "AcBc/AcBrAc/ArBf"


def test_one_blind_is_a_full_one_and_acts_last(tmp_path: Path) -> None:
    lines = table("1/40", "Th 6c 2d", "ann Bk b - - 300 20 40", "bob c f - - 300 10 0",
                  "cyd c f - - 300 10 0")  # fmt: skip
    hand = legal(month(tmp_path, *lines))
    assert hand.posts == (10, 0, 0)
    assert hand.actions == "BcCcAc/ArBfCf"


def test_actions_go_round_until_they_are_used_up(tmp_path: Path) -> None:
    lines = table("1/140", "Th 6c 2d", "ann Br krf - - 300 50 0", "bob Bc br - - 300 60 140",
                  "cyd rc f - - 300 30 0")  # fmt: skip
    assert legal(month(tmp_path, *lines)).actions == "CrArBcCc/AcBrCfArBrAf"


def test_all_in_is_no_action_of_its_own(tmp_path: Path) -> None:
    """The raise is 3 chips short, and nobody can act on the turn and the river."""
    lines = table("2/59", "Th 6c 2d Ks 9h", "ann Bf - - - 300 5 0", "bob Bc kc - - 300 27 0 4c 4d",
                  "cyd r bA - - 27 27 59 Kd Qd")  # fmt: skip
    hand = legal(month(tmp_path, *lines))
    assert hand.actions == "CrAfBc/BcCrBc//"
    assert hand.stacks == (300, 300, 27)


def test_a_blind_that_empties_the_stack(tmp_path: Path) -> None:
    lines = table("3/23", "Th 6c 2d Ks 9h", "ann BA - - - 3 3 9 As Ah",
                  "bob Bk k k k 90 10 0 4c 4d", "cyd c k k k 90 10 14 7c 7h")  # fmt: skip
    hand = legal(month(tmp_path, *lines))
    assert hand.posts == (5, 10, 0)
    assert hand.actions == "CcBc/BcCc/BcCc/BcCc"


@pytest.mark.parametrize("left", ["Q", "KQ", "K", "f", "fQ"])
def test_leaving_instead_of_acting_is_a_fold(tmp_path: Path, left: str) -> None:
    lines = table("1/40", "Th 6c 2d", f"ann Bc k{left} - - 300 10 0", "bob Bk b - - 300 20 40",
                  "cyd c f Q - 300 10 0")  # fmt: skip
    assert legal(month(tmp_path, *lines)).actions == "CcAcBc/AcBrCfAf"


def test_leaving_after_a_fold_means_nothing(tmp_path: Path) -> None:
    lines = table("1/15", "", "ann Bf - Q - 300 5 0", "bob B - - - 300 10 15", "cyd fQ - - Q 9 0 0")
    assert legal(month(tmp_path, *lines)).actions == "CfAf"


def test_leaving_when_it_is_not_his_turn(tmp_path: Path) -> None:
    """Bob leaves after the flop's betting: no fold that the rules know, and nothing is guessed."""
    lines = table("1/50", "Th 6c 2d Ks", "ann Bc k b - 300 30 50", "bob Bk kQ - - 300 10 0",
                  "cyd c k f - 300 10 0")  # fmt: skip
    (hand,) = read(month(tmp_path, *lines))
    assert isinstance(hand, Hand)
    assert list(replay([hand]).rejected) == [0]


def test_leaving_when_all_in(tmp_path: Path) -> None:
    lines = table("1/70", "Th 6c 2d", "ann Bc c - - 300 20 0", "bob Bk b - - 300 20 70",
                  "cyd rAQ - - - 15 15 0")  # fmt: skip
    assert "all in leaves" in reason(month(tmp_path, *lines))


def test_everybody_folds_to_the_big_blind(tmp_path: Path) -> None:
    lines = table("1/15", "", "ann Bf - - - 300 5 0", "bob B - - - 300 10 15", "cyd f - - - 9 0 0")
    hand = legal(month(tmp_path, *lines))
    assert (hand.actions, hand.board, hand.result) == ("CfAf", "", (-5, 5, 0))


def test_odd_names(tmp_path: Path) -> None:
    """Latin-1, in which two characters are blanks to Python and part of a name here."""
    names = ("^[x]{y}\\`|_-", "5", "jos\xe9\xa0\x85")
    did = ("Bf - - - 300 5 0", "B - - - 300 10 15", "f - - - 9 0 0")
    dealt, _, _ = table("1/15", "", *did)
    pdb = [f"{names[at]} 900000001 3 {at + 1} {did[at]}" for at in range(3)]
    hdb = month(tmp_path, dealt, "900000001 3 " + " ".join(names), [])
    for at, line in enumerate(pdb):
        (hdb.parent / "pdb" / f"pdb.{at}").write_bytes(line.encode("latin-1"))
    assert legal(hdb).players == names


# --- lines that do not fit --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"pdb": (ANN, BOB)}, "no line for player 'cyd'"),
        ({"pdb": ()}, "no line for player 'ann', nor for any other"),
        ({"hroster": ROSTER.replace("cyd", "cydney")}, "differ: 'cydney' and 'cyd'"),
        ({"hroster": ROSTER + " dan"}, "hroster is cut off or lists others"),
        ({"hroster": "900000001  3 ann c"}, "hroster is cut off or lists others"),
        ({"hroster": "900000001"}, "hroster is cut off or lists others"),
        ({"hroster": "900000002 3 ann bob cyd"}, "no line in hroster"),
        ({"hroster": [ROSTER, ROSTER]}, "two hands have one timestamp"),
        ({"pdb": (ANN, BOB, CYD[:50])}, "the line of player 'cyd' is cut off: it has 8 fields"),
        ({"pdb": (ANN, BOB, CYD + "Kd")}, "the line of player 'cyd' is cut off: it has 12 fields"),
        ({"pdb": (ANN, BOB, CYD.strip() + CYD)}, "'cyd' holds more than one record"),
        ({"pdb": (*PDB, CYD)}, "4 lines in pdb for 3 players"),
        ({"pdb": (ANN, BOB, CYD.replace(" 3  3 ", " 4  3 "))}, "4 players in the line of 'cyd'"),
        ({"pdb": (ANN, BOB, CYD.replace(" 3  3 ", " 3  2 "))}, "positions are not each once"),
        ({"pdb": (ANN, BOB, CYD.replace("990", "9x0"))}, "not whole numbers"),
        ({"pdb": (ANN, BOB, CYD + "Kd 1d")}, "'1d' is not a card"),
        ({"pdb": (ANN, BOB, CYD.replace("r ", "rx"))}, "actions 'rx b k f' cannot be"),
        ({"pdb": (ANN, BOB, CYD.replace("r ", "fr"))}, "cannot be"),
        ({"pdb": (ANN, BOB, CYD.replace("r ", "Br"))}, "posted by positions 1, 2, 3;"),
        ({"pdb": (ANN.replace("Bf", "f "), BOB, CYD)}, "posted by positions 2;"),
        ({"hdb": HDB[:11]}, "the line of hdb has 1 fields"),
        ({"hdb": HDB + " 2c"}, "the line of hdb has 14 fields"),
        ({"hdb": HDB.replace(" 3  2", "11  2")}, "11 players; a table has 2 to 10"),
        ({"hdb": HDB.replace(" 3  2", " x  2")}, "x players"),
        ({"hdb": HDB.replace("9h", "9x")}, "'9x' is not a card"),
        ({"hdb": HDB.replace("Ks 9h", "")}, "goes on after the last street of a board of 3 cards"),
        ({"hdb": HDB.replace("1/85", "85")}, "'85' in hdb is not players and pot"),
        ({"hdb": HDB.replace("1/85", "2/85")}, "hdb has 2 players at the end, actions leave 1"),
        ({"hdb": HDB.replace("1/85", "1/80")}, "the pot is 80, but 85 were put in and 85 won"),
        ({"hdb": "nine " + HDB}, "does not begin with a timestamp"),
        ({"hdb": HDB + " " * 2000}, "longer than"),
        ({"hroster": None}, "there is no hroster beside this hdb"),
        ({"pdb": None}, "there is no folder pdb beside this hdb"),
        ({"channel": "nolimit"}, "channel 'nolimit' plays no-limit hold'em, and the database"),
        ({"channel": "tourney"}, "channel 'tourney' plays tournaments of no-limit hold'em"),
        ({"channel": "mine"}, "folder 'mine' is no channel of the database, and its hands do not"),
    ],
)
def test_what_does_not_fit_is_skipped(tmp_path: Path, wrong: dict, why: str) -> None:
    assert why in reason(month(tmp_path, **wrong))


def test_two_hands_with_one_timestamp(tmp_path: Path) -> None:
    other = HDB.replace("900000001", "900000002")
    hdb = month(tmp_path, [HDB, other, HDB.replace("  77", "  78")])
    assert read(hdb) == [
        "2 hands have one timestamp",
        "no line in hroster",
        "2 hands have one timestamp",
    ]


def test_a_long_line_in_pdb_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    assert reason(month(tmp_path, pdb=(ANN, BOB, CYD + " " * 2000))) == "no line for player 'cyd'"


def test_a_month_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hdb = month(tmp_path)
    monkeypatch.setattr(irc_month, "_MOST_BYTES", 100)
    assert "more than 100 bytes" in reason(hdb)
    monkeypatch.undo()
    monkeypatch.setattr(irc_month, "_MOST_LINES", 2)
    assert "more than 2 lines" in reason(hdb)


# --- files ------------------------------------------------------------------------------------


def test_hands_come_in_the_order_of_hdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line numbers are those of the file, however the lines are joined."""
    monkeypatch.setattr(irc, "_CHUNK", 2)
    stamps = ["900000005", "900000001", "900000003", "900000002"]

    def copies(line: str) -> list[str]:
        return [line.replace("900000001", stamp) for stamp in stamps]

    lines = copies(HDB)
    lines.insert(1, "")
    hdb = month(tmp_path, lines, sorted(copies(ROSTER)), [x for line in PDB for x in copies(line)])
    assert [hand.number for hand in read(hdb) if isinstance(hand, Hand)] == stamps
    assert [item.line for item in IRC.read(hdb)] == [1, 3, 4, 5]
    assert [item.offset for item in IRC.read(hdb)][-1] == hdb.stat().st_size


def test_which_files_are_read(tmp_path: Path) -> None:
    hdb = month(tmp_path)
    folder = hdb.parent
    (folder / "notes").write_text("900000001 5 77 3 2/45 2/65 2/65 1/85\n")
    readable = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and IRC.can_read(path, head_of(path))
    }
    assert readable == {"hdb", "hroster", "pdb/pdb.ann", "pdb/pdb.bob", "pdb/pdb.cyd"}
    assert not list(IRC.read(folder / "hroster"))
    assert not list(IRC.read(folder / "pdb" / "pdb.ann"))
    assert not IRC.can_read(hdb, b"name,price\n")
    hdb.unlink()
    assert not IRC.can_read(folder / "hroster", ROSTER.encode())


def test_identity_is_channel_and_month(tmp_path: Path) -> None:
    hdb = month(tmp_path)
    assert IRC.identity is not None
    assert IRC.identity(hdb) == "holdem1/199906/hdb"
    assert IRC.identity(hdb.parent / "pdb" / "pdb.ann") == "holdem1/199906/pdb/pdb.ann"


def test_identity_does_not_depend_on_where_we_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(month(tmp_path).parent)
    assert IRC.identity is not None
    assert IRC.identity(Path("hdb")) == "holdem1/199906/hdb"
    assert len(read(Path("hdb"))) == 1


def test_compressed_files(tmp_path: Path) -> None:
    hdb = month(tmp_path)
    for path in [hdb, hdb.parent / "hroster", hdb.parent / "pdb" / "pdb.cyd"]:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    packed = hdb.with_name("hdb.gz")
    assert IRC.can_read(packed, head_of(packed))
    assert IRC.can_read(hdb.parent / "hroster.gz", b"")
    assert legal(packed).players == ("ann", "bob", "cyd")


def test_a_file_that_breaks_off(tmp_path: Path) -> None:
    hdb = month(tmp_path, [HDB] + [f"{stamp}{HDB[9:]}" for stamp in range(910000000, 910009999)])
    packed = hdb.with_name("hdb.gz")
    packed.write_bytes(gzip.compress(hdb.read_bytes())[:-2000])
    hdb.unlink()
    found = read(packed)
    assert isinstance(found[0], Hand)
    assert "breaks off" in str(found[-1])


def test_a_line_cut_by_the_end_of_its_file(tmp_path: Path) -> None:
    """The next file's first line does not run into it."""
    hdb = month(tmp_path)
    bob = hdb.parent / "pdb" / "pdb.bob"
    bob.write_bytes(bob.read_bytes() + b"bob       9000")
    assert legal(hdb).players == ("ann", "bob", "cyd")


# --- real hands -------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no real hands: {DATA} is not there")
def test_a_real_month(tmp_path: Path) -> None:
    with tarfile.open(DATA / "irc_holdem3.tar.xz") as files:
        wanted = [member for member in files if "/199905/" in member.name]
        files.extractall(tmp_path, wanted, filter="data")
    found = read(tmp_path / "holdem3" / "199905" / "hdb")
    hands = [hand for hand in found if isinstance(hand, Hand)]
    rejected = replay(hands).rejected
    assert len(found) == 11_686
    assert len(hands) - len(rejected) >= 0.985 * len(found)
