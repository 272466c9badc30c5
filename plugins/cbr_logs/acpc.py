"""Match logs of the Annual Computer Poker Competition: a `STATE:` line for each hand.

    # name/game/hands/seed demo holdem.limit.2p.reverse_blinds.game 1000 0
    STATE:12:rc/crc/rf:Ah2d|Kc9c/8h8d3s/Qd:30|-30:Ann|Bo
    SCORE:30|-30:Ann|Bo

The log does not say what is played for. That comes from the game definition that its header names,
beside the log; else from `--game`; else from the one of that name that ships here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cbr import BadValue
from cbr.sources import BROKEN, CaseSource, Raw, Skipped, SourceOption, lines_of, open_bytes
from cbr_holdem.table.game import Game
from cbr_holdem.table.hand import Hand, game_text, read_game, verify_names
from cbr_logs.gamedef import SHIPPED, read_gamedef, unlimited

_HEADER = re.compile(rb"#\s*name/game/hands/seed\s+\S+\s+(\S+)")
_MOVE = re.compile(r"([fc])|r(\d*)")
_CARDS = re.compile(r"(?:[2-9TJQKA][cdhs])*\Z")
