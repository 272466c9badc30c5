"""What the player to act sees, and the features computed from it.

actions      the possible actions, and the classes of bet sizes
sizes        the class of a bet or raise, and the amount of a class
betting      features of the betting now
history      features of the betting so far in this hand
board        the texture of a board
situations   all of these by name, for a batch of decisions
pending      the same for the players to act at tables, computed on demand
view         one table as one seat sees it
results      results that logs state, compared with those of the rules
replays      logged hands replayed by the rules, decision by decision
features     the case types: CASPER's features, and those of no-limit
cases        cases from logged hands
spoken       features from a situation that a person describes
weights      CASPER's published sets of weights
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
