"""Monte Carlo tree search against models of opponents: the bot `mcts`.

tree          nodes and their statistics
simulation    hidden cards, opponents' moves and the rest of a hand, as an iteration samples them
beliefs       which model an opponent follows and which hand it holds, given its moves
scales        the unit of rewards
search        the search itself, from the decisions of many tables at once
rules         selection and back-up rules by name; `hookspecs` is the hook for more
selection     rules for the move that is tried next
backup        rules for what a node is worth
models        models of opponents by spec
corrections   how the moves of an opponent differ from what a model expects
replaying     finished hands, from which these corrections are learned
learning      what was seen of opponents while playing
options       the options of the bot
bot           the bot
explanation   why it acts so
kinds         the bot and the rules by name
starter       a rule to start from
testing       a check for authors of rules
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    import pluggy

    from cbr_arena import BotKind

# `dir` of a plugin must list its hooks, so the lazy `__dir__` is not used.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_add_hooks(manager: pluggy.PluginManager) -> Iterable[str]:
    from cbr_mcts import hookspecs

    manager.add_hookspecs(hookspecs)
    return ["search rule"]


@hook
def cbr_bots() -> Iterable[BotKind]:
    from cbr_mcts.kinds import BOT

    return [BOT]


@hook
def cbr_search_rules() -> Iterable[Any]:
    from cbr_mcts.kinds import RULES

    return RULES


@hook
def cbr_starters() -> Mapping[str, tuple[str, str]]:
    from cbr_mcts.starter import STARTER, TEST

    return {"search-rule": (STARTER, TEST)}
