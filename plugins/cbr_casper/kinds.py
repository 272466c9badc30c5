"""The bots of this plugin by name, with the one-line description of each."""

from __future__ import annotations

from cbr_arena import BotKind
from cbr_casper.bot import CaseBot

KINDS = (BotKind("cbr", CaseBot, "plays from a casebase: cbr:FILE.db"),)
