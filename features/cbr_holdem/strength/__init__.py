"""Hand strength: before the flop, on a board, and as equity when the rest of the board is dealt.

preflop         the 169 classes of starting hands: ranks, groups, odds
kernel          exact counts of opponents' hands that we beat, tie with and lose to
hand_strength   hand strength and potential, from these counts
isomorphism     classes of hands and flops that differ only in the names of suits
flop_table      precomputed strengths of all hands on all flops, in one file
outs            a quick estimate of the chance to improve, by counting outs
equity          odds: how often hands and ranges win, tie and lose
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
