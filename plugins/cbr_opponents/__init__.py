"""Opponent models: how players act, and which hands they may hold, given their moves.

abstraction         a grid of situations and hand classes, and the moves in a cell
decision_features   features of a decision for boosted trees
frequencies         chances of moves from counts, smoothed
boosting            boosted trees that refine these chances
tilts               ways in which players may differ from those of a log
opponent_model      OpponentModel: the chance of each move, given table and hand
ranges              the posterior over a player's hands, given its moves
simulation          a table played to its end by a model and a strategy
logged_hands        logged hands replayed to decisions and moves
learning/           models learned from a casebase

Roll-outs, best responses, labels, search and clustering share these. Only `learning/` reads a
casebase, so rule bots may use the rest.
"""

import lazy_loader

# Not its __dir__: pluggy reads every name that dir() lists, which would import all modules.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)
