"""CBR and search joined: `cbr:FILE.db?search=1000`. Retrieval proposes, search decides.

The bot `mcts` searches with the chances of the cases as the prior of its moves (PUCT), and with the
casebase's players as the model of its opponents. It is named by a spec, as any bot is, so neither
plugin knows the other.
"""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import Any

from cbr import BadValue, Casebase
from cbr.spec import Spec
from cbr_arena import bots_inside
from cbr_casper.bot import CaseBot
from cbr_casper.options import EMPTY
from cbr_casper.values.table_models import TableModels
from cbr_opponents import ArrayModel, PlayerModelKind


@wraps(CaseBot, updated=())
def case_bot(file: str, **options: Any) -> Any:
    """The CBR bot, or with `search` the bot that searches by it."""
    search = options.pop("search", 0)
    if not search:
        return CaseBot(file, **options)
    if not 0 < search <= 10_000_000:
        raise BadValue(f"cbr?search={search} must be 1 to 10,000,000 iterations")
    if file == EMPTY:
        raise BadValue("a search needs cases to begin from: cbr:FILE.db?search=1000")
    usual = {name: one.default for name, one in CaseBot.__dataclass_fields__.items()}
    given = {name: value for name, value in options.items() if value != usual[name]}
    inner = Spec(f"cbr:{file}", given)
    parts = {"iterations": search, "model": f"({_model(file)})", "prior": f"({inner})"}
    return bots_inside("cbr?search=", f"({Spec('mcts', parts)})", 1)[0].bot


def _model(file: str) -> str:
    """The model of a casebase's players: the one that its labels were made with, or trees."""
    with Casebase.open(Path(file)) as base:
        labelled = TableModels.load(base) is not None
    return f"{'labelled' if labelled else 'trees'}:{file}"


def labelled(observed: Any, file: str) -> ArrayModel:
    """The players of a casebase as `cbr label` modelled them: labelled:FILE.db."""
    with Casebase.open(Path(file)) as base:
        found = TableModels.load(base)
    if found is None:
        raise BadValue(f"{file} has no models of its players; `cbr label` makes them")
    return ArrayModel(found.opponents)


LABELLED = PlayerModelKind(
    "labelled", labelled, learns=False, help=(labelled.__doc__ or "").partition("\n")[0]
)
