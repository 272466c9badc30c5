"""Opponent models learned from the hands of a casebase.

all_decisions     every decision of a casebase or log as named columns, for people's own use
observing         decisions of a casebase's players as columns
fitting           models in array form, fitted to them
streaming         chances of a model table by table, in the order of a log
array_forms       models of other kinds brought near to arrays, for compiled code
contexts          the context-action table, backed off from fine to coarse
ponsen            a prior from all players, corrected for one of them
retrieved_moves   what similar cases of a casebase did
player_groups     groups of players who act alike
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
