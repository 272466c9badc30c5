"""The bots of this package, by name."""

from __future__ import annotations

from cbr_arena import BotKind
from cbr_casper.bot import CaseBot

KINDS = (BotKind("cbr", CaseBot, "plays from a casebase: cbr:FILE.db"),)
