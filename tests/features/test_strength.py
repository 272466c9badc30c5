"""Strength and potential: printed values, brute force on every kind of board, and the flop table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from cbr.errors import BadValue, CbrError
from cbr_holdem.cards import HANDS, cards, evaluate, names
from cbr_holdem.strength import (
    COLUMNS,
    FLOP_CLASSES,
    board_strengths,
    class_numbers,
    flop_classes,
    flop_table,
    hand_strengths,
    strength_of,
    strengths,
)


def by_force(hole: list[int], board: list[int], more: int) -> tuple[np.ndarray, list[float]]:
    """The matrix (now, later) and the later hand strengths, one pair of hands at a time."""
    left = [c for c in range(52) if c not in {*hole, *board}]
    rivals = np.array(list(combinations(left, 2)), np.uint8)

    def relation(table: list[int], opponents: np.ndarray) -> np.ndarray:
        hands = np.column_stack(
            [opponents, np.tile(np.array(table, np.uint8), (len(opponents), 1))]
        )
        mine = int(evaluate(np.array([[*hole, *table]], np.uint8))[0])
        theirs = evaluate(hands).astype(int)
        return np.where(mine > theirs, 0, np.where(mine == theirs, 1, 2))

    now = relation(board, rivals)
    matrix, later_strengths = np.zeros((3, 3), np.int64), []
    for cards_to_come in combinations(left, more):
        free = ~np.isin(rivals, cards_to_come).any(axis=1)
        later = relation([*board, *cards_to_come], rivals[free])
        np.add.at(matrix, (now[free], later), 1)
        later_strengths.append(float((2 - later).sum()) / (2 * len(later)))
    return matrix, later_strengths


def potentials(matrix: np.ndarray, now: tuple[int, int, int], runouts: int) -> tuple[float, float]:
    wins, ties, losses = now
    positive = matrix[2, 0] + matrix[2, 1] / 2 + matrix[1, 0] / 2
    negative = matrix[0, 2] + matrix[0, 1] / 2 + matrix[1, 2] / 2
    behind, ahead = runouts * (losses + ties / 2), runouts * (wins + ties / 2)
    return positive / behind if behind else 0.0, negative / ahead if ahead else 0.0


class TestPrintedValues:
    @pytest.mark.parametrize(
        ("hole", "board", "now", "hs", "ppot", "npot", "e_hs", "e_hs2", "ppot1", "npot1"),
        [
            ("AdQc", "3h4cJh", (628, 9, 444), 0.585106, 0.208324, 0.273693, 0.511399, 0.307298, 0.108312, 0.145402),
            ("8s9s", "2dKs3s", (192, 9, 880), 0.181776, 0.464252, 0.153271, 0.533777, 0.431535, 0.282156, 0.094996),
            ("5s5c", "AdKhQs", (650, 1, 430), 0.601758, 0.088501, 0.232991, 0.496798, 0.272686, 0.040883, 0.114374),
            ("AcKd", "3s7cTc", (640, 9, 432), 0.596207, 0.241338, 0.245227, 0.547451, 0.356304, 0.110933, 0.142022),
            ("2d5s", "3s6dKd", (12, 9, 1060), 0.015264, 0.285960, 0.160973, 0.294401, 0.212926, 0.155597, 0.048485),
            ("8s9s", "2dKs3sAc", (176, 9, 850), 0.174396, 0.266942, 0.129942, 0.372123, 0.256706, 0.266942, 0.129942),
        ],
    )  # fmt: skip
    def test_flops_and_a_turn(
        self, hole, board, now, hs, ppot, npot, e_hs, e_hs2, ppot1, npot1
    ) -> None:
        found = strength_of(hole, board)
        assert (found.wins, found.ties, found.losses) == now
        values = [
            found.hs,
            found.ppot,
            found.npot,
            found.e_hs,
            found.e_hs2,
            found.ppot1,
            found.npot1,
        ]
        assert values == pytest.approx([hs, ppot, npot, e_hs, e_hs2, ppot1, npot1], abs=6e-7)

    @pytest.mark.parametrize(
        ("hole", "board", "now", "printed"),
        [
            ("AhJd", "As3dJcTh", (1007, 4, 24), 0.950),
            ("AhJd", "As3dJcTh2h", (943, 4, 43), 0.911),
            ("TsTd", "As3dJcTh", (1013, 0, 22), 0.958),
            ("TsTd", "As3dJcTh2h", (952, 0, 38), 0.925),
            ("3c7s", "As3dJcTh", (534, 54, 447), 0.294),
            ("3c7s", "As3dJcTh2h", (481, 46, 463), 0.259),
        ],
    )
    def test_the_lectures_figures_are_for_two_opponents(self, hole, board, now, printed) -> None:
        found = strength_of(hole, board)
        assert (found.wins, found.ties, found.losses) == now
        assert found.ihs(2) == pytest.approx(printed, abs=5e-4)

    @pytest.mark.parametrize(
        ("hole", "board", "hs"),
        [
            ("KdQh", "AsTsJc", 0.995837),
            ("AhAd", "As2s3s", 0.944496),
            ("4s5s", "As2s3s", 1.0),
            ("4h5d", "As2s3s", 0.954672),
            ("3h3d", "As2s3s", 0.941721),
            ("Ah3h", "As2s3s", 0.938020),
            ("8d7h", "As2s3s", 0.092507),
            ("AhAd", "As2s3sAc", 0.999034),
            ("4h5d", "As2s3sAc", 0.934300),
            ("3h3d", "As2s3sAc", 0.990338),
        ],
    )
    def test_hand_strengths(self, hole: str, board: str, hs: float) -> None:
        assert strength_of(hole, board).hs == pytest.approx(hs, abs=6e-7)

    def test_several_opponents(self) -> None:
        found = strength_of("AdQc", "3h4cJh")
        assert found.ihs(5) == pytest.approx(0.585106**5, abs=1e-5)
        assert found.ehs(1) == pytest.approx(found.hs + (1 - found.hs) * found.ppot)
        river = strength_of("AdQc", "3h4cJh5s6d")
        assert np.isnan(river.ppot)
        assert river.ehs(2) == river.ihs(2)
        assert (river.e_hs, river.e_hs2) == (river.hs, river.hs**2)


#: Boards of every kind: rainbow, two-tone, monotone, paired, trips, straights and flushes there.
BOARDS = ["2c7dJh", "2c7cJh", "2c7cJc", "7c7dJh", "7c7dJc", "7c7d7h", "9cTdJc", "AcKcQc", "2c3d4h"]


class TestBruteForce:
    @pytest.mark.long
    @pytest.mark.parametrize("board", BOARDS)
    @pytest.mark.parametrize("hole", ["AhKh", "8c8d", "Tc3c", "6s5s", "Ad2d"])
    def test_flop(self, hole: str, board: str) -> None:
        if set(cards(hole)) & set(cards(board)):
            pytest.skip("a card would be there twice")
        self.compare(hole, board)

    @pytest.mark.parametrize("board", ["2c7dJhQs", "2c7cJhQh", "2c7cJcQs", "2c7cJcQc", "7c7dJhJs"])
    @pytest.mark.parametrize("hole", ["AhKh", "8c8d", "Tc3c", "6s5s", "Ad2d", "AcKd"])
    def test_turn(self, hole: str, board: str) -> None:
        self.compare(hole, board)

    @pytest.mark.slow
    def test_random_positions(self) -> None:
        rng = np.random.default_rng(7)
        for _ in range(300):
            deck = rng.permutation(52)[:6].tolist()
            for size in (3, 4):
                self.compare(names(deck[:2]), names(deck[2 : 2 + size]))

    def compare(self, hole: str, board: str) -> None:
        found = strength_of(hole, board)
        own, table = cards(hole), cards(board)
        now = (found.wins, found.ties, found.losses)
        matrix, _ = by_force(own, table, 1)
        runouts = int(matrix.sum()) // sum(now)
        assert matrix.sum(axis=1).tolist() == [runouts * part for part in now]
        assert (found.ppot1, found.npot1) == pytest.approx(potentials(matrix, now, runouts))
        matrix, later = by_force(own, table, 5 - len(table))
        runouts = int(matrix.sum()) // sum(now)
        assert (found.ppot, found.npot) == pytest.approx(potentials(matrix, now, runouts))
        assert found.e_hs == pytest.approx(np.mean(later))
        assert found.e_hs2 == pytest.approx(np.mean(np.square(later)))
        equity = found.hs * (1 - found.npot) + (1 - found.hs) * found.ppot
        assert found.e_hs == pytest.approx(equity)


class TestBatches:
    def test_a_batch_is_its_rows(self) -> None:
        rng = np.random.default_rng(3)
        deck = np.array([rng.permutation(52)[:7] for _ in range(40)], np.uint8)
        for size in (3, 4, 5):
            together = strengths(deck[:, :2], deck[:, 2 : 2 + size])
            for row, cards_ in zip(together, deck, strict=True):
                one = strength_of(cards_[:2].tolist(), cards_[2 : 2 + size].tolist())
                assert row.tolist() == pytest.approx(
                    [getattr(one, c) for c in COLUMNS], nan_ok=True
                )

    def test_all_hands_of_a_board(self) -> None:
        found = board_strengths("2c7cJhQh")
        free = ~np.isnan(found[:, 0])
        assert free.sum() == 48 * 47 // 2
        assert not free[np.isin(HANDS, cards("2c7cJhQh")).any(axis=1)].any()
        assert found[free, 0].mean() == pytest.approx(0.5)  # somebody wins what another loses
        assert found[free, 5].mean() == pytest.approx(0.5)

    @pytest.mark.parametrize(
        ("hole", "board", "says"),
        [
            ("AhKs", "Ah2c3d", "Ah is twice in the hand and board"),
            ("AhKsQd", "2c3d4h", "a hand has 2 cards, not 3"),
            ("AhKs", "2c3d", "a board has 3, 4 or 5 cards, not 2"),
            ("AhKs", "2c3d4h5s6c7d", "not 6"),
        ],
    )
    def test_impossible_positions_are_named(self, hole: str, board: str, says: str) -> None:
        with pytest.raises(BadValue, match=says):
            strength_of(hole, board)

    def test_impossible_batches_are_named(self) -> None:
        with pytest.raises(BadValue, match="row 1 has a card twice"):
            strengths(np.array([[0, 1], [2, 3]]), np.array([[4, 5, 6], [2, 5, 6]]))
        with pytest.raises(BadValue, match="number above 51"):
            strengths(np.array([[0, 60]]), np.array([[4, 5, 6]]))
        with pytest.raises(BadValue, match="not 6"):
            strengths(np.array([[0, 1]]), np.array([[4, 5, 6, 7, 8, 9]]))


class TestFlopTable:
    @pytest.fixture(autouse=True)
    def own_cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("CBR_CACHE_DIR", str(tmp_path))
        flop_table._loaded.cache_clear()
        yield
        flop_table._loaded.cache_clear()

    @pytest.mark.long
    def test_classes(self) -> None:
        classes = flop_classes()
        assert classes.start[-1] == FLOP_CLASSES == 1_286_792
        assert len(classes.flops) == 1755
        rng = np.random.default_rng(1)
        deck = np.array([rng.permutation(52)[:5] for _ in range(3000)], np.uint8)
        number = class_numbers(deck[:, :2].copy(), deck[:, 2:].copy())
        suits = np.array([2, 0, 3, 1])
        other = ((deck >> 2) * 4 + suits[deck & 3]).astype(np.uint8)
        assert (number >= 0).all()
        same = class_numbers(other[:, [1, 0]].copy(), other[:, [4, 2, 3]].copy())
        assert number.tolist() == same.tolist()
        assert len(set(number.tolist())) > 2900

    def test_positions_of_one_class_are_alike_and_others_differ(self) -> None:
        holes = flop_classes().holes(700)
        flop = np.tile(flop_classes().flops[700].astype(np.uint8), (len(holes), 1))
        first = flop_classes().start[700]
        assert class_numbers(holes, flop).tolist() == list(range(first, first + len(holes)))

    @pytest.fixture(scope="class")
    def rows(self) -> Callable[[int], bytes]:
        """Rows of a flop, which take half a second, computed once for all tests."""
        return cache(flop_table.flop_rows)

    @pytest.fixture
    def small(self, rows: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
        """A table of the first twelve flops only, as if there were no more."""
        monkeypatch.setattr(flop_table, "flop_rows", rows)
        start = flop_classes().start[:13]
        monkeypatch.setattr(flop_classes(), "start", start)
        monkeypatch.setattr(flop_table, "FLOP_CLASSES", int(start[-1]))
        monkeypatch.setitem(flop_table.HEAD, "rows", int(start[-1]))
        return start

    def positions(self) -> tuple[np.ndarray, np.ndarray]:
        classes = flop_classes()
        holes = np.concatenate([classes.holes(flop) for flop in (0, 5, 11)])
        sizes = [len(classes.holes(flop)) for flop in (0, 5, 11)]
        flops = np.repeat(classes.flops[[0, 5, 11]], sizes, axis=0).astype(np.uint8)
        return holes, flops

    @pytest.mark.long
    def test_with_and_without_it_everything_is_the_same(self, small) -> None:
        holes, flops = self.positions()
        computed = flop_table.flop_strengths(holes, flops)
        assert np.abs(computed - strengths(holes, flops)).max() < 1 / 65535
        path, told = flop_table.table_path(), []
        flop_table.build(path, progress=lambda done, total: told.append((done, total)))
        assert told[-1] == (small[-1], small[-1])
        assert [p.name for p in path.parent.iterdir()] == ["flop_table.bin"]
        looked_up = flop_table.flop_strengths(holes, flops)
        assert looked_up.tobytes() == computed.tobytes()

    @pytest.mark.long
    def test_a_build_that_was_stopped_goes_on(self, small, monkeypatch) -> None:
        path, done = flop_table.table_path(), []
        real = flop_table.flop_rows

        def until(flop: int) -> bytes:
            if flop == 7:
                raise KeyboardInterrupt
            return real(flop)

        monkeypatch.setattr(flop_table, "flop_rows", until)
        with pytest.raises(KeyboardInterrupt):
            flop_table.build(path)
        assert not path.exists()
        [part] = path.parent.iterdir()
        part.write_bytes(part.read_bytes()[:-5])  # as a kill in mid-write leaves it

        def count(flop: int) -> bytes:
            done.append(flop)
            return real(flop)

        monkeypatch.setattr(flop_table, "flop_rows", count)
        flop_table.build(path)
        assert done == list(range(6, 12))
        resumed = path.read_bytes()
        path.unlink()
        monkeypatch.setattr(flop_table, "flop_rows", real)
        flop_table.build(path)
        assert path.read_bytes() == resumed

    @pytest.mark.long
    def test_a_damaged_table_is_not_used(self, small) -> None:
        path = flop_table.table_path()
        flop_table.build(path)
        data = bytearray(path.read_bytes())
        data[-100] ^= 1
        path.write_bytes(data)
        with pytest.raises(CbrError, match=r"damaged; `cbr tables build --force`"):
            flop_table.load(path)
        holes, flops = self.positions()
        with pytest.warns(UserWarning, match="computed instead"):
            found = flop_table.flop_strengths(holes[:5], flops[:5])
        assert np.abs(found - strengths(holes[:5], flops[:5])).max() < 1 / 65535
        for text in (b"", b"hello\n", b'{"format": "cbr-flop-table", "version": 9}\n'):
            path.write_bytes(text)
            with pytest.raises(CbrError, match="cbr tables build"):
                flop_table.load(path)

    def test_one_build_at_a_time(self, small) -> None:
        fcntl = pytest.importorskip("fcntl")
        path = flop_table.table_path()
        part = path.with_name("flop_table.bin.v1.part")
        with part.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with pytest.raises(CbrError, match="another process is building"):
                flop_table.build(path)

    @pytest.mark.long
    def test_killing_a_build(self, tmp_path: Path) -> None:
        """SIGKILL leaves whole flops and half of one at most; the next build goes on from there."""
        script = "from cbr_holdem.strength import flop_table as f; f.build(f.table_path())"
        process = subprocess.Popen([sys.executable, "-c", script])
        part = tmp_path / "flop_table.bin.v1.part"
        deadline = time.monotonic() + 600
        while not (part.exists() and part.stat().st_size > 20_000) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(600)
        data = part.read_bytes()
        start = flop_classes().start
        whole = int(np.searchsorted(start, len(data) // 14, "right")) - 1
        assert whole >= 1
        expected = b"".join(flop_table.flop_rows(flop) for flop in range(whole))
        assert data[: len(expected)] == expected

    @pytest.mark.slow
    def test_the_whole_table(self) -> None:
        """Some minutes: every class, compared with values computed one by one."""
        path = flop_table.table_path()
        flop_table.build(path)
        assert path.stat().st_size < 25e6
        rng = np.random.default_rng(5)
        deck = np.array([rng.permutation(52)[:5] for _ in range(2000)], np.uint8)
        holes, flops = deck[:, :2].copy(), deck[:, 2:].copy()
        found = flop_table.flop_strengths(holes, flops)
        flop_table._loaded.cache_clear()
        path.unlink()
        assert found.tobytes() == flop_table.flop_strengths(holes, flops).tobytes()


@pytest.mark.long
def test_hand_strength_alone_and_again() -> None:
    """Many hands at once, some of them twice, on boards of every length."""
    rng = np.random.default_rng(5)
    cards = np.array([rng.permutation(52)[:7] for _ in range(60)], np.uint8)
    cards = np.concatenate([cards, cards[::2], cards[:9]])
    shown = np.resize([0, 3, 4, 5, 5], len(cards))
    found = hand_strengths(cards[:, :2], cards[:, 2:], shown)
    for (one, two, *board), count, hs in zip(cards.tolist(), shown, found, strict=True):
        if count == 0:
            assert np.isnan(hs)
        else:
            assert hs == strength_of([one, two], board[:count]).hs
