"""Actions and amounts in words, and short names of players."""

from __future__ import annotations

from collections.abc import Sequence

from cbr_holdem.situation import Move
from cbr_holdem.table import STREETS

_VERBS = {"f": "fold", "k": "check", "c": "call", "b": "bet", "r": "raise"}
#: The default name of the person; verbs agree with it.
YOU = "you"


def amount(chips: float) -> str:
    """
    >>> amount(1250), amount(0.5)
    ('1,250', '0.5')
    """
    return f"{chips:,.0f}" if float(chips).is_integer() else f"{chips:,.2f}".rstrip("0")


def signed(chips: float) -> str:
    """
    >>> signed(1250), signed(-3), signed(0)
    ('+1,250', '-3', '0')
    """
    return ("+" if chips > 0 else "-" if chips < 0 else "") + amount(abs(chips))


def verb(word: str, name: str) -> str:
    """
    >>> verb("raise", "you"), verb("raise", "loki")
    ('raise', 'raises')
    """
    return word if name == YOU else word + "s"


def action(move: Move, name: str) -> str:
    """
    >>> action(Move("flop", 0, "r", 200), "loki"), action(Move("flop", 0, "k", 0), "you")
    ('raises to 200', 'check')
    """
    done = verb(_VERBS[move.action], name)
    if move.action in "fk":
        return done
    return f"{done} {'to ' if move.action == 'r' else ''}{amount(move.amount)}"


def by_street(moves: Sequence[Move], names: Sequence[str]) -> dict[str, str]:
    """The actions of each street as a line; `names` by seat."""
    found: dict[str, list[str]] = {}
    for move in moves:
        name = names[move.seat]
        found.setdefault(move.street, []).append(f"{name} {action(move, name)}")
    return {street: ", ".join(found[street]) for street in STREETS if street in found}


def short_names(names: Sequence[str], most: int = 14) -> list[str]:
    """Names that fit a column: files without their folders, options only where they tell bots
    apart, and none of them twice.

    >>> short_names(["you", "cbr:my/a.db?reuse=worth", "lag?size=1/2", "lag?size=1/2 #2"])
    ['you', 'cbr:a.db', 'lag', 'lag #2']
    >>> short_names(["loki?style=tight", "loki", "cbr:x/a.db", "cbr:y/a.db"])
    ['loki?style=t..', 'loki', 'cbr:a.db', 'cbr:a.db (2)']
    """
    specs = [name.partition(" #")[0] for name in names]
    heads = [_head(spec) for spec in specs]
    found: list[str] = []
    for name, spec, head in zip(names, specs, heads, strict=True):
        alike = {other for other, short in zip(specs, heads, strict=True) if short == head}
        bare = len({other.partition("?")[0] for other in alike}) == len(alike)
        options, tail = spec[len(spec.partition("?")[0]) :], name[len(spec) :]
        short = head if bare else head + options
        if len(short + tail) > most:
            short = short[: most - len(tail) - 2] + ".."
        same = sum(1 for before in found if before.partition(" (")[0] == short + tail)
        found.append(short + tail + (f" ({same + 1})" if same else ""))
    return found


def _head(spec: str) -> str:
    """The name of a bot without options and without the folder of its file."""
    kind, colon, argument = spec.partition("?")[0].partition(":")
    return kind + colon + argument.rpartition("/")[2]
