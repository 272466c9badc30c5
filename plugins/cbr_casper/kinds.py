"""The bots and player models of this plugin by name, with the one-line description of each."""

from __future__ import annotations

from cbr_arena import BotKind
from cbr_casper.searching import LABELLED as LABELLED
from cbr_casper.searching import case_bot

KINDS = (BotKind("cbr", case_bot, "plays from a casebase: cbr:FILE.db"),)
