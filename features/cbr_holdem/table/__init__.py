"""The rules of the table, for many tables at once and for one.

game          blinds, bet sizes and limits
deck          shuffled decks by seed and deal
moves         a move as one number of a table's history
layout        a table as a row of whole numbers: where its parts are
rules         dealing, legal raises, playing an action
settlement    pots shared out at the end
table         one table for people and tests
unseen        cards that a player does not see, drawn
hand          a played hand as a line of text
hand_arrays   many such lines, read into arrays
random_play   hands of players who act at random
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
