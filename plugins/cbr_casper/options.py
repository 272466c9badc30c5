"""Options of the bot `cbr`: their names, defaults and checks."""

from __future__ import annotations

from dataclasses import dataclass

from cbr.errors import BadValue, NoSuchName
from cbr.spec import nest, unnest

#: The CBR bot, which uses values where cases have them; and CASPER as published.
STYLES = ("cbr", "casper")
#: Former names of styles, which old specs and run files may contain.
_FORMER = {"heir": "cbr"}
#: The file name that stands for no cases.
EMPTY = "empty"
#: Default of `threshold`: not given.
UNSET = -1.0
#: How many cases a case of the bot's own counts for in the shares of actions.
OWN = 3.0


@dataclass(eq=False)
class BotOptions:
    """Options of the bot `cbr`; the arena reads names and defaults from these fields.

    file        a casebase, or `empty` to start without cases
    style       cbr or casper
    weights     a set by name or file; default: the casebase's own (casper: hand-picked)
    policy      retrieval policy; default: that of the case type
    reuse       reuse policy; default: `worth` where cases have values
    index       the index that retrieves
    threshold   short for a policy that retrieves all cases above this similarity
    adapt       whether to adapt to the table by table models
    retain      session, or a casebase file, to retain cases while playing
    own         how many cases a retained case of the bot's own counts for
    search      iterations of a search that begins from the cases' chances; 0 for none
    game        limit or nolimit, for `empty`
    """

    file: str
    style: str = STYLES[0]
    weights: str = ""
    policy: str = ""
    reuse: str = ""
    index: str = "auto"
    threshold: float = UNSET
    adapt: bool = True
    retain: str = ""
    own: float = OWN
    search: int = 0
    game: str = ""

    def __post_init__(self) -> None:
        self.style = _FORMER.get(self.style, self.style)
        if self.style not in STYLES:
            raise NoSuchName("style of cbr", self.style, STYLES)
        if self.search:
            raise BadValue(f"search={self.search} is part of a spec: cbr:FILE.db?search=1000")
        has_threshold = self.threshold != UNSET
        if has_threshold and self.policy:
            raise BadValue("threshold is a part of policy; give one of them")
        if has_threshold and not 0.0 <= self.threshold <= 1.0:
            raise BadValue(f"threshold={self.threshold:g} must be from 0 to 1")
        if self.file == EMPTY:
            self._verify_empty()
        elif self.game:
            raise BadValue(
                f"game={self.game} is for cbr:{EMPTY}; the game of {self.file} is that of its cases"
            )
        if self.own != OWN and not self.retain:
            raise BadValue(
                f"own={self.own:g} is how much retained cases count; give retain=session too"
            )
        if has_threshold:
            self.policy = f"threshold?above={self.threshold}&cap=100&fallback=20"
        self.policy, self.reuse, self.index = map(unnest, (self.policy, self.reuse, self.index))

    def _verify_empty(self) -> None:
        """Refuse options that a bot without cases does not use: it takes the action that earned
        most."""
        unused = ("style", "policy", "reuse", "index", "own", "adapt")
        if any(getattr(self, name) != getattr(BotOptions, name) for name in unused):
            raise BadValue(
                f"cbr:{EMPTY} has no style, policy, reuse, index, own and adapt: it tries what "
                "earns most"
            )


def spec_of(file: str, **options: str) -> str:
    """The spec of a bot with these options, without those that have their default.

    >>> spec_of("a.db", weights="w.json", style="cbr", reuse="worth?temperature=1&imitate=0")
    'cbr:a.db?weights=w.json&reuse=worth?temperature=1;imitate=0'
    """
    given = [
        f"{name}={nest(value)}"
        for name, value in options.items()
        if value != getattr(BotOptions, name)
    ]
    return f"cbr:{file}?{'&'.join(given)}"
