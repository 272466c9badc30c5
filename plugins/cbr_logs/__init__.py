"""Hand histories: readers of logs, and writers of some of them.

    domains       the domain, limit or no-limit, of a hand
    amounts       amounts of money as whole chips
    cutting       text files cut into hands
    compiled      compiled functions that write bytes
    phh           PHH files; `phh_fast` and `phh_actions` are its fast path, `phh_writer` writes
    acpc          match logs of the ACPC; `gamedef` reads its game definitions
    irc           the IRC poker database; `irc_files` and `irc_month` join its files, `irc_fast` is
                  the fast path
    stars         hand histories of PokerStars
    open_hands    hands in progress, in PHH or as PokerStars writes them

Every command loads this module, so it imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    from cbr import CaseSource

# `dir` of a plugin must list its hooks, so the lazy `__dir__` is not used.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_case_sources() -> list[CaseSource]:
    from cbr_logs.acpc import ACPC
    from cbr_logs.irc import IRC
    from cbr_logs.phh import PHH
    from cbr_logs.stars import STARS

    return [PHH, ACPC, IRC, STARS]
