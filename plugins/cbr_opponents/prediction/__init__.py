"""How well player models predict: `cbr predict`.

splits        which players or hands a model is fitted to, and which it is tested on
scores        accuracy, log-loss and Brier score of moves and sizes, beside a baseline
shown_cards   how likely a model makes the cards that players turn out to hold
evaluation    all of it for one model and one casebase
pictures      calibration, confusion and learning curve
commands      the command
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
