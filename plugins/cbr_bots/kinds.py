"""The bots of this plugin by name, with the one-line description of each."""

from __future__ import annotations

from cbr_arena import BotKind
from cbr_bots.ace1 import Ace1
from cbr_bots.findler import Findler
from cbr_bots.honest_river import HonestRiver
from cbr_bots.loki import Loki
from cbr_bots.proxies import lag, miniloki
from cbr_bots.sim import Sim
from cbr_bots.simple import Triple, always_raise, call, fold, random
from cbr_bots.switching import Switch
from cbr_bots.waterman import Waterman

LIMIT = ("limit",)

KINDS = (
    BotKind("random", random, "each legal action equally often; never folds where a check is free"),
    BotKind("call", call, "checks and calls"),
    BotKind("fold", fold, "checks and folds"),
    BotKind("raise", always_raise, "bets and raises"),
    BotKind("triple", Triple, "folds, calls, raises with fixed chances: triple:0.2,0.5,0.3"),
    BotKind("ace1", Ace1, "Gerritsen's table: uses its two cards and the street only"),
    BotKind("findler", Findler, "Findler's player: compares the pot price with the hand's value"),
    BotKind("waterman", Waterman, "Waterman's rules over a state vector; learns its opponents"),
    BotKind("lag", lag, "loose and aggressive, rules only (a stand-in for Jagbot)"),
    BotKind("miniloki", miniloki, "a small formula player; style=tight or loose"),
    BotKind("loki", Loki, "the published formula player; style=tight, moderate or loose", LIMIT),
    BotKind(
        "sim", Sim, "roll-outs by loki's triples after the flop; trials=100, style=moderate", LIMIT
    ),
    BotKind("switch", Switch, "as one bot after the other: switch:loki,lag?every=200", nests=True),
    BotKind(
        "honest-river",
        HonestRiver,
        "as a bot that never bluffs the river: honest-river:loki",
        nests=True,
    ),
)
