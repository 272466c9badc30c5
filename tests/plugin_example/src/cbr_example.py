"""An outside plugin: one import, one function."""

import cbr


@cbr.similarity("half-life")
def half_life(a, b, distance=5.0):
    """Halves with every `distance` between the values."""
    return 0.5 ** (abs(a - b) / distance)
