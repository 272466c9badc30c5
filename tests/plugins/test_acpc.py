"""Match logs of the computer poker competition: what is read, refused and written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT

from cbr.errors import BadValue
from cbr.store.records import Raw, Skipped
from cbr_holdem.situation import replay
from cbr_holdem.table import Hand
from cbr_logs import SHIPPED, gamedef_text, read_gamedef, write_acpc
from cbr_logs.acpc import ACPC, parse, read

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

DATA = ROOT.parent / "shared" / "data"
HEADER = "# name/game/hands/seed demo {} 3 0\n"
LIMIT = "holdem.limit.2p.reverse_blinds.game"
NO_LIMIT = "holdem.nolimit.3p.game"


def log(folder: Path, *lines: str, game: str = LIMIT, name: str = "demo.log") -> Path:
    path = folder / name
    path.write_text(HEADER.format(game) + "#--t_response 600\n" + "\n".join(lines) + "\n", "utf-8")
    return path


def hands(path: Path, **options: str) -> list[Hand | Skipped]:
    return [
        Hand.read(parse(item.data)) if isinstance(item, Raw) else item
        for item in read(path, **options)
    ]


@pytest.mark.long
def test_a_limit_hand(tmp_path: Path) -> None:
    """Ann is the big blind and calls a raise; Bo bets the flop and folds to a bet on the turn."""
    line = "STATE:12:rc/crc/rf:Ah2d|Kc9c/8h8d3s/Qd:30|-30:Ann|Bo"
    [hand] = hands(log(tmp_path, line, "SCORE:30|-30:Ann|Bo"))
    assert (hand.posts, hand.players, hand.number) == ((10, 5), ("Ann", "Bo"), "12")
    assert (hand.holes, hand.board, hand.result) == (("Ah2d", "Kc9c"), "8h8d3sQd", (30, -30))
    found = replay([hand])
    assert not found.rejected
    assert found.situations.place[:, 1].tolist() == [1, 0, 0, 1, 0, 0, 1]


def test_no_limit_amounts_are_for_the_street(tmp_path: Path) -> None:
    line = "STATE:0:cr300fc/r900c/cc/r20000f:AhAs|KdKc|7h2c/2s8d9h/Jc/3d:900|-900|0:a|b|c"
    line = "STATE:0:cr300cf/r900c/cc/r20000f:AhAs|KdKc|7h2c/2s8d9h/Jc/3d:1000|-900|-100:a|b|c"
    [hand] = hands(log(tmp_path, line, game=NO_LIMIT))
    assert hand.actions == "cr300cf/r600c/cc/r19100f"
    assert hand.result == (1000, -900, -100)
    assert replay([hand]).rejected == {}


def test_all_in_before_the_board(tmp_path: Path) -> None:
    line = "STATE:0:fcr17162r20000c///:5d5c|9hQd|8dAs/8s4h6d/5s/Js:20000|-20000|0:p1|p2|p3"
    [hand] = hands(log(tmp_path, line, game=NO_LIMIT))
    assert replay([hand]).rejected == {}


class TestGame:
    LINE = "STATE:0:rrc/cc/cc/cc:Ah2d|Kc9c/8h8d3s/Qd/2c:{0}|-{0}:Ann|Bo"

    def test_the_definition_beside_the_log_comes_first(self, tmp_path: Path) -> None:
        text = (
            gamedef_text(SHIPPED[LIMIT])
            .replace("= 10 5", "= 4 2")
            .replace("10 10 20 20", "4 4 8 8")
        )
        (tmp_path / LIMIT).write_text(text)
        [hand] = hands(log(tmp_path, self.LINE.format(12)), game=LIMIT)
        assert hand.game.big_blind == 4
        assert replay([hand]).rejected == {}

    def test_the_option_is_next(self, tmp_path: Path) -> None:
        own = tmp_path / "elsewhere"
        own.mkdir()
        (own / "my.game").write_text(gamedef_text(SHIPPED[LIMIT]))
        path = log(tmp_path, self.LINE.format(30), game="no.such.game")
        assert hands(path, game=str(own / "my.game"))[0].posts == (10, 5)
        assert hands(path, game=LIMIT)[0].posts == (10, 5)

    def test_without_one_the_log_is_skipped_with_the_reason(self, tmp_path: Path) -> None:
        [skipped] = hands(log(tmp_path, self.LINE.format(30), self.LINE, game="/x/no.such.game"))
        assert "'no.such.game'" in skipped.reason
        bare = tmp_path / "bare.log"
        bare.write_text(self.LINE.format(30) + "\n")
        assert "--game" in hands(bare)[0].reason
        assert hands(bare, game=LIMIT)[0].number == "0"

    def test_another_number_of_players(self, tmp_path: Path) -> None:
        with pytest.raises(BadValue, match="2 players in a game for 3"):
            hands(log(tmp_path, self.LINE.format(30), game=NO_LIMIT))

    @pytest.mark.parametrize("name", SHIPPED)
    def test_what_ships_comes_back(self, name: str) -> None:
        assert read_gamedef(gamedef_text(SHIPPED[name])) == SHIPPED[name]

    @pytest.mark.parametrize(
        ("old", "new", "says"),
        [
            ("numPlayers = 2", "numPlayers = 12", "lacks"),
            ("firstPlayer = 2 1 1 1", "firstPlayer = 1 1 1 1", "firstplayer"),
            ("numSuits = 4", "numSuits = 1", "numsuits"),
            ("blind = 10 5", "blind = 10 x", "not numbers"),
            ("limit", "sometimes", "not a line of a game"),
            ("raiseSize", "riseSize", "no 'risesize'"),
            ("numBoardCards = 0 3 1 1", "numBoardCards = 0 3 1", "numboardcards"),
        ],
    )
    def test_a_definition_that_is_none(self, old: str, new: str, says: str) -> None:
        with pytest.raises(BadValue, match=says):
            read_gamedef(gamedef_text(SHIPPED[LIMIT]).replace(old, new))


class TestBadLines:
    @pytest.mark.parametrize(
        ("line", "says"),
        [
            ("STATE:0:cc:AhKd|QcQd:0|0", "6 parts"),
            ("STATE:0:cx:AhKd|QcQd:0|0:a|b", "betting 'cx'"),
            ("STATE:0:cc:AhK|QcQd:0|0:a|b", "'AhK', not two cards"),
            ("STATE:0:cc:AhKd|QcQd:0|zero:a|b", "results"),
            ("STATE:0:cc:AhKd|QcQd:0:a|b", "1 results"),
        ],
    )
    def test_it_is_refused_with_the_reason(self, tmp_path: Path, line: str, says: str) -> None:
        [raw] = read(log(tmp_path, line))
        with pytest.raises(BadValue, match=says):
            parse(raw.data)

    def test_bytes_and_lines_that_are_none(self, tmp_path: Path) -> None:
        path = log(tmp_path, "nonsense", "", "; a comment", "STATE:" + "c" * (2 << 20))
        path.write_bytes(path.read_bytes() + b"STATE:1:f:\xff\xfe|Kc9c:5|-5:a|b\n")
        first, long, raw = list(read(path))
        assert (first.line, first.reason) == (3, "not a line of a match log")
        assert (long.line, "more than a million bytes" in long.reason) == (6, True)
        with pytest.raises(BadValue, match="UTF-8"):
            parse(raw.data)

    def test_a_file_that_breaks_off(self, tmp_path: Path) -> None:
        import lzma

        path = log(tmp_path, *["STATE:0:f:AhKd|QcQd:5|-5:a|b"] * 9000)
        packed = lzma.compress(path.read_bytes())
        cut = tmp_path / "cut.log.xz"
        cut.write_bytes(packed[: len(packed) // 2])
        *_, last = read(cut)
        assert "breaks off" in last.reason


@pytest.mark.long
def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    lines = [
        "STATE:0:cr300cf/r900c/cc/r20000f:AhAs|KdKc|7h2c/2s8d9h/Jc/3d:1000|-900|-100:a|b|c",
        "STATE:1:fcr17162r20000c///:5d5c|9hQd|8dAs/8s4h6d/5s/Js:20000|-20000|0:b|c|a",
        "STATE:2:ff:5d5c||8dAs:-50|50|0:c|a|b",
    ]
    first = log(tmp_path, *lines, game=NO_LIMIT)
    bodies = [hand.text for hand in hands(first)]
    again = tmp_path / "again.log"
    assert write_acpc(iter(bodies), again) == 3
    assert [hand.text for hand in hands(again)] == bodies
    written = again.read_text().splitlines()
    assert written[1:4] == lines
    assert written[-1] == "SCORE:1000|-20850|19850:a|b|c".replace(
        "1000|-20850|19850", written[-1].split(":")[1]
    )
    with pytest.raises(BadValue, match="hand 2 has another"):
        write_acpc(iter([bodies[0], bodies[0].replace("20000", "30000")]), tmp_path / "no.log")
    assert not (tmp_path / "no.log").exists()


@pytest.mark.long
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no real hands: {DATA} is not there")
def test_real_logs(tmp_path: Path) -> None:
    """Every hand of the dealer's logs replays to the dealer's result, decision by decision."""
    import tarfile

    found = Counter()
    for name in ("acpc_test_logs", "nine_seat_bots"):
        with tarfile.open(DATA / f"{name}.tar.xz") as archive:
            archive.extractall(tmp_path, filter="data")
    for path in sorted(tmp_path.rglob("*.log")):
        raws = list(read(path))[:2000]
        replayed = replay([Hand.read(parse(raw.data)) for raw in raws])
        assert replayed.rejected == {}
        found[path.name] = len(replayed.hand)
    assert found["2p.limit.h1000.r0.log"] == 9018
    assert ACPC.can_read(path, b"STATE:0")
