"""What the player to act knows, and the features that follow from it.

actions      what a decision can be, and the classes of bet sizes
sizes        the class of a bet or raise
betting      the betting as it stands
history      what was done before in this hand
board        the texture of a board
situations   all of these by name, for a batch of decisions
pending      the same for decisions that tables wait for
view         one table as one seat sees it
replays      logged hands replayed by the rules, decision by decision
features     the case types: CASPER's features, and those of no-limit
cases        cases from logged hands
spoken       features from a situation that a person describes
weights      CASPER's published sets of weights
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
