"""The search: against exact values, in any batch, and with opponents who cannot see our cards."""

from __future__ import annotations

import numpy as np
import pytest

from cbr_arena import Chance
from cbr_holdem.cards import HANDS, UNKNOWN, cards
from cbr_holdem.situation import Pending
from cbr_holdem.strength import hand_number
from cbr_holdem.table import (
    ACTOR,
    BIG_BLIND,
    BOARD,
    HOLE,
    PAID,
    PARTS,
    PAYOFF,
    PLAYERS,
    Game,
    act,
    deal_all,
    new_tables,
    raise_limits,
    step_all,
)
from cbr_mcts import SearchBot
from cbr_mcts.beliefs import observed_move
from cbr_mcts.bot import new_found
from cbr_mcts.corrections import CELLS, KINDS, LOGITS, TRAITS
from cbr_mcts.search import Roots, search_all
from cbr_mcts.simulation import chances_at, deal_hidden, fill_guide, strength_of_actor
from cbr_opponents import (
    CLASSES,
    CONTEXTS,
    PRICE_CLASSES,
    PROFILE,
    RAISE_SIZES,
    ArrayModel,
    OpponentModel,
    ranges_of,
    save_model,
)

LIMIT, NO_LIMIT = Game("limit"), Game("nolimit")
BOARD_DEALT = "QsJs2d3h9c"


