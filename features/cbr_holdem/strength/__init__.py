"""What a hand is worth: before the flop, on a board, and when the board is dealt to its end.

preflop         the 169 classes of starting hands: ranks, groups, odds
kernel          opponents' hands that we beat, tie and lose to, counted exactly
hand_strength   hand strength and potential, from these counts
isomorphism     flops that differ only in the names of suits
flop_table      the strengths of all flops in one file, a shortcut
outs            a quick estimate of the chance to improve, by rules
equity          odds: how often hands and ranges win, tie and lose
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
