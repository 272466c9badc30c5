"""Options of the bot `mcts`: names, defaults and checks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cbr.errors import BadValue, NoSuchName
from cbr.spec import unnest
from cbr.typing import Flags
from cbr_holdem.situation import SIZES
from cbr_holdem.table import RAISE
from cbr_mcts.rules import BackupRule, SelectionRule, rule_named
from cbr_mcts.scales import SCALES
from cbr_mcts.search import Settings
from cbr_mcts.simulation import PLAYOUTS, SELVES
from cbr_mcts.tree import BOARDS, bytes_of_node
from cbr_opponents import RAISE_SIZES

#: Ways to choose the move in the end, what opponents do in the tree, and what of a new node's.
CHOICES = ("value", "visits", "softmax")
OPPONENTS = ("model", "uct", "mixed")
EXPANSIONS = ("one", "all")
DEALS = ("common", "fresh")
ROOTS = ("even", "rule")
FOLDS = ("known", "tried")
#: Names of models that are no specs: the shipped one, and none.
SHIPPED, NONE = "shipped", "none"
#: Settings of published programs, by the option `style`.
STYLES: dict[str, dict[str, Any]] = {
    "own": {},
    "gerritsen": {
        "select": "ucb1",
        "c": 2.0,
        "random": 100,
        "follow": 0,
        "root": "rule",
        "fold": "tried",
        "backup": "mean",
        "scale": "none",
        "board": "none",
        "playout": "call",
        "sizes": "1",
    },
}
_MOST, _MOST_MS = 10_000_000, 600_000
#: Default of `c`: that of the rule.
UNSET = -1.0
#: Memory of a tree whose size is not given, in bytes.
_MEMORY = 64_000_000


@dataclass(eq=False)
class SearchOptions:
    """Options of the bot `mcts`; the arena reads names and defaults from these fields.

    model        what opponents do: `shipped`, `none`, or specs of player models
    iterations   iterations of a decision
    ms           milliseconds of a decision, in place of iterations
    select       selection rule
    c            its constant
    random       visits of a node up to which our move is random
    follow       visits of a node up to which our move is drawn as the model has it
    root         even: moves of the root are tried evenly as long as they may be best; rule
    fold         known: its value is computed; tried: searched as that of other moves
    backup       back-up rule
    expand       one: a new node is played out; all: its first move is chosen in the tree
    board        how our nodes are split after new cards: none, class, exact
    opponents    what opponents do in the tree: model, uct (by their own rewards), mixed
    trust        in `mixed`, the chance that an opponent does what its model says
    playout      the hand from a leaf on: model, or no more bets (call, leave: those who owe)
    own          how our seat acts there: model, call, odds (by pot odds)
    scale        unit of rewards for rules: spread, pot, none (a big blind)
    deals        common: the moves of the root are compared on the same deals; fresh
    sizes        raises that we consider in no-limit
    choose       the move in the end: value, visits, softmax
    temperature  of softmax, in big blinds
    prior        a bot whose chances are the prior of our moves
    learn        whether to learn how opponents play
    forget       what earlier hands weigh less for each later one
    nodes        most nodes of a tree
    style        own, gerritsen: other defaults
    """

    model: str = SHIPPED
    iterations: int = 4_000
    ms: float = 0.0
    select: str = "ucb1"
    c: float = UNSET
    random: int = 0
    follow: int = 20
    root: str = "even"
    fold: str = "known"
    backup: str = "max"
    expand: str = "one"
    board: str = "class"
    opponents: str = "model"
    trust: float = 0.5
    playout: str = "model"
    own: str = "odds"
    scale: str = "spread"
    deals: str = "common"
    sizes: str = "1/2,1,2,all-in"
    choose: str = "value"
    temperature: float = 0.5
    prior: str = ""
    learn: bool = True
    forget: float = 1.0
    nodes: int = 0
    style: str = "own"

    def __post_init__(self) -> None:
        given = {one.name for one in fields(self) if getattr(self, one.name) != one.default}
        self._fill_in(given)
        one_of = {
            "expand": EXPANSIONS,
            "board": BOARDS,
            "opponents": OPPONENTS,
            "playout": PLAYOUTS,
            "own": SELVES,
            "root": ROOTS,
            "fold": FOLDS,
            "scale": SCALES,
            "deals": DEALS,
            "choose": CHOICES,
        }
        for name, known in one_of.items():
            if getattr(self, name) not in known:
                raise NoSuchName(f"{name} of mcts", getattr(self, name), known)
        self._verify_numbers()
        self._verify_together(given)
        self.model, self.prior = unnest(self.model), unnest(self.prior)
        self.select_rule = rule_named(self.select, SelectionRule)
        self.backup_rule = rule_named(self.backup, BackupRule)
        if self.prior and not self.select_rule.reads_prior:
            raise BadValue(
                f"mcts?prior={self.prior} is for a rule that reads a prior, as select=puct does; "
                f"{self.select} does not"
            )
        self.considered("nolimit")  # raises if a size has no such name

    def _fill_in(self, given: set[str]) -> None:
        """Set what is not given as the style, the model and the prior have it."""
        if self.style not in STYLES:
            raise NoSuchName("style of mcts", self.style, STYLES)
        usual = dict(STYLES[self.style])
        if self.model == NONE:
            usual["opponents"] = "uct"
            if self.style == "own":
                usual |= {"random": 20, "follow": 0}
        if self.prior:
            usual |= {"select": "puct", "root": "rule"}
        for name, value in usual.items():
            if name not in given:
                setattr(self, name, value)

    def _verify_numbers(self) -> None:
        limits: dict[str, tuple[float, float]] = {
            "iterations": (1, _MOST),
            "ms": (0.0, _MOST_MS),
            "random": (0, _MOST),
            "follow": (0, _MOST),
            "trust": (0.0, 1.0),
            "temperature": (1e-3, 1e6),
            "nodes": (0, _MOST),
        }
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise BadValue(f"mcts?{name}={value:g} must be {low:g} to {high:,.0f}")
        if self.c != UNSET and not 0.0 <= self.c <= 1e6:
            raise BadValue(f"mcts?c={self.c:g} must be 0 to 1,000,000")
        if not 0.0 < self.forget <= 1.0:
            raise BadValue(f"mcts?forget={self.forget:g} must be above 0, and at most 1")

    def _verify_together(self, given: set[str]) -> None:
        """Refuse options that contradict one another, or that nothing would use."""
        wrong = [
            ("ms" in given and "iterations" in given, "iterations and ms are both given"),
            ("trust" in given and self.opponents != "mixed", "trust is for opponents=mixed"),
            ("temperature" in given and self.choose != "softmax", "temperature is for softmax"),
            ("own" in given and self.playout != "model", "own is for playout=model"),
            (
                self.model == NONE and self.opponents != "uct",
                f"without a model, opponents={self.opponents} cannot be",
            ),
            (self.forget < 1.0 and not self.learn, "forget is for a bot that learns"),
        ]
        for is_wrong, why in wrong:
            if is_wrong:
                raise BadValue(f"mcts: {why}; leave one of them out")

    def considered(self, betting: str) -> Flags:
        """Which moves we consider in a kind of game, [moves]."""
        moves = np.ones(RAISE + len(RAISE_SIZES[betting]), np.bool_)
        if betting == "limit":
            return moves
        names = [name.strip() for name in self.sizes.split(",")]
        for name in names:
            if name not in SIZES:
                raise NoSuchName("size of mcts", name, SIZES)
        moves[RAISE:] = [name in names for name in SIZES]
        return moves

    def room(self, moves: int) -> int:
        """The most nodes of a tree."""
        most = max(2, int(_MEMORY // bytes_of_node(moves)))
        return self.nodes or (most if self.ms else min(self.iterations + 1, most))

    def settings(self, reads_hands: bool) -> Settings:
        """The options as compiled code reads them."""
        trust = {"model": 1.0, "uct": 0.0, "mixed": float(self.trust)}[self.opponents]
        return Settings(
            self.iterations,
            self.random,
            self.follow,
            float(self.select_rule.c if self.c == UNSET else self.c),
            trust,
            BOARDS.index(self.board),
            PLAYOUTS.index(self.playout),
            SCALES.index(self.scale),
            self.expand == "all",
            SELVES.index(self.own),
            self.deals == "common",
            reads_hands,
            self.select_rule.reads_prior,
            self.backup_rule.is_mean,
            self.fold == "known",
            self.root == "even",
        )
