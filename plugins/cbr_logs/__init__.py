"""Hand histories: readers of logs, and writers of some of them.

    domains       which cases the hands of a log are for
    amounts       amounts of money as whole chips
    cutting       text files cut into hands
    compiled      bytes written by compiled code
    phh           PHH files; `phh_fast` and `phh_actions` are the quick way, `phh_writer` writes
    acpc          match logs of the ACPC; `gamedef` are its game definitions
    irc           the IRC poker database; `irc_files`, `irc_month` join its files, `irc_fast` reads
    stars         hand histories of PokerStars

Every command loads this module, so it imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import lazy_loader

from cbr import hook

if TYPE_CHECKING:
    from cbr import CaseSource

# Plugins are searched for hooks with `dir`, which must list what stands here: no lazy `__dir__`.
__getattr__, _, __all__ = lazy_loader.attach_stub(__name__, __file__)


@hook
def cbr_case_sources() -> list[CaseSource]:
    from cbr_logs.acpc import ACPC
    from cbr_logs.irc import IRC
    from cbr_logs.phh import PHH
    from cbr_logs.stars import STARS

    return [PHH, ACPC, IRC, STARS]
