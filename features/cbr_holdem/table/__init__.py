"""The rules of the game, for many tables at once and for one.

game          blinds, bet sizes and limits
rake          what the house may take of a pot
deck          shuffled decks by seed and deal
moves         a move as one number of a table's history
layout        the layout of a table as a row of whole numbers
rules         dealing, legal raises, playing an action
settlement    sharing out the pots at the end
table         one table for people and tests
unseen        sampling of the cards that a player does not see
hand          a played hand as a line of text
hand_arrays   many such lines, read into arrays
open_hand     the open decision of a hand in progress
random_play   hands of players who act at random
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
