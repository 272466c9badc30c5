"""Rake: what the house takes of a pot, and how much of it a logged result may contain."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cbr import BadValue

#: The limits of rake unless ``--rake`` gives others: public poker rooms take less.
USUAL_RAKE = "0.1,5"


@dataclass(frozen=True)
class Rake:
    """The most that the house may take of a pot: a share of it, and a number of big blinds."""

    share: float = 1.0
    blinds: float = math.inf

    @classmethod
    def read(cls, text: str) -> Rake:
        """
        >>> Rake.read("0.1,5"), Rake.read("0.05")
        (Rake(share=0.1, blinds=5.0), Rake(share=0.05, blinds=inf))
        """
        try:
            share, blinds = (float(part or math.inf) for part in f"{text},".split(",")[:2])
            good = 0 <= share <= 1 and blinds >= 0 and text.count(",") <= 1
        except ValueError:
            good = False
        if not good:
            raise BadValue(
                f"--rake is {text!r}; it must be a share of the pot from 0 to 1, or a share and "
                f"big blinds, such as {USUAL_RAKE}"
            )
        return cls(share, blinds)


#: Any rake: for hands that were accepted before.
ANY_RAKE = Rake()
