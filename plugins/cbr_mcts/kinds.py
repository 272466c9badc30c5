"""The bot and the rules of this plugin by name."""

from __future__ import annotations

from cbr_arena import BotKind
from cbr_mcts.backup import max_distribution, maximum, mean, weighted
from cbr_mcts.bot import SearchBot
from cbr_mcts.selection import puct, ucb1, ucb1_tuned, uct_plus

BOT = BotKind("mcts", SearchBot, "searches by simulated play against models of its opponents")
RULES = (ucb1, ucb1_tuned, uct_plus, puct, mean, maximum, max_distribution, weighted)
