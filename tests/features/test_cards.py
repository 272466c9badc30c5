"""Cards, the evaluator against counts and strangers, and ranges."""

from __future__ import annotations

import itertools
from math import comb

import eval7
import numpy as np
import phevaluator
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbr.errors import BadValue
from cbr_holdem.cards import (
    CATEGORIES,
    CLASSES,
    HANDS,
    card,
    cards,
    categories,
    category,
    evaluate,
    hand_class,
    hands_of,
    name,
    names,
    rating,
    strength,
)

FIVE = [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]
SEVEN = [23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584]


def deals(count: int, size: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.argsort(rng.random((count, 52)), axis=1)[:, :size].astype(np.uint8)


class TestCard:
    def test_names_and_numbers(self) -> None:
        assert [card(name(number)) for number in range(52)] == list(range(52))
        assert (card("ah"), card("AH"), card("10h"), card("Th")) == (50, 50, 34, 34)
        assert cards("AhKs") == cards("Ah Ks") == cards("Ah,Ks") == [50, 47]
        assert cards("") == []
        assert names([50, 47]) == "Ah Ks"

    @pytest.mark.parametrize("text", ["1h", "Ax", "A", "Ahh", "AhK", "Zz", "A♥"])
    def test_what_is_no_card_is_named(self, text: str) -> None:
        with pytest.raises(BadValue, match="is not a card; a card is a rank"):
            cards(text)

    def test_a_card_twice_is_named(self) -> None:
        with pytest.raises(BadValue, match="Ah is twice in the board"):
            cards("Ah Kd Ah", "board")

    def test_all_hands(self) -> None:
        assert len(HANDS) == comb(52, 2)
        assert (HANDS[:, 0] < HANDS[:, 1]).all()


class TestEvaluator:
    @pytest.mark.long
    def test_all_five_card_hands(self) -> None:
        hands = np.array(list(itertools.combinations(range(52), 5)), np.uint8)
        found = evaluate(hands)
        assert np.bincount(categories(found))[1:].tolist() == FIVE
        assert sorted(set(found.tolist())) == list(range(1, 7463))

    @pytest.mark.slow
    def test_all_seven_card_hands(self) -> None:
        """133,784,560 of them, by their two lowest cards."""
        counts = np.zeros(10, np.int64)
        fives = np.array(list(itertools.combinations(range(52), 5)), np.uint8)
        for low in range(46):
            for second in range(low + 1, 47):
                rest = fives[-comb(51 - second, 5) :]  # in order: of higher cards only
                hands = np.empty((len(rest), 7), np.uint8)
                hands[:, 0], hands[:, 1], hands[:, 2:] = low, second, rest
                counts += np.bincount(categories(evaluate(hands)), minlength=10)
        assert counts[1:].tolist() == SEVEN

    @pytest.mark.long
    @pytest.mark.parametrize("size", [5, 6, 7])
    def test_two_strangers_agree(self, size: int) -> None:
        """The order of every two hands is the order that eval7 and phevaluator give them."""
        hands = deals(20_000, size)
        mine = evaluate(hands).astype(int)
        texts = [[name(c) for c in hand] for hand in hands]
        one = np.array([eval7.evaluate([eval7.Card(c) for c in hand]) for hand in texts], np.int64)
        two = -np.array([phevaluator.evaluate_cards(*hand) for hand in texts], np.int64)
        for theirs in (one, two):
            order = np.argsort(theirs, kind="stable")
            rises = np.diff(theirs[order]) > 0
            assert (np.diff(mine[order])[rises] > 0).all()
            assert (np.diff(mine[order])[~rises] == 0).all()

    @pytest.mark.parametrize("size", [6, 7])
    def test_more_cards_are_the_best_five_of_them(self, size: int) -> None:
        hands = deals(2_000, size, seed=2)
        fives = [evaluate(hands[:, list(five)]) for five in itertools.combinations(range(size), 5)]
        assert evaluate(hands).tolist() == np.max(fives, axis=0).tolist()

    @given(st.permutations(range(52)).map(lambda deck: deck[:7]), st.permutations(range(4)))
    def test_order_and_names_of_suits_do_not_matter(self, hand: list, suits: list) -> None:
        other = [4 * (c >> 2) + suits[c & 3] for c in reversed(hand)]
        assert strength(hand) == strength(other)

    @pytest.mark.parametrize(
        ("hand", "expected"),
        [
            ("As Ad Ah Ts Td", (7, 14, 10)),
            ("Qs Qd Qh Js Jd 2c 3d", (7, 12, 11)),
            ("Ks Kd 8h 6s 5d 3c 2d", (2, 13, 8, 6, 5)),
            ("As Ks Qs Js Ts 2c 2d", (9, 14)),
            ("5s 4d 3h 2s Ad Kc Kd", (5, 5)),
            ("5s 4s 3s 2s As Kc Kd", (9, 5)),
            ("2c 2d 2h 2s 3c", (8, 2, 3)),
            ("Ah Kh 9h 5h 2h 3c 3d", (6, 14, 13, 9, 5, 2)),
            ("7c 7d 5h 5s Ac", (3, 7, 5, 14)),
            ("9c 9d 9h As Kc", (4, 9, 14, 13)),
            ("7c 5d 4h 3s 2c", (1, 7, 5, 4, 3, 2)),
        ],
    )
    def test_ratings(self, hand: str, expected: tuple[int, ...]) -> None:
        assert rating(strength(hand)) == expected
        assert category(strength(hand)) == CATEGORIES[expected[0] - 1]

    def test_better_hands_have_better_ratings(self) -> None:
        ratings = [rating(number) for number in range(1, 7463)]
        assert ratings == sorted(ratings)

    @pytest.mark.parametrize("hand", ["As Ks Qs Js", "As Ks Qs Js Ts 9s 8s 7s", "As As Ks Qs Js"])
    def test_other_numbers_of_cards_are_refused(self, hand: str) -> None:
        with pytest.raises(BadValue):
            strength(hand)
        with pytest.raises(BadValue, match=r"\(n, 5\), \(n, 6\) or \(n, 7\)"):
            evaluate(np.zeros((1, 4), np.uint8))

    @pytest.mark.slow
    def test_the_tables_are_what_the_tool_makes(self) -> None:
        import make_evaluator

        made, there = make_evaluator.make(), np.load(make_evaluator.OUT)
        assert set(made) == set(there.files)
        assert all(np.array_equal(made[part], there[part]) for part in made)


class TestRanges:
    @pytest.mark.parametrize(
        ("text", "count"),
        [
            ("AA", 6),
            ("AKs", 4),
            ("AKo", 12),
            ("AK", 16),
            ("TT+", 30),
            ("TT+,AQs+", 38),
            ("99-66", 24),
            ("66-99", 24),
            ("A9s-A5s", 20),
            ("54s-76s", 12),
            ("A2s+", 48),
            ("KTo+", 36),
            ("AhKs", 1),
            ("AhKs,AKo", 12),
            ("any", 1326),
            ("22+", 78),
            ("qjs", 4),
        ],
    )
    def test_counts(self, text: str, count: int) -> None:
        assert len(hands_of(text)) == count

    def test_what_is_in_it(self) -> None:
        assert {hand_class(a, b) for a, b in hands_of("KTs+").tolist()} == {"KTs", "KJs", "KQs"}
        assert {hand_class(a, b) for a, b in hands_of("54s-76s").tolist()} == {"54s", "65s", "76s"}

    @pytest.mark.parametrize(
        "text", ["", "ZZ", "AKſ", "AAs", "AK+s", "A9s-K5s", "AhAh", "AhKsQd", "T"]
    )
    def test_nonsense_is_refused(self, text: str) -> None:
        with pytest.raises(BadValue):
            hands_of(text)

    def test_classes(self) -> None:
        assert len(CLASSES) == 169
        assert sum(len(hands_of(c)) for c in CLASSES) == 1326
        assert sum(c.endswith("s") for c in CLASSES) == sum(c.endswith("o") for c in CLASSES) == 78
