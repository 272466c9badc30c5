"""Student's t: how wide an interval must be where few numbers tell how much they vary."""

from __future__ import annotations

#: The 97.5 % quantile for 1 to 10 degrees of freedom.
_FEW = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def quantile(freedom: int) -> float:
    """The 97.5 % quantile for any number of degrees of freedom, to a thousandth.

    >>> [round(quantile(freedom), 3) for freedom in (1, 10, 20, 1000)]
    [12.706, 2.228, 2.086, 1.962]
    """
    if freedom <= len(_FEW):
        return _FEW[freedom - 1]
    return 1.96 + 2.373 / freedom + 2.8 / freedom**2
