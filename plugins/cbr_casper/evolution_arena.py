"""The arena in which weights of the CBR bot are evolved: limit and no-limit tables.

Each row of weights plays at its own table, among the same opponents, in the same seats, with the
same deals and random numbers, so that differences between rows are paired; remaining luck is
estimated by control variates and subtracted. Or all rows sit at one table, as CASPER's did, alone
(self-play) or with opponents; then the score is the plain winnings.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import cycle, islice
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import Arena, BadValue, Casebase, CaseType, Contest, Gene
from cbr.errors import NoSuchName, PluginFailure
from cbr.plugging import default_plugins
from cbr.spec import Spec, several
from cbr.typing import Flags, Floats, Ints
from cbr_arena import (
    TERMS,
    Chance,
    Room,
    Sitting,
    Triples,
    all_in,
    build,
    factors_of_luck,
    once,
    payoffs,
    players_of,
    verify_adjustment,
)
from cbr_casper.acting import Part, act_by_parts, size_draws
from cbr_casper.bot import CaseBot
from cbr_casper.options import BotOptions, spec_of
from cbr_casper.streets import ActionChances, Street
from cbr_holdem.situation import BETTING, Pending
from cbr_holdem.table import MOST_SEATS, PARTS, Game

#: Opponents, and seats of their table, if none are named.
_OTHERS, _SEATS = "loki", 9
#: Approximate number of tables that are played in lockstep.
_AT_ONCE = 8_192
#: Most pairs of policy and reuse whose streets are kept in memory, since each has a cache.
_SETTINGS = 32
#: Hands of a row that one worker plays at a time.
_PIECE = 1_250
#: Hands on which the factors of luck terms are fitted, and their seed, which no search uses.
_PILOT, _PILOT_SEED = 2_000, 2**62 + 1

#: Extra genes, and the parameter that each sets: of the retrieval policy (the first two) or of the
#: reuse policy. A gene starts from the bot's own value.
GENES = {"threshold": "above", "cap": "cap", "temperature": "temperature", "imitate": "imitate"}


def open_table(
    file: Path,
    rows: int,
    together: bool,
    against: str = "",
    style: str = BotOptions.style,
    policy: str = BotOptions.policy,
    reuse: str = BotOptions.reuse,
    genes: str = "",
    block: int = 50,
    adjust: str = "aivat",
) -> Contest:
    """The contest in which rows of weights for a casebase's bot are played."""
    verify_adjustment(adjust)
    if not 1 <= block <= 10_000:
        raise BadValue(f"block={block} hands; it must be 1 to 10,000")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a lack of learned weights is what evolution is for
        bot = CaseBot(str(file), style, policy=policy, reuse=reuse, adapt=False)
    with Casebase.open(file) as base:
        case_types, betting = base.case_types, BETTING[base.domain]
    settings = _Settings(bot, genes)
    others = [player.spec for player in players_of(several(against))]
    if not together:
        others = _opponents_of_one_row(others, rows)
    seats = (rows if together else 1) + len(others)
    if not 2 <= seats <= MOST_SEATS:
        raise BadValue(
            f"{rows if together else 1} rows of weights and {len(others)} opponents; a table has "
            f"2 to {MOST_SEATS} seats"
        )
    if bot.doubts(seats) and parent_process() is None:  # only the first process warns
        warnings.warn(bot.doubts(seats), stacklevel=1)
    table = _Table(bot, case_types, settings, others, betting, together, block, adjust)
    return Contest(
        table.play,
        settings.genes,
        unit="sb/h" if betting == "limit" else "bb/h",
        trial="hand",
        trials=block,
        piece=max(1, _PIECE // block),
        together=together,
        usage=settings.usage,
    )


ARENA = Arena(
    "holdem",
    meaning="the CBR bot at a table: holdem?against=loki*8&style=casper",
    open=open_table,
    domains=tuple(BETTING),
)


class _Settings:
    """Retrieval and reuse of the arena's bot, and the genes that set their parameters."""

    def __init__(self, bot: CaseBot, genes: str) -> None:
        self.bot = bot
        street = bot.streets[0]
        self.policy = Spec.parse(bot.policy or street.case_type.retrieval)
        self.reuse = Spec.parse(street.reuse)
        names = [name.strip() for name in genes.split(",") if name.strip()]
        for name in names:
            if name not in GENES:
                raise NoSuchName("gene of arena 'holdem'", name, GENES)
            if self._in_reuse(name) and self.reuse.name != "worth":
                raise BadValue(
                    f"gene {name!r} is for reuse=worth, and {bot.file} is played with reuse="
                    f"{self.reuse.name}; give reuse=worth, after `cbr label` if it has no values"
                )
            if not self._in_reuse(name) and self.policy.name != "threshold":
                raise BadValue(
                    f"gene {name!r} is for the policy 'threshold', not {self.policy.name!r}"
                )
        self.genes = tuple(self._gene(name) for name in names)

    @staticmethod
    def _in_reuse(name: str) -> bool:
        return name in {"temperature", "imitate"}

    def _gene(self, name: str) -> Gene:
        kind, spec = "retrieval policy", self.policy
        if self._in_reuse(name):
            kind, spec = "reuse policy", self.reuse
        start = float(default_plugins().get(kind, spec.name).bind(spec).settled[GENES[name]])
        if name == "threshold":
            low, high = min(start, 0.9), max(start, 0.995)
            return Gene(name, low, high, start, "similarity above which all cases count")
        if name == "imitate":
            return Gene(name, 0.0, 1.0, start, "how much the shares of cases count")
        if name == "cap":
            return Gene(name, max(1.0, start / 5), 3 * start, start, "most cases that count")
        return Gene(name, start / 5, 5 * start, start, "how much values count: less is more")

    def of(self, found: Mapping[str, float]) -> tuple[str, str]:
        """Policy and reuse with the values of the genes; unchanged where no gene applies."""
        policy = {GENES[name]: value for name, value in found.items() if not self._in_reuse(name)}
        reuse = {
            GENES[name]: float(f"{value:.3g}")
            for name, value in found.items()
            if self._in_reuse(name)
        }
        if "above" in policy:
            policy["above"] = round(policy["above"], 4)
        if "cap" in policy:
            policy["cap"] = round(policy["cap"])
        return (
            str(Spec("threshold", {**self.policy.parameters, **policy}))
            if policy
            else self.bot.policy,
            str(Spec("worth", {**self.reuse.parameters, **reuse})) if reuse else self.bot.reuse,
        )

    def usage(self, found: Mapping[str, float], weights: str) -> str:
        """The spec of the bot with these genes and this weights file."""
        policy, reuse = self.of(found)
        return spec_of(
            self.bot.file, weights=weights, style=self.bot.style, policy=policy, reuse=reuse
        )


def _opponents_of_one_row(others: Sequence[str], rows: int) -> list[str]:
    """The opponents of a row at its own table, repeated to fill the seats of the other rows."""
    if not others:
        return [_OTHERS] * ((rows if rows > 1 else _SEATS) - 1)
    return list(islice(cycle(others), len(others) + rows - 1))


@dataclass(frozen=True, eq=False)
class _Group:
    """Rows that share policy and reuse: which rows they are [n], their streets, and the weights of
    all rows by street [n, d]."""

    mine: NDArray[np.bool_]
    streets: Sequence[Street]
    weights: Sequence[Floats]


class _Rows:
    """The CBR bot with a row of weights for each player, so that the decisions of all rows are one
    batch. Its memory holds the row of each player."""

    memory = np.dtype([("row", np.int64)])

    def __init__(self, bot: CaseBot, groups: Sequence[_Group]) -> None:
        self.games, self.groups = bot.games, groups

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        uniform = size_draws(self.games, chance)
        return act_by_parts(situations, uniform, self._parts(situations, memory["row"]))

    def _parts(self, situations: Pending, row: Ints) -> Iterator[Part]:
        """The decisions of each group and street."""
        for group in self.groups:
            mine = group.mine[row]
            for number, street in enumerate(group.streets):
                places = np.flatnonzero(mine & (situations.place[:, 0] == number))
                yield Part(places, street, partial(_decide, street, group.weights[number], row))


def _decide(
    street: Street,
    weights: Floats,
    row: Ints,
    situations: Pending,
    allowed: Flags,
    places: Ints,
) -> ActionChances:
    """Decisions at some `places`, each by the weights of its player's row."""
    return street.decide(situations, allowed, weights[row[places]])


class _Table:
    """The table of a contest: its bots, game and seats."""

    def __init__(
        self,
        bot: CaseBot,
        case_types: Sequence[CaseType],
        settings: _Settings,
        others: Sequence[str],
        betting: str,
        together: bool,
        block: int,
        adjust: str,
    ) -> None:
        self.bot, self.settings, self.together, self.block = bot, settings, together, block
        self.adjust = "none" if together else adjust
        own = [feature.weight for case_type in case_types for feature in case_type.indexed]
        self.own = np.array([*own, *(gene.start for gene in settings.genes)], np.float64)
        self.ends = np.cumsum([len(case_type.indexed) for case_type in case_types])
        self.game = Game(betting=betting)
        self.stack = (1_000 if betting == "limit" else 100) * self.game.big_blind
        specs = list(dict.fromkeys(others))
        self.opponents = [once(build(spec, betting)) for spec in specs]
        self.other_of = np.array([specs.index(spec) for spec in others], np.int64)
        self._streets: dict[tuple[str, str], Sequence[Street]] = {}

    def play(self, weights: Floats, blocks: int, seed: int) -> Floats:
        """Small bets (big blinds) a hand in each block, [n, blocks]."""
        won, luck = self._hands(weights, blocks * self.block, seed, self.adjust == "aivat")
        if luck is not None:
            # Term by term: a matrix product may round differently in a batch of another size.
            for term, factor in enumerate(self._factors):
                won -= factor * luck[..., term]
        scores: Floats = won.reshape(len(weights), blocks, self.block).mean(axis=2)
        return scores

    @cached_property
    def _factors(self) -> Floats:
        """The factors of luck terms at this table, fitted on separate deals."""
        won, luck = self._hands(self.own[None, :], _PILOT, _PILOT_SEED, True)
        assert luck is not None
        # Rounded, so that machines with different floating-point rounding agree.
        return factors_of_luck(won[0], luck[0]).round(4)

    def _hands(
        self, weights: Floats, deals: int, seed: int, follow: bool
    ) -> tuple[Floats, Floats | None]:
        """The winnings of each row [n, deals] in small bets (big blinds), and its luck terms [n,
        deals, terms] if `follow`."""
        rows, others = len(weights), len(self.other_of)
        # Players are the rows and then the opponents. One bot decides for all rows.
        bot_of = np.concatenate([np.zeros(rows, np.int64), 1 + self.other_of])
        bots = [_Rows(self.bot, self._groups(weights)), *self.opponents]
        room = Room(self.game, self.stack, seed, bots, bot_of, follow_luck=follow)
        seats = (rows if self.together else 1) + others
        won = np.zeros((rows, deals))
        luck = np.zeros((rows, deals, len(TERMS))) if follow else None
        for sitting in self._sittings(room, rows, deals, seats):
            tables = room.play(sitting)
            if self.adjust == "none":
                earned = payoffs(tables, seats) / PARTS
            else:
                earned = all_in(tables, self.game.terms, seed, sitting.deal)
            mine = sitting.player < rows
            deal = np.repeat(sitting.deal[:, None], seats, axis=1)
            where = (sitting.player[mine], deal[mine])
            won[where] = earned[mine]
            if luck is not None and room.luck is not None:
                luck[where] = room.luck.terms[mine]
        for player, reason in room.faults:
            who = "the CBR bot" if player < rows else "an opponent"
            raise PluginFailure(f"{who} failed: {reason}")
        bet = self.game.big_blind
        return won / bet, None if luck is None else luck / bet

    def _groups(self, weights: Floats) -> list[_Group]:
        """Rows grouped by policy and reuse, with the streets for each group."""
        *by_street, extra = np.split(weights, self.ends, axis=1)
        names = [gene.name for gene in self.settings.genes]
        settings = [self.settings.of(dict(zip(names, row, strict=True))) for row in extra.tolist()]
        groups = []
        for one in dict.fromkeys(settings):
            if one not in self._streets:
                if len(self._streets) >= _SETTINGS:
                    self._streets.clear()
                self._streets[one] = [street.with_settings(*one) for street in self.bot.streets]
            mine = np.array([other == one for other in settings])
            groups.append(_Group(mine, self._streets[one], by_street))
        return groups

    def _sittings(self, room: Room, rows: int, hands: int, seats: int) -> Iterator[Sitting]:
        """All hands: in parallel, or one after another in each block if an opponent has memory."""
        lanes = 1 if self.together else rows
        deals, blocks = np.arange(hands), -(-hands // self.block)
        remembers = any(getattr(bot, "memory", None) is not None for bot in self.opponents)
        room.begin(lanes * blocks if remembers else 1)
        for row, memory in enumerate(room.memory[:rows]):
            if memory is not None:
                memory["row"] = row
        if remembers:
            steps = [deals[deals % self.block == step] for step in range(self.block)]
        else:
            size = max(1, _AT_ONCE // lanes)
            steps = [deals[at : at + size] for at in range(0, len(deals), size)]
        for some in steps:
            deal, lane = np.tile(some, lanes), np.repeat(np.arange(lanes), len(some))
            session = lane * blocks + deal // self.block if remembers else 0 * deal
            yield Sitting(deal, self._seating(deal, lane, rows, seats), session)

    def _seating(self, deal: Ints, lane: Ints, rows: int, seats: int) -> Ints:
        """The player of each seat, [n, seats]; players move by one seat with each deal."""
        place: Ints = (np.arange(seats) + deal[:, None]) % seats
        if self.together:
            return place
        return np.where(place == 0, lane[:, None], rows + place - 1)
