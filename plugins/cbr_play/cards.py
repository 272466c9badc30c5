"""Cards for people: suits as signs in colours, and names of hands."""

from __future__ import annotations

from rich.text import Text

from cbr_holdem.cards import CATEGORIES, cards, rating, strength

_SIGNS = {"s": "♠", "h": "♥", "d": "♦", "c": "♣"}
#: A four-colour deck; the suits are also distinct without colours, by their signs.
_COLOURS = {"s": "bold", "h": "bold red", "d": "bold bright_blue", "c": "bold green"}
_RANKS = (
    "",
    "",
    "deuce",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "jack",
    "queen",
    "king",
    "ace",
)


def painted(names: str, signs: bool = True) -> Text:
    """Cards such as "Ah Kd" in colours; with letters for suits unless `signs`."""
    text = Text()
    for place, name in enumerate(names.split()):
        rank, suit = name[0].replace("T", "10"), name[1]
        text.append(" " if place else "")
        text.append(rank + (_SIGNS[suit] if signs else suit), _COLOURS[suit])
    return text


def hand_name(names: str) -> str:
    """The name of the best hand in five to seven cards.

    >>> hand_name("Ah Ad Kc Kd 6s 6h 2c"), hand_name("5h 4d 3c 2d As")
    ('two pair, aces and kings', 'straight to the five')
    >>> hand_name("6h 6d 6c Kd 2s Qh 3c"), hand_name("6h 6d 6c Kd Ks Qh 3c")
    ('three sixes', 'sixes full of kings')
    """
    made, *ranks = rating(strength(cards(names)))
    one, many = [_RANKS[r] for r in ranks], [_many(_RANKS[r]) for r in ranks]
    kind = CATEGORIES[made - 1]
    match kind:
        case "high card":
            return f"{one[0]} high"
        case "pair":
            return f"pair of {many[0]}"
        case "two pair":
            return f"two pair, {many[0]} and {many[1]}"
        case "three of a kind" | "four of a kind":
            return f"{kind.split()[0]} {many[0]}"
        case "full house":
            return f"{many[0]} full of {many[1]}"
        case "flush":
            return f"flush, {one[0]} high"
    return "royal flush" if made == 9 and ranks[0] == 14 else f"{kind} to the {one[0]}"


def _many(rank: str) -> str:
    return rank + ("es" if rank == "six" else "s")
