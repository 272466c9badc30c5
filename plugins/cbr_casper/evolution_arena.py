"""The arena in which weights of the CBR bot earn their keep: limit and no-limit tables.

Rows of weights are tried each for itself among the same opponents, in the same seats with the same
deals and the same luck, so that differences between them are paired; what luck is left is taken
out. Or they sit at one table, as CASPER's did: with each other alone (self-play), or with opponents
too; then what they win counts.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cbr import Arena, BadValue, Casebase, CaseType, Contest, Gene
from cbr.errors import NoSuchName, PluginFailure
from cbr.plugging import default_plugins
from cbr.spec import Spec, nest, unnest
from cbr.typing import Floats, Ints
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
from cbr_casper.bot import CaseBot, legal, sizes, triples
from cbr_casper.streets import Street
from cbr_holdem.situation import BETTING, Pending
from cbr_holdem.table import MOST_SEATS, PARTS, Game

#: Who sits opposite if nobody is named.
_OTHERS = "loki"
_SEATS = 9
#: Tables that are played in lockstep, about.
_AT_ONCE = 8_192
#: Policies and ways of reuse for which streets are kept: each remembers answers.
_SETTINGS = 32
#: Hands of a row in one piece of work.
_PIECE = 1_250
#: Hands by which it is found how much terms of luck count, and their seed: searches have others.
_PILOT, _PILOT_SEED = 2_000, 2**62 + 1

#: Extra genes, and what they are in a policy (the first two) and in a reuse; in both the bot's own
#: value is where they start.
GENES = {"threshold": "above", "cap": "cap", "temperature": "temperature", "imitate": "imitate"}


def open_table(
    file: Path,
    rows: int,
    together: bool,
    against: str = "",
    style: str = "heir",
    policy: str = "",
    reuse: str = "",
    genes: str = "",
    block: int = 50,
    adjust: str = "aivat",
) -> Contest:
    """A table for the bot of a casebase."""
    verify_adjustment(adjust)
    if not 1 <= block <= 10_000:
        raise BadValue(f"block={block} hands; it must be 1 to 10,000")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has no learned weights is what this is for
        bot = CaseBot(str(file), style, policy=policy, reuse=reuse, adapt=False)
    with Casebase.open(file) as base:
        case_types, betting = base.case_types, BETTING[base.domain]
    settings = _Settings(bot, unnest(policy), unnest(reuse), genes)
    specs = [unnest(text) for text in against.split(",") if text.strip()]
    others = [player.spec for player in players_of(specs)]
    if not together:
        others = _opposite(others, rows)
    seats = (rows if together else 1) + len(others)
    if not 2 <= seats <= MOST_SEATS:
        raise BadValue(
            f"{rows if together else 1} rows of weights and {len(others)} opponents; a table has "
            f"2 to {MOST_SEATS} seats"
        )
    if bot.doubts(seats) and parent_process() is None:  # one process says it
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
        usage=lambda found, weights: settings.usage(file, weights, style, found),
    )


ARENA = Arena(
    "holdem",
    meaning="the CBR bot at a table: holdem?against=loki*8&style=heir",
    open=open_table,
    domains=tuple(BETTING),
)


class _Settings:
    """How the arena's bot retrieves and reuses, and which genes change that."""

    def __init__(self, bot: CaseBot, policy: str, reuse: str, genes: str) -> None:
        self.given = (policy, reuse)
        street = bot.streets[0]
        self.policy = Spec.parse(policy or street.case_type.retrieval)
        self.reuse = Spec.parse(street.reuse)
        names = [name.strip() for name in genes.split(",") if name.strip()]
        for name in names:
            if name not in GENES:
                raise NoSuchName("gene of arena 'holdem'", name, GENES)
            if self._in_reuse(name) and self.reuse.name != "worth":
                raise BadValue(
                    f"gene {name!r} is for reuse=worth, and {bot.file} is played by reuse="
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
            return Gene(name, 0.0, 1.0, start, "how much it counts what was done")
        if name == "cap":
            return Gene(name, max(1.0, start / 5), 3 * start, start, "cases that count at most")
        return Gene(name, start / 5, 5 * start, start, "how much values count, less is more")

    def of(self, found: Mapping[str, float]) -> tuple[str, str]:
        """Policy and reuse with genes in them; as they were given where there are none."""
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
            else self.given[0],
            str(Spec("worth", {**self.reuse.parameters, **reuse})) if reuse else self.given[1],
        )

    def usage(self, file: Path, weights: str, style: str, found: Mapping[str, float]) -> str:
        """The bot with what was found, as a spec."""
        policy, reuse = map(nest, self.of(found))
        options = {"weights": weights, "style": style, "policy": policy, "reuse": reuse}
        plain = {"style": "heir", "policy": "", "reuse": ""}
        told = "&".join(f"{k}={v}" for k, v in options.items() if v != plain.get(k))
        return f"cbr:{file}?{told}"