def some_model(moves: int, seed: int = 0) -> OpponentModel:
    """Players whose moves depend on the situation and the hand, at random."""
    rng = np.random.default_rng(seed)
    grid = rng.dirichlet(np.full(moves, 0.7), (4, CONTEXTS, CLASSES)) * 0.94 + 0.06 / moves
    grid[:, : CONTEXTS // PRICE_CLASSES, :, 0] = 0.0
    return OpponentModel.of(grid / grid.sum(axis=-1, keepdims=True))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for betting, sizes in RAISE_SIZES.items():
        save_model(folder / f"{betting}.npz", some_model(2 + len(sizes)), betting)
    return folder


def table(
    game: Game, actions: str = "", holes: str = "7d2cAhKs", stack: int = 10_000
) -> np.ndarray:
    """The table after some actions as the player to act sees it; raises are the least legal."""
    rows = new_tables(1).rows
    seats = len(holes) // 4
    deck = np.concatenate([cards(holes), cards(BOARD_DEALT)])[None].astype(np.uint8)
    deal_all(rows, game.terms, seats, np.full((1, seats), stack), deck)
    for action in actions:
        step_all(rows, game.terms, np.array(["fcr".index(action)]), np.array([0]))
    return Pending(rows, game, np.array([0])).seen()


def roots_at(bot: SearchBot, rows: np.ndarray, game: Game, first: int = 1) -> Roots:
    """Decisions of strangers."""
    engine, count = bot.engine_of(game), len(rows)
    profiles = np.zeros((count, len(engine.models), 10, PROFILE), np.uint8)
    return Roots(
        rows,
        game.terms,
        np.ones((count, 10, len(engine.models))),
        np.full((count, len(engine.players.considered)), np.nan),
        profiles,
        np.ones((*profiles.shape[:3], CELLS, KINDS)),
        np.zeros((*profiles.shape[:3], LOGITS, TRAITS)),
        np.arange(first, first + count).astype(np.uint64),
    )


def searched(bot: SearchBot, rows: np.ndarray, game: Game):
    engine = bot.engine_of(game)
    found = new_found(len(rows), len(engine.players.considered))
    roots = roots_at(bot, rows, game)
    search_all(roots, engine.settings, engine.players, engine.work, bot.iterations, True, found)
    return found


# --- exact values ---------------------------------------------------------------------------------


def expectimax(row, game, model, root, own, hands, weights):
    """Our exact value of a river table in big blinds, times the sum of the weights [n] of the
    opponent's `hands` [n]; a list of values by move where we are to act at the root."""
    if row[ACTOR] < 0:
        if row[PLAYERS] == 1:
            paid = row[PAYOFF + own] / PARTS + root[PAID + own]
            return weights.sum() * paid / game.big_blind
        total = 0.0
        for hand, weight in zip(hands, weights, strict=True):
            end = row.copy()
            end[HOLE + 2 * (1 - own) : HOLE + 2 * (1 - own) + 2] = HANDS[hand]
            from cbr_holdem.table import settle

            settle(end, game.terms)
            total += weight * (end[PAYOFF + own] / PARTS + root[PAID + own]) / game.big_blind
        return total
    _least, most = raise_limits(row, game.terms)
    mine = row[ACTOR] == own
    shares = None if mine else model.chances(np.repeat(row[None], len(hands), 0), game, hands)[0]
    values = []
    for move in range(3):
        top = row[25:35].max()
        facing = top > row[25 + row[ACTOR]]
        if (move == 0 and not facing) or (move == 2 and not most):
            values.append(-np.inf if mine else 0.0)
            continue
        after = row.copy()
        # The opponent's cards must be known to end the hand; any will do until they are compared.
        after[HOLE + 2 * (1 - own) : HOLE + 2 * (1 - own) + 2] = HANDS[hands[0]]
        act(after, game.terms, move, most if move == 2 else 0)
        part = weights if mine else weights * shares[:, move]
        values.append(expectimax(after, game, model, root, own, hands, part))
    if row is root:
        return values
    return max(values) if mine else sum(values)


@pytest.mark.parametrize("actions", ["cccccc", "ccrcccr"])
@pytest.mark.parametrize("backup", ["mean", "max", "max-distribution"])
def test_values_on_the_river_approach_expectimax(models, actions, backup):
    """With few cards hidden the values of all moves are computed exactly."""
    rows = table(LIMIT, actions)
    row, own = rows[0], int(rows[0, ACTOR])
    arrays = some_model(3)
    weights = ranges_of(rows, LIMIT.terms, arrays)[0, 1 - own]
    hands = np.flatnonzero(weights)
    exact = expectimax(row, LIMIT, ArrayModel(arrays), row, own, hands, weights[hands])
    bot = SearchBot(model=f"file:{models}/limit.npz", iterations=60_000, backup=backup, c=2.0)
    found = searched(bot, rows, LIMIT)
    best = int(np.argmax(exact))
    assert int(np.argmax(np.where(found.visits[0] > 0, found.values[0], -np.inf))) == best
    assert found.values[0, best] == pytest.approx(exact[best], abs=0.12)
    assert (found.visits[0] < 0).tolist() == [not np.isfinite(value) for value in exact]
    assert not found.faults.any()


def test_beliefs_are_the_ranges_of_the_models(models):
    rows = table(LIMIT, "crccrrcrc", holes="7d2cAhKsTc9d")
    bot = SearchBot(model=f"file:{models}/limit.npz", iterations=5)
    searched(bot, rows, LIMIT)
    _tree, belief, _scene = bot.engine_of(LIMIT).work
    expected = ranges_of(rows, LIMIT.terms, some_model(3))[0]
    for seat in range(3):
        if seat != rows[0, ACTOR]:
            weights = np.diff(belief.sums[0, seat], prepend=0.0)
            np.testing.assert_allclose(weights / weights.sum(), expected[seat], atol=1e-12)


@pytest.mark.long  # the search is compiled for two models
def test_a_model_that_explains_the_moves_becomes_likely(models, tmp_path):
    """Two models; an opponent who raises is the one who raises often, by Bayes' rule."""
    for name, chance in (("rarely", 0.1), ("often", 0.8)):
        grid = np.zeros((4, CONTEXTS, CLASSES, 3))
        grid[..., 2] = chance
        grid[..., 1] = 1.0 - chance
        save_model(tmp_path / f"{name}.npz", OpponentModel.of(grid), "limit")
    spec = f"(file:{tmp_path}/rarely.npz),(file:{tmp_path}/often.npz)"
    bot = SearchBot(model=spec, iterations=50)
    rows = table(LIMIT, "r")
    searched(bot, rows, LIMIT)
    _tree, belief, _scene = bot.engine_of(LIMIT).work
    opponent = 1 - int(rows[0, ACTOR])
    shares = np.diff(belief.models[opponent], prepend=0.0)
    np.testing.assert_allclose(shares / shares.sum(), [0.1 / 0.9, 0.8 / 0.9], rtol=1e-9)


# --- invariance -----------------------------------------------------------------------------------


def test_roots_have_the_same_result_in_any_batch(models, monkeypatch):
    bot = SearchBot(model=f"file:{models}/limit.npz", iterations=200)
    rows = np.concatenate(
        [table(LIMIT, actions) for actions in ("", "c", "r", "cc", "ccc", "ccrr", "cccc")]
    )
    together = bot.search(*situations(rows, LIMIT))
    for at in range(len(rows)):
        alone = bot.search(*situations(rows[at : at + 1], LIMIT, at))
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_array_equal(one[at], other[0])
    monkeypatch.setattr("cbr_mcts.bot._AT_ONCE", 400)
    for one, other in zip(together, bot.search(*situations(rows, LIMIT)), strict=True):
        np.testing.assert_array_equal(one, other)


def situations(rows, game, first=0):
    """What `SearchBot.search` takes."""
    count = len(rows)
    deal = np.arange(first, first + count)
    chance = Chance(3, deal, np.zeros(count, np.int64), np.zeros(count, np.int64))
    return Pending(rows, game, np.arange(count)), rows, None, chance


def test_moves_of_the_root_are_compared_on_the_same_deals(models):
    """The k-th visit of a move brings the same reward whatever was tried between."""

    def rewards(select: str, deals: str = "common") -> dict[tuple[int, int], float]:
        spec = f"file:{models}/limit.npz"
        bot = SearchBot(
            model=spec, iterations=1, nodes=1, select=select, deals=deals, root="rule", fold="tried"
        )
        rows, engine = table(LIMIT, "cc"), bot.engine_of(LIMIT)
        found, roots = new_found(1, 3), roots_at(bot, rows, LIMIT)
        tree, seen = engine.work[0], {}
        before = np.zeros((2, 3))
        for number in range(150):
            search_all(roots, engine.settings, engine.players, engine.work, 1, not number, found)
            now = np.array([tree.visits[0], tree.reward[0]])
            move = int((now - before)[0].argmax())
            seen[move, int(now[0, move])] = float((now - before)[1, move])
            before = now
        return seen

    one, other = rewards("ucb1"), rewards("puct")
    both = one.keys() & other.keys()
    assert len(both) > 40
    assert one.keys() != other.keys()
    assert all(one[key] == pytest.approx(other[key], abs=1e-9) for key in both)
    fresh = rewards("ucb1", "fresh")
    assert sum(one[key] != pytest.approx(fresh[key]) for key in one.keys() & fresh.keys()) > 10


# --- what opponents know --------------------------------------------------------------------------


@pytest.mark.parametrize("actions", ["", "cc", "cccc", "cccccc"])
def test_opponents_do_not_see_our_cards(models, actions):
    """Their chances depend on their own hand and the public cards; ours only take cards away."""
    bot = SearchBot(model=f"file:{models}/limit.npz", iterations=10)
    engine = bot.engine_of(LIMIT)
    rows = table(LIMIT, actions)
    searched(bot, rows, LIMIT)
    _tree, belief, scene = engine.work
    found = []
    for hole in ("AhKs", "4c4d", "Ts8s"):
        row, own = rows[0].copy(), int(rows[0, ACTOR])
        row[HOLE + 2 * own : HOLE + 2 * own + 2] = cards(hole)
        deal_hidden(row, own, belief, scene, np.uint64(4))
        row[HOLE + 2 * (1 - own) : HOLE + 2 * (1 - own) + 2] = cards("7d2c")
        row[BOARD : BOARD + 5] = cards(BOARD_DEALT)
        scene.space.known[:] = -1
        act(row, LIMIT.terms, 1, 0)
        assert row[ACTOR] == 1 - own
        strength = strength_of_actor(row, True, scene)
        chances_at(row, LIMIT.terms, strength, 0, engine.players.models, scene)
        found.append(scene.space.chances.copy())
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_no_card_is_dealt_twice(models):
    bot = SearchBot(model=f"file:{models}/limit.npz", iterations=10)
    rows = table(LIMIT, "ccccc", holes="7d2cAhKsTc9d4h4sKdKc")
    searched(bot, rows, LIMIT)
    _tree, belief, scene = bot.engine_of(LIMIT).work
    seen = set()
    for state in range(200):
        row = rows[0].copy()
        deal_hidden(row, int(row[ACTOR]), belief, scene, np.uint64(state))
        dealt = [*row[HOLE : HOLE + 10], *row[BOARD : BOARD + 5]]
        assert len(set(dealt)) == 15
        assert max(dealt) < UNKNOWN
        seen.add(tuple(dealt))
    assert len(seen) > 190


def test_hands_of_several_opponents_are_drawn_together(models):
    """One holds AsAh or KsKh, another AsAd or QsQh: the three deals without a clash are equally
    likely, whoever is dealt first."""
    bot = SearchBot(model=f"file:{models}/limit.npz", iterations=10)
    rows = table(LIMIT, "", holes="7d2cAhKsTc9d")
    searched(bot, rows, LIMIT)
    _tree, belief, scene = bot.engine_of(LIMIT).work
    own = int(rows[0, ACTOR])
    one, two = (seat for seat in range(3) if seat != own)
    for seat, pairs in ((one, ("AsAh", "KsKh")), (two, ("AsAd", "QsQh"))):
        weights = np.zeros(len(HANDS))
        for pair in pairs:
            weights[hand_number(*sorted(cards(pair)))] = 1.0
        belief.sums[0, seat] = weights.cumsum()
        fill_guide(belief.sums[0, seat], belief.guide[0, seat])
    ace, found = cards("As")[0] >> 2, []
    for state in range(3_000):
        row = rows[0].copy()
        deal_hidden(row, own, belief, scene, np.uint64(state))
        has = [row[HOLE + 2 * seat] >> 2 == ace for seat in (one, two)]
        assert not all(has)
        found.append(has[0])
    assert np.mean(found) == pytest.approx(1 / 3, abs=0.03)


# --- limits and faults ----------------------------------------------------------------------------


def test_a_tree_has_no_more_nodes_than_it_may(models):
    for nodes in (1, 2, 40):
        bot = SearchBot(model=f"file:{models}/limit.npz", iterations=3_000, nodes=nodes)
        found = searched(bot, table(LIMIT), LIMIT)
        assert found.nodes[0] == nodes
        assert found.visits[0].clip(0).sum() == 3_000


def test_many_roots_need_the_memory_of_one(models):
    """1,000 roots of 1,000 iterations: far below a gigabyte."""

    def size(part):
        return part.nbytes if isinstance(part, np.ndarray) else sum(map(size, part))

    bot = SearchBot(model=f"file:{models}/nolimit.npz", iterations=1_000)
    work = bot.engine_of(NO_LIMIT).work
    assert size(tuple(work)) + size(tuple(new_found(1_000, 13))) < 20_000_000


def test_a_model_without_chances_is_a_fault(models, monkeypatch):
    from cbr_mcts import bot as module

    model = module.models_of(f"file:{models}/limit.npz", "limit")[0]
    for wrong in (np.nan, 0.0):
        broken = model.arrays._replace(grid=np.full_like(model.arrays.grid, wrong))
        broken.grid[0, 0, 0, 0] = 0.5  # so that the hand seems to matter
        made = (model._replace(arrays=broken),)
        monkeypatch.setattr(module, "models_of", lambda *_, made=made: made)
        bot = SearchBot(model="uniform", iterations=50, learn=False)
        given, _rows, memory, chance = situations(table(LIMIT, "cc"), LIMIT)
        shares = bot.act(given, memory, chance).shares
        assert shares.sum() == pytest.approx(1.0)
        assert any("chances" in reason for _, reason in bot.take_faults())
        assert bot.take_faults() == []


def test_we_raise_only_by_sizes_that_are_considered(models):
    bot = SearchBot(model=f"file:{models}/nolimit.npz", iterations=400, sizes="1,all-in")
    found = searched(bot, table(NO_LIMIT, "rc", stack=1_000), NO_LIMIT)
    assert np.flatnonzero(found.visits[0] >= 0).tolist() == [1, 2 + 4, 2 + 10]


def test_sizes_between_two_classes_count_as_either_by_their_ratio():
    """A raise of 5/8 pot is between 1/2 and 3/4: c/b = .8, c/d = 2/3, so 1/2 in 40 %."""
    row = table(NO_LIMIT, "cc", stack=100_000)[0]
    sizes = RAISE_SIZES["nolimit"]
    pot = 2 * NO_LIMIT.big_blind
    row[PAID : PAID + 2] += 980  # a pot of 1,980 and more, so that sizes differ in whole chips
    pot += 2 * 980
    by = 5 * pot // 8
    given = [
        observed_move(row, NO_LIMIT.terms, sizes, 2, by, 13, (at + 0.5) / 1_000)
        for at in range(1_000)
    ]
    assert {2 + 2, 2 + 3} == set(given)
    assert given.count(2 + 2) == pytest.approx(400, abs=5)
    assert observed_move(row, NO_LIMIT.terms, sizes, 2, pot, 13, 0.5) == 2 + 4
    assert NO_LIMIT.terms[BIG_BLIND] == NO_LIMIT.big_blind