def _opposite(others: Sequence[str], rows: int) -> list[str]:
    """Who sits opposite one row: the opponents, again and again where more rows had room."""
    if not others:
        return [_OTHERS] * ((rows if rows > 1 else _SEATS) - 1)
    return list(islice(cycle(others), len(others) + rows - 1))


@dataclass(frozen=True, eq=False)
class _Group:
    """Which rows [n] these streets are for, and the weights of all rows street by street [n, d]."""

    mine: NDArray[np.bool_]
    streets: Sequence[Street]
    weights: Sequence[Floats]


class _Rows:
    """The CBR bot with a row of weights for each player: one question for all of them.

    What it remembers is who it plays for.
    """

    memory = np.dtype([("row", np.int64)])

    def __init__(self, bot: CaseBot, groups: Sequence[_Group]) -> None:
        self.games, self.groups = bot.games, groups

    def act(self, situations: Pending, memory: Any, chance: Chance) -> Triples:
        shares = np.zeros((situations.count, 3))
        to = np.zeros(situations.count, np.int64)
        drawn = None if self.games == ("limit",) else chance.random()
        row, on = memory["row"], situations.place[:, 0]
        for group in self.groups:
            mine = group.mine[row]
            for number, street in enumerate(group.streets):
                here = np.flatnonzero(mine & (on == number))
                if not len(here):
                    continue
                some = situations.take(here)
                may = legal(some, street.solutions)
                answer = street.answer_by(group.weights[number][row[here]], some, may)
                shares[here] = triples(answer.chances, street.solutions)
                if drawn is not None:
                    to[here] = sizes(answer, street.solutions, some, drawn[here])
        return Triples(shares, to)


class _Table:
    """Who can sit down, and what it takes to play."""

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
            # Term by term: a product of matrices may be rounded otherwise in other company.
            for term, factor in enumerate(self._factors):
                won -= factor * luck[..., term]
        scores: Floats = won.reshape(len(weights), blocks, self.block).mean(axis=2)
        return scores

    @cached_property
    def _factors(self) -> Floats:
        """How much terms of luck count at this table, found on deals of their own."""
        won, luck = self._hands(self.own[None, :], _PILOT, _PILOT_SEED, True)
        assert luck is not None
        # Rounded, so that machines which differ in the last digit agree.
        return factors_of_luck(won[0], luck[0]).round(4)

    def _hands(
        self, weights: Floats, deals: int, seed: int, follow: bool
    ) -> tuple[Floats, Floats | None]:
        """What each row won [n, deals] in small bets (big blinds), and its luck [n, deals, terms]
        if that is followed."""
        rows, others = len(weights), len(self.other_of)
        # Players are the rows, and behind them the opponents. One bot decides for all rows.
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
            raise PluginFailure(f"{who} did something wrong: {reason}")
        bet = self.game.big_blind
        return won / bet, None if luck is None else luck / bet

    def _groups(self, weights: Floats) -> list[_Group]:
        """Rows that have the same settings beside their weights, with the streets for these."""
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
        """All hands: side by side, or where somebody remembers one after another in each block."""
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
        """Which player has each seat, [n, seats]; all move on with each deal."""
        place: Ints = (np.arange(seats) + deal[:, None]) % seats
        if self.together:
            return place
        return np.where(place == 0, lane[:, None], rows + place - 1)
